"""Engines as players: real processes that behave and misbehave, and ours in this process."""

import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import pytest

from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.matches.game_record import BeliefError
from obscuro.matches.players import InProcessPlayer, RandomPlayer
from obscuro.matches.referee import play_game
from tests.matches.scripted import FakePlayer

FAKE = [sys.executable, "-m", "tests.matches.fake_engine"]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


class TestUciProcess:
    @pytest.fixture
    def engine(self) -> Iterator[UciProcess]:
        with UciProcess(FAKE) as process:
            yield process

    def test_shakes_hands(self, engine: UciProcess) -> None:
        assert engine.name == "Fake 1.0"
        assert set(engine.options) == {
            "uci_variant",
            "evaluator",
            "move overhead",
            "ponder",
            "seed",
            "stalemate",
        }

    def test_waits_until_it_is_ready(self, engine: UciProcess) -> None:
        engine.set_option("Move Overhead", "50")
        assert engine.wait_ready() == ["info string warning this is a fake"]

    def test_refuses_an_option_that_the_engine_lacks(self, engine: UciProcess) -> None:
        with pytest.raises(EngineError, match=r"Fake 1.0 has no option 'Contempt'"):
            engine.set_option("Contempt", "1")

    def test_silence_is_an_error(self, engine: UciProcess) -> None:
        engine.send("nonsense")
        with pytest.raises(EngineError, match=r"no bestmove in time"):
            list(engine.until("bestmove", 0.01))

    def test_an_engine_that_is_gone_is_an_error_again_and_again(self) -> None:
        engine = UciProcess([*FAKE, "die"])
        engine.send("go movetime 1")
        for _ in range(2):
            with pytest.raises(EngineError, match=r"Fake 1.0 exited with code 3: out of cheese"):
                list(engine.until("bestmove", 30))
        engine.close()
        engine.close()

    def test_closing_ends_the_process(self) -> None:
        engine = UciProcess([*FAKE, "hang"])
        engine.send("go movetime 1")
        engine.kill()
        with pytest.raises(EngineError):
            engine.send("isready")

    @pytest.mark.parametrize(
        ("mode", "capabilities"),
        [("", {"coverage"}), ("fog", {"position-fog", "dances", "coverage"}), ("orthodox", set())],
    )
    def test_reads_the_capabilities(self, mode: str, capabilities: set[str]) -> None:
        with UciProcess([*FAKE, mode]) as engine:
            assert engine.capabilities == capabilities

    def test_a_program_that_is_not_there(self) -> None:
        with pytest.raises(EngineError, match=r"can't run /nowhere/engine: No such file"):
            UciProcess(["/nowhere/engine"])

    def test_a_program_that_is_no_engine(self) -> None:
        with pytest.raises(EngineError, match=r"exited with code 0"):
            UciProcess([sys.executable, "-c", "pass"])


class TestInProcessPlayer:
    def test_is_told_its_moves_and_that_the_other_has_moved(self) -> None:
        engine = FakePlayer()
        player = InProcessPlayer(engine, check_belief=True)
        record = play_game(player, RandomPlayer(), control=1, seed=5, max_plies=60)
        own = [ply.turn.uci for ply in record.plies[::2]]
        ended = record.regular
        expected = [move for uci in own for move in (uci, None)][: len(record.plies) - ended]
        assert engine.plies == expected
        turns = record.turns(chess.WHITE)
        assert [turn.belief_checks for turn in turns] == [0] + [2] * (len(turns) - 1)
        report = turns[0].report
        assert report is not None
        assert (report.belief, report.nodes, report.play[0][0]) == (4321, 1234, turns[0].uci)

    def test_plays_black_too(self) -> None:
        engine = FakePlayer()
        record = play_game(RandomPlayer(), InProcessPlayer(engine), control=1, max_plies=60)
        assert record.regular or len(record.plies) == 60
        assert engine.plies[:2] == [None, record.plies[1].turn.uci]

    def test_a_belief_without_the_truth_stops_everything(self) -> None:
        player = InProcessPlayer(FakePlayer(wrong=True), check_belief=True)
        with pytest.raises(
            BeliefError, match=r"obscuro \(white\) has 4321 positions in its belief"
        ):
            play_game(player, RandomPlayer(), control=1)

    def test_closes_its_engine(self) -> None:
        engine = FakePlayer()
        InProcessPlayer(engine).close()
        assert engine.closed == 1
