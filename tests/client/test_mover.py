"""The engine's process: what it is told, and that a move comes whatever happens to it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.bots.our_view import OurView
from obscuro.client import mover as engine
from obscuro.client.engine import EngineMover, Think, go_command, last_score
from obscuro.client.uci_process import EngineError

pytestmark = pytest.mark.xdist_group("timing")

NOBODY = threading.Event()


def think_after(moves: list[str], **values: object) -> Think:
    view = OurView(chess.WHITE, None)
    view.follow(moves)
    think = Think(1, view.position(), view.legal_moves(), chess.WHITE, movetime=1000)
    return replace(think, **values)  # type: ignore[arg-type]


class Fog(EngineMover):
    """The engine of tests; modes: how its processes misbehave, one after the other."""

    def __init__(self, directory: Path, modes: str = "", **options: str) -> None:
        self.path = directory / "modes"
        self.path.write_text(modes.replace(" ", "\n"))
        self.said: list[str] = []
        command = [sys.executable, "-m", "tests.bots.fog_engine", str(self.path)]
        super().__init__(command, options, self.said.append, clock=lambda: 0.0)

    @property
    def heard(self) -> list[str]:
        return self.path.with_suffix(".heard").read_text().splitlines()


@contextmanager
def fog(directory: Path, modes: str = "", **options: str) -> Iterator[Fog]:
    mover = Fog(directory, modes, **options)
    try:
        yield mover
    finally:
        mover.close()


def test_what_an_engine_is_told(tmp_path: Path) -> None:
    with fog(tmp_path, **{"Move Overhead": "500"}) as mover:
        mover.prepare()
        first, second = think_after([]), think_after(["e2e4", "e7e5"])
        for game, think in (("a", first), ("a", second), ("b", first)):
            choice = mover.choose(game, think, NOBODY)
            assert choice.move in think.moves and choice.score == 23
        mover.close()
        assert mover.heard == [
            "uci",
            "setoption name UCI_Variant value fogofwar",
            "setoption name Move Overhead value 500",
            "isready",
            "ucinewgame",
            first.position,
            "go movetime 1000",
            second.position,
            "go movetime 1000",
            "ucinewgame",
            first.position,
            "go movetime 1000",
            "quit",
        ]
        assert mover.said == ["engine: warning this is a fake"]


def test_an_engine_with_other_options_takes_each_game_for_a_new_one(tmp_path: Path) -> None:
    think = think_after([])
    with fog(tmp_path) as mover:
        mover.choose("a", think, NOBODY)
        mover.configure({"Stalemate": "draw"})
        mover.choose("a", think, NOBODY)
        order = "setoption name Stalemate value draw"
        assert mover.heard[mover.heard.index(order) + 1] == "ucinewgame"


@pytest.mark.parametrize("mode", ["die", "illegal", "none", "babble"])
def test_a_bad_engine_is_replaced_and_told_everything(mode: str, tmp_path: Path) -> None:
    with fog(tmp_path, mode) as mover:
        think = think_after(["e2e4", "e7e5"])
        choice = mover.choose("a", think, NOBODY)
        assert choice.move in think.moves and choice.score == 23
        assert mover.heard.count(think.position) == 2
        (line,) = mover.said
        assert line.startswith("engine: Fog 1.0 ") and line.endswith("; starting it anew")


def test_an_engine_that_hangs_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "GRACE_SECONDS", 0.3)
    with fog(tmp_path, "hang") as mover:
        choice = mover.choose("a", think_after([], movetime=1), NOBODY)
        assert choice.score == 23
        assert "gave no bestmove in time" in mover.said[0]


def test_where_there_is_no_engine_a_move_is_made_all_the_same(tmp_path: Path) -> None:
    with fog(tmp_path, "die die die") as mover:
        think = think_after(["e2e4", "e7e5"])
        assert mover.choose("a", think, NOBODY).move == think.moves[0]
        assert mover.said[-1] == "there is no engine; making any move"
        assert mover.pid is None
    mover = EngineMover(["/nowhere/engine"], {}, lambda text: None)
    with pytest.raises(EngineError, match="can't run"):
        mover.prepare()
    assert mover.choose("a", think, NOBODY).move == think.moves[0]


def test_stop_ends_a_search(tmp_path: Path) -> None:
    with fog(tmp_path, "wait") as mover:
        cancel = threading.Event()
        cancel.set()
        mover.prepare()
        assert mover.choose("a", think_after([]), cancel).move  # not even begun
        cancel.clear()
        chosen: list[str] = []
        thread = threading.Thread(
            target=lambda: chosen.append(mover.choose("a", think_after([]), cancel).move)
        )
        thread.start()
        # Whenever it comes, before `go` or after it, the search ends.
        cancel.set()
        mover.stop()
        thread.join(30)
        assert not thread.is_alive() and chosen


def test_nothing_is_started_after_the_end(tmp_path: Path) -> None:
    with fog(tmp_path) as mover:
        mover.prepare()
        mover.close()
        assert mover.choose("a", think_after([]), NOBODY).move
        assert mover.pid is None


def test_an_engine_that_ponders_hears_of_our_move(tmp_path: Path) -> None:
    with fog(tmp_path, Ponder="true") as mover:
        mover.choose("a", think_after([]), NOBODY)
        view = OurView(chess.WHITE, None)
        view.follow(["e2e4"])
        mover.watch("a", view.position())
        mover.watch("b", "position of another game")
        mover.close()
        assert mover.heard[-2] == view.position()


@pytest.mark.parametrize(
    ("values", "elapsed", "go", "patience"),
    [
        ({"movetime": 500}, 7.0, "go movetime 500", 10.5),
        ({"clocks": (60_000, 50_000, 1, 2)}, 0.0, "wtime 60000 btime 50000 winc 1 binc 2", 30.0),
        ({"clocks": (60_000, 50_000, 0, 0)}, 20.0, "wtime 40000 btime 50000 winc 0 binc 0", 20.0),
        ({"clocks": (60_000, 9000, 0, 0), "side": False}, 20.0, "wtime 60000 btime 0 ", 1.0),
    ],
)
def test_go(values: dict[str, object], elapsed: float, go: str, patience: float) -> None:
    said, seconds = go_command(think_after([], **values), elapsed)
    assert go in said and said.startswith("go ")
    assert seconds == pytest.approx(patience)


def test_the_last_score() -> None:
    assert last_score(["info depth 1 score cp 5 pv a", "info depth 2 score cp -17", "x"]) == -17
    assert last_score(["info score mate -3"]) == -10_000
    assert last_score(["info string no score"]) is None
