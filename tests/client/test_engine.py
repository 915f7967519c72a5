"""The client of an engine's process: what the engine is told, and that failures are survived."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess
import psutil
import pytest

from obscuro.client import Engine, EngineError, Limit, MachineFault, SilentEngineError
from obscuro.client import engine as engine_module
from obscuro.client.engine import NO_ENGINE, STARTING_ANEW, PlayResult, Think
from obscuro.client.uci_process import UciProcess
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import account_position, whole_position
from tests.client import fake_engine
from tests.hanging import HANG_SECONDS

NEVER = threading.Event()
QUICK = Limit(1)


class Fake(Engine):
    """The engine of tests. behaviours: of its processes, one after the other."""

    def __init__(self, folder: Path, *behaviours: str, **options: str) -> None:
        self.path = folder / "behaviours"
        self.path.write_text("\n".join(behaviours))
        self.warnings: list[str] = []
        command = [sys.executable, str(fake_engine.__file__), str(self.path)]
        super().__init__(command, options, on_warning=self.warnings.append, clock=lambda: 0.0)

    @property
    def heard(self) -> list[str]:
        return self.path.with_suffix(".heard").read_text().splitlines()


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Callable[..., Fake]]:
    """Makes engines; none of them outlives the test."""
    made: list[Fake] = []

    def make(*behaviours: str, **options: str) -> Fake:
        made.append(Fake(tmp_path, *behaviours, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.close(at_once=True)


def board_after(*moves: str) -> FogOfWarBoard:
    board = FogOfWarBoard()
    for move in moves:
        board.push_uci(move)
    return board


def think_after(*moves: str, **values: object) -> Think:
    board = board_after(*moves)
    position = account_position(Account(board, board.turn))
    legal = tuple(sorted(move.uci() for move in board.legal_moves))
    return Think(1, position, legal, board.turn, **{"movetime": 1000, **values})  # type: ignore[arg-type]


class TestWhatItIsTold:
    def test_a_game_of_two_moves_and_another_game(self, fake: Callable[..., Fake]) -> None:
        engine = fake(**{"Move Overhead": "500"})
        engine.prepare()
        first, second = board_after(), board_after("e2e4", "e7e5")
        for game, board in (("a", first), ("a", second), ("b", first)):
            result = engine.play(board, Limit(100), game=game)
            assert chess.Move.from_uci(result.move) in board.legal_moves and result.score == 23
        engine.close()
        told = [account_position(Account(board, chess.WHITE)) for board in (first, second)]
        assert engine.heard == [
            "uci",
            "setoption name UCI_Variant value fogofwar",
            "setoption name Move Overhead value 500",
            "isready",
            *("ucinewgame", told[0], "go movetime 100"),
            *(told[1], "go movetime 100"),
            *("ucinewgame", told[0], "go movetime 100"),
            "quit",
        ]
        assert engine.warnings == ["warning this is a fake"]

    def test_an_engine_that_cannot_read_observations(self, fake: Callable[..., Fake]) -> None:
        engine, board = fake("plain"), board_after("e2e4", "e7e5")
        assert engine.play(board, QUICK).move
        assert whole_position(board) in engine.heard
        assert engine.coverage(board) is None and engine.compare("e2e4") is None
        assert engine.marginals() is None
        with pytest.raises(EngineError, match="position-fog"):
            engine.play(Account(board, chess.WHITE), QUICK)

    def test_a_new_game_has_its_seed_and_its_rule(self, fake: Callable[..., Fake]) -> None:
        engine = fake()
        engine.new_game("a", seed=2000, stalemate="draw")
        engine.play(board_after(), QUICK, game="a")
        words = ("ucinewgame", "setoption name Seed", "setoption name Stalemate")
        assert [line for line in engine.heard if line.startswith(words)] == [
            "ucinewgame",
            "setoption name Seed value 1",
            "setoption name Stalemate value draw",
        ]

    def test_what_the_caller_has_set_stays(self, fake: Callable[..., Fake]) -> None:
        engine = fake(seed="7", stalemate="loss")
        engine.new_game(seed=3, stalemate="draw")
        engine.close()
        assert [line for line in engine.heard if "Seed" in line or "Stalemate" in line] == []

    def test_options_that_are_changed_hold_for_the_next_process_too(
        self, fake: Callable[..., Fake]
    ) -> None:
        engine = fake(Seed="1")
        engine.play(board_after(), QUICK, game="a")
        engine.configure({"Seed": "2"})
        engine.play(board_after(), QUICK, game="a")
        engine.kill()
        engine.prepare()
        assert [line for line in engine.heard if "Seed" in line or "newgame" in line] == [
            "setoption name Seed value 1",
            "ucinewgame",
            "setoption name Seed value 2",
            "ucinewgame",
            "setoption name Seed value 2",
        ]

    def test_an_engine_that_ponders_is_told_of_our_move(self, fake: Callable[..., Fake]) -> None:
        engine, board = fake(Ponder="true"), board_after("e2e4")
        engine.play(board_after(), QUICK, game="a")
        account = Account(board, chess.WHITE)
        engine.watch("a", account)
        engine.watch("b", "position of another game")
        engine.prepare()
        assert engine.heard[-2] == account_position(account)

    def test_questions(self, fake: Callable[..., Fake]) -> None:
        engine, board = fake(), board_after()
        belief = engine.belief(board, 1)
        assert belief is not None and (belief.size, belief.exact, len(belief.fens)) == (2, True, 1)
        marginals = engine.marginals(board)
        assert marginals is not None and marginals.even["king"] == (0.5,) * 64
        assert marginals.weighted is None
        coverage, comparison = engine.coverage(board), engine.compare("e2e4")
        assert coverage is not None and coverage.in_belief
        assert comparison is not None and [each.move for each in comparison.moves] == [
            "e2e4",
            "a2a3",
        ]


class TestFailures:
    @pytest.mark.parametrize(
        ("behaviour", "error"),
        [
            ("die", "exited with code 3: out of cheese"),
            ("close", "closed its output"),
            ("hang", "no bestmove in time"),
            ("flood", "no bestmove in time"),
        ],
    )
    def test_a_search_that_fails_leaves_no_process_and_the_next_one_succeeds(
        self, behaviour: str, error: str, fake: Callable[..., Fake]
    ) -> None:
        engine = fake(behaviour)
        engine.prepare()
        assert engine.pid is not None
        process = psutil.Process(engine.pid)
        with pytest.raises(EngineError, match=error):
            engine.play(board_after(), QUICK, patience=0.2)
        assert engine.pid is None and not process.is_running()
        assert engine.play(board_after(), QUICK).move

    def test_a_silent_start_is_an_error(self, fake: Callable[..., Fake]) -> None:
        command = fake("mute")._command
        with pytest.raises(SilentEngineError, match="no uciok in time"):
            UciProcess(command, start_seconds=0.1)

    def test_an_engine_that_cannot_start(self, fake: Callable[..., Fake]) -> None:
        with pytest.raises(EngineError, match="exited with code 3: out of cheese"):
            fake("dead").prepare()
        with pytest.raises(EngineError, match="can't run"):
            Engine(["/nowhere/engine"]).prepare()
        engine = fake(Contempt="1")
        with pytest.raises(EngineError, match="no option 'Contempt'"):
            engine.prepare()
        assert engine.pid is None

    def test_garbage_is_passed_over(self, fake: Callable[..., Fake]) -> None:
        result = fake("babble").play(board_after(), QUICK)
        assert result.move and result.report.depth == 1

    def test_an_engine_that_reads_nothing_does_not_block_its_caller(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("obscuro.client.uci_process.SEND_SECONDS", 0.05)
        script = "echo uciok; exec sleep 1000"
        process = UciProcess(["sh", "-c", script])
        with pytest.raises(SilentEngineError, match="does not read its input"):
            process.send("x" * 1_000_000)
        process.kill()

    @pytest.mark.parametrize(
        ("number", "fault"),
        [(signal.SIGKILL, True), (signal.SIGTERM, True), (signal.SIGSEGV, False)],
    )
    def test_a_signal_from_outside_is_the_machines_fault(
        self, number: signal.Signals, fault: bool, fake: Callable[..., Fake]
    ) -> None:
        engine = fake("wait")
        engine.prepare()
        with ThreadPoolExecutor(1) as pool:
            search = pool.submit(engine.play, board_after(), QUICK)
            assert engine.pid is not None
            os.kill(engine.pid, number)
            error = search.exception(HANG_SECONDS)
        assert isinstance(error, MachineFault) == fault
        assert f"was killed by {number.name}" in str(error)

    def test_an_engine_of_another_game_is_refused_unless_it_is_wanted(self) -> None:
        script = "read line; echo id name Other; echo uciok; read line; echo readyok; read line"
        command = ["sh", "-c", script]
        with pytest.raises(EngineError, match="does not offer Fog of War"):
            Engine(command).prepare()
        with Engine(command, any_variant=True) as engine:
            engine.prepare()
            assert (engine.name, engine.plays_fog_of_war) == ("Other", False)

    def test_nothing_is_started_after_closing(self, fake: Callable[..., Fake]) -> None:
        engine = fake()
        engine.prepare()
        engine.close()
        engine.close()
        assert engine.heard[-1] == "quit" and engine.pid is None
        with pytest.raises(EngineError, match="it was closed"):
            engine.prepare()

    def test_closing_during_a_start_leaves_no_process(self, fake: Callable[..., Fake]) -> None:
        started: list[UciProcess] = []

        def closed_meanwhile(command: object) -> UciProcess:
            started.append(UciProcess(fake()._command))
            engine.close()
            return started[0]

        engine = Engine([], start=closed_meanwhile)
        with pytest.raises(EngineError, match="it was closed"):
            engine.prepare()
        assert not psutil.pid_exists(started[0].pid)


class TestOtherThreads:
    def test_stop_and_cancel_end_a_search(self, fake: Callable[..., Fake]) -> None:
        engine, cancel = fake("wait"), threading.Event()
        engine.prepare()
        with ThreadPoolExecutor(1) as pool:
            search = pool.submit(engine.play, board_after(), QUICK, cancel=cancel)
            # Whenever it comes, before `go` or after it, the search ends.
            cancel.set()
            engine.stop()
            assert search.result(HANG_SECONDS).move

    def test_closing_at_once_ends_a_search(self, fake: Callable[..., Fake]) -> None:
        engine = fake("wait")
        engine.prepare()
        with ThreadPoolExecutor(1) as pool:
            search = pool.submit(engine.play, board_after(), QUICK)
            engine.close(at_once=True)
            error = search.exception(HANG_SECONDS)
        assert isinstance(error, EngineError) and not isinstance(error, MachineFault)


class TestChoosing:
    """A move comes, whatever happens."""

    @pytest.mark.parametrize("behaviour", ["die", "illegal", "none", "empty", "close", "hang"])
    def test_a_bad_engine_is_replaced_and_told_everything(
        self, behaviour: str, fake: Callable[..., Fake], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if behaviour == "hang":
            monkeypatch.setattr(engine_module, "CHOICE_GRACE_SECONDS", 0.3)
        engine, think = fake(behaviour), think_after("e2e4", "e7e5", movetime=1)
        choice = engine.choose("a", think, NEVER)
        assert choice.move in think.moves and choice.score == 23
        assert engine.heard.count(think.position) == 2
        (warning,) = engine.warnings
        assert warning.startswith("Fake 1.0 ") and warning.endswith(STARTING_ANEW)

    def test_where_there_is_no_engine_a_move_is_made_all_the_same(
        self, fake: Callable[..., Fake]
    ) -> None:
        engine, think = fake("die", "die", "die"), think_after()
        assert engine.choose("a", think, NEVER) == PlayResult(think.moves[0])
        assert engine.warnings[-1] == NO_ENGINE and engine.pid is None
        cancelled = threading.Event()
        cancelled.set()
        assert engine.choose("a", think, cancelled).move == think.moves[0]

    @pytest.mark.parametrize(
        ("values", "now", "go", "patience"),
        [
            ({"movetime": 500}, 7.0, "go movetime 500", 10.5),
            ({"clocks": (60_000, 50_000, 1, 2)}, 0.0, "wtime 60000 btime 50000 winc 1", 30.0),
            ({"clocks": (60_000, 50_000, 0, 0)}, 20.0, "wtime 40000 btime 50000 ", 20.0),
            ({"clocks": (60_000, 9000, 0, 0), "side": False}, 20.0, "wtime 60000 btime 0 ", 1.0),
        ],
    )
    def test_the_limit_is_what_is_left_of_the_clock(
        self, values: dict[str, object], now: float, go: str, patience: float
    ) -> None:
        think = Think(1, "", (), **{"side": True, **values})  # type: ignore[arg-type]
        limit, seconds = think.limit(now)
        assert go in limit.command and seconds == pytest.approx(patience)
