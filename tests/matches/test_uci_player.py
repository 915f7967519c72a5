"""UCI engines as players: what they are told and asked, and what becomes of those that misbehave."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess
import pytest

from obscuro.client.uci_process import EngineError, MachineFault, UciProcess
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import BeliefError, Forfeit, GameRecord
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance
from obscuro.matches.uci_player import UciPlayer
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from tests.matches.scripted import Scripted
from tests.uci.games import turns_of

FAKE = [sys.executable, "-m", "tests.matches.fake_engine"]
ENDGAME = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of all lines that fake engines have been sent."""
    path = tmp_path / "heard"
    monkeypatch.setenv("FAKE_ENGINE_HEARD", str(path))
    return path


def played(
    mode: str, *, side: chess.Color = chess.WHITE, plies: int = 12, **settings: object
) -> tuple[GameRecord, UciPlayer]:
    """Play a game of an engine against random moves."""
    player = UciPlayer([*FAKE, mode], **settings)  # type: ignore[arg-type]
    pair = (player, RandomPlayer()) if side else (RandomPlayer(), player)
    record = play_game(*pair, control=1, seed=1, max_plies=plies)
    player.close()
    return record, player


def stalemates(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if "name stalemate" in line.lower()]


def positions(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.startswith("position")]


class TestWhatItIsTold:
    @pytest.mark.parametrize("side", chess.COLORS)
    def test_an_engine_that_reads_observations_is_told_its_own_side_alone(
        self, side: chess.Color, heard: Path
    ) -> None:
        record, player = played("fog", side=side)
        assert record.told[side] == player.told == "own observations"
        moves = [move.uci() for move in record.board.move_stack]
        turns = [ply for ply in range(len(moves)) if (ply % 2 == 0) == side]
        assert len(turns) == 6
        assert positions(heard) == [
            " ".join(
                [
                    f"position fog {chess.COLOR_NAMES[side]} startpos turns",
                    *turns_of(side, moves[:ply]),
                ]
            )
            for ply in turns
        ]

    def test_other_engines_are_told_the_whole_game(self, heard: Path) -> None:
        record, player = played("")
        assert record.told == {chess.WHITE: "everything", chess.BLACK: "own observations"}
        assert player.told == "everything"
        moves = [move.uci() for move in record.board.move_stack]
        assert positions(heard)[0] == "position startpos"
        assert positions(heard)[-1] == f"position startpos moves {' '.join(moves[:10])}"

    @pytest.mark.parametrize(
        ("mode", "first"),
        [
            ("fog", "position fog black fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 1 turns"),
            ("", "position fen 4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"),
        ],
    )
    def test_a_start_that_both_sides_know(self, mode: str, first: str, heard: Path) -> None:
        player = UciPlayer([*FAKE, mode])
        board = FogOfWarBoard(ENDGAME)
        record = play_game(Scripted([]), player, control=1, board=board)
        player.close()
        assert record.ending == "white resigned"
        assert positions(heard) == [first]

    def test_each_game_is_told_from_its_beginning(self, heard: Path) -> None:
        player = UciPlayer([*FAKE, "fog"])
        for side in chess.COLORS:
            pair = (player, RandomPlayer()) if side else (RandomPlayer(), player)
            play_game(*pair, control=1, max_plies=2)
        player.close()
        assert positions(heard)[0] == "position fog white startpos turns"
        assert positions(heard)[1].startswith("position fog black startpos turns rnbqkbnr/")
        assert len(positions(heard)) == 2

    def test_an_engine_that_ponders_by_itself_is_told_of_its_own_ply_at_once(
        self, heard: Path
    ) -> None:
        record, _ = played("fog", plies=4, options={"Ponder": "true"})
        told = positions(heard)
        assert len(told) == 4
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(told))
        moves = [move.uci() for move in record.board.move_stack]
        assert told[1].split(" turns ")[1].split() == turns_of(chess.WHITE, moves[:1])

    @pytest.mark.parametrize("board", [FogOfWarBoard, DrawnStalemateBoard])
    def test_an_engine_with_the_option_is_told_the_rule_of_stalemate(
        self, board: type[FogOfWarBoard], heard: Path
    ) -> None:
        player = UciPlayer([*FAKE, "fog"])
        for _ in range(2):
            play_game(player, RandomPlayer(), control=1, max_plies=2, board=board())
        player.close()
        assert stalemates(heard) == [f"setoption name Stalemate value {board.stalemate}"] * 2

    def test_a_rule_of_stalemate_that_the_user_has_set_stays(self, heard: Path) -> None:
        played("fog", plies=2, options={"stalemate": "draw"})
        assert stalemates(heard) == ["setoption name stalemate value draw"]

    def test_who_cannot_be_told_that_stalemate_is_a_draw_is_named(self, heard: Path) -> None:
        for board, warned in ((FogOfWarBoard(), 0), (DrawnStalemateBoard(), 1)):
            warnings: list[str] = []
            player = UciPlayer([*FAKE, "orthodox"], name="old", on_warning=warnings.append)
            play_game(player, RandomPlayer(), control=1, max_plies=2, board=board)
            player.close()
            assert (
                sum(text.startswith("old: ") and "no option Stalemate" in text for text in warnings)
                == warned
            )
        assert stalemates(heard) == []

    def test_draws_that_the_engine_cannot_see_end_the_game(self, heard: Path) -> None:
        player = UciPlayer([*FAKE, "fog"])
        board = FogOfWarBoard("4k3/8/8/8/8/8/4P3/4K3 b - - 98 120")
        record = play_game(Scripted(["e1d1"]), player, control=1, board=board)
        player.close()
        assert (record.result, record.ending) == ("1/2-1/2", "fifty-move rule")
        assert len(positions(heard)) == 1

    def test_an_engine_of_another_game_is_told_everything_with_a_warning(self) -> None:
        warnings: list[str] = []
        record, _ = played("orthodox", plies=2, on_warning=warnings.append)
        assert record.told[chess.WHITE] == "everything"
        assert (
            "Fake 1.0 does not offer Fog of War chess (UCI_Variant fogofwar); "
            "it is told the whole game and may play by other rules"
        ) in warnings


class TestWhatItIsAsked:
    def test_what_it_knew_of_the_true_position(self, heard: Path) -> None:
        record, _ = played("fog", coverage=True)
        turns = record.turns(chess.WHITE)
        assert [turn.coverage for turn in turns] == [Coverage(True, True, False, 0.25)] * 6
        assert [turn.belief_checks for turn in turns] == [1] * 6
        lines = [line.split()[0] for line in heard.read_text().splitlines()]
        assert lines[-5:] == ["position", "go", "coverage", "isready", "quit"]
        board = FogOfWarBoard()
        asked = [
            line.strip().removeprefix("coverage ")
            for line in heard.read_text().splitlines()
            if line.startswith("coverage")
        ]
        for ply, move in enumerate(record.board.move_stack):
            if ply % 2 == 0:
                assert asked[ply // 2] == board.epd(en_passant="legal")
            board.push(move)

    def test_an_engine_without_the_capability_is_not_asked(self, heard: Path) -> None:
        record, _ = played("orthodox", coverage=True, plies=4)
        assert [turn.coverage for turn in record.turns(chess.WHITE)] == [None, None]
        assert "coverage" not in heard.read_text()

    def test_nobody_is_asked_unless_that_is_wanted(self, heard: Path) -> None:
        record, _ = played("fog", plies=4)
        assert [turn.coverage for turn in record.turns(chess.WHITE)] == [None, None]
        assert "coverage" not in heard.read_text()

    def test_a_forced_move_has_no_root(self) -> None:
        player = UciPlayer([*FAKE, "fog"], coverage=True)
        board = FogOfWarBoard("7k/8/8/8/1p1p4/pP1P4/PP1P4/KRB5 w - - 0 1")
        record = play_game(player, Scripted([]), control=1, board=board)
        player.close()
        assert record.turns(chess.WHITE)[0].coverage == Coverage(True)

    def test_a_belief_without_the_truth_stops_everything(self) -> None:
        player = UciPlayer([*FAKE, "wrong-belief"], coverage=True)
        with pytest.raises(BeliefError, match=r"2 positions in its belief, .* moves e2e4"):
            play_game(Scripted(["e2e4"]), player, control=1)
        player.close()

    def test_a_cut_belief_may_lack_the_truth(self) -> None:
        record, _ = played("inexact", coverage=True, plies=2)
        (turn,) = record.turns(chess.WHITE)
        assert turn.coverage is not None and not turn.coverage.in_belief
        assert turn.belief_checks == 0

    def test_an_engine_that_refuses_to_answer_is_warned_of_and_plays_on(self) -> None:
        warnings: list[str] = []
        record, _ = played("refuses", coverage=True, plies=4, on_warning=warnings.append)
        assert [turn.coverage for turn in record.turns(chess.WHITE)] == [None, None]
        assert "Fake 1.0: error coverage: no" in warnings

    def test_an_engine_that_does_not_know_the_question_plays_on(self) -> None:
        record, _ = played("mute", coverage=True, plies=4)
        assert [turn.coverage for turn in record.turns(chess.WHITE)] == [None, None]


class TestHowItPlays:
    def test_a_whole_game(self) -> None:
        warnings: list[str] = []
        player = UciPlayer(
            FAKE, options={"Move Overhead": "5"}, coverage=True, on_warning=warnings.append
        )
        record = play_game(player, RandomPlayer(), control=1, seed=1, max_plies=40)
        assert record.white == "Fake 1.0"
        turns = record.turns(chess.WHITE)
        assert record.result == "1-0" or record.regular or len(turns) == 20
        assert all(turn.belief_checks == 1 for turn in turns)
        report = turns[0].report
        assert report is not None
        assert (report.belief, report.nodes, report.depth, report.carried) == (2, 1000, 4.5, 10)
        assert warnings[0] == "Fake 1.0: warning this is a fake"
        player.close()
        player.close()

    @pytest.mark.parametrize(
        ("mode", "ending"),
        [
            ("illegal", "black made the illegal move e2e5"),
            ("die", "black forfeits: Fake 1.0 exited with code 3: out of cheese"),
            ("hang", "black forfeits: Fake 1.0 gave no bestmove in time"),
        ],
    )
    def test_misbehaving_loses_and_the_next_game_starts(self, mode: str, ending: str) -> None:
        player = UciPlayer([*FAKE, mode], grace=0.01 if mode == "hang" else 60)
        for _ in range(2):
            record = play_game(Scripted(["e2e4"]), player, control=1)
            assert (record.result, record.ending, record.regular) == ("1-0", ending, False)
        player.close()

    def test_an_engine_that_cannot_start_is_an_error_not_a_loss(self) -> None:
        with pytest.raises(EngineError):
            play_game(UciPlayer(["/nowhere/engine"]), RandomPlayer(), control=1)


class TestItsSeed:
    def seeds(self, heard: Path, options: dict[str, str]) -> list[str]:
        """The seeds that an engine is given in two games."""
        player = UciPlayer(FAKE, options=options)
        for seed in (7, 2000):
            player.new_game(FogOfWarBoard(), chess.WHITE, seed)
        player.close()
        lines = heard.read_text().splitlines()
        return [line.split()[-1] for line in lines if line.startswith("setoption name Seed ")]

    def test_each_game_has_its_own(self, heard: Path) -> None:
        assert self.seeds(heard, {}) == ["8", "1"], "in the range that the engine declares"

    def test_the_users_stays(self, heard: Path) -> None:
        assert self.seeds(heard, {"seed": "3"}) == []
        assert "setoption name seed value 3" in heard.read_text()


class TestHowItsProcessEnds:
    def thinking(self) -> UciPlayer:
        """A player that will not answer its next `go`."""
        player = UciPlayer([*FAKE, "hang"])
        player.new_game(FogOfWarBoard(), chess.WHITE, 1)
        return player

    def test_an_engine_that_does_not_start_is_not_tried_twice(self, tmp_path: Path) -> None:
        starts = tmp_path / "starts"
        player = UciPlayer(["sh", "-c", f"echo once >> {starts}"])
        with pytest.raises(EngineError, match="sh exited with code 0"):
            player.new_game(FogOfWarBoard(), chess.WHITE, 1)
        assert starts.read_text() == "once\n"

    def test_another_thread_may_end_its_turn(self) -> None:
        player = self.thinking()
        with ThreadPoolExecutor(1) as pool:
            turn = pool.submit(player.choose, FogOfWarBoard(), Allowance(chess.WHITE, 1))
            player.interrupt()
            assert isinstance(turn.exception(), Forfeit)
        player.close()

    @pytest.mark.parametrize(
        ("number", "error"),
        [
            (signal.SIGKILL, MachineFault),
            (signal.SIGTERM, MachineFault),
            (signal.SIGSEGV, Forfeit),
        ],
    )
    def test_a_signal_from_outside_is_the_machines_fault_and_a_crash_its_own(
        self, number: signal.Signals, error: type[Exception]
    ) -> None:
        player = self.thinking()
        assert player.pid is not None
        os.kill(player.pid, number)
        with pytest.raises(error, match=f"was killed by {number.name}"):
            player.choose(FogOfWarBoard(), Allowance(chess.WHITE, 1))
        player.close()

    def test_a_shell_that_says_that_its_engine_was_killed_is_believed(self) -> None:
        with pytest.raises(MachineFault, match="killed by SIGKILL"):
            UciProcess(["sh", "-c", "exit 137"])
        with pytest.raises(EngineError, match="exited with code 139") as caught:
            UciProcess(["sh", "-c", "exit 139"])
        assert not isinstance(caught.value, MachineFault)

    def test_a_machine_without_resources_for_a_process_is_at_fault(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*arguments: object, **settings: object) -> None:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")

        monkeypatch.setattr("obscuro.client.uci_process.subprocess.Popen", refuse)
        with pytest.raises(MachineFault, match="Cannot allocate memory"):
            UciProcess(FAKE)
