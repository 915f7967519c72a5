"""The engine says the same of two games that look the same to its side, whatever it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import chess
import pytest

from tests.leaks.twins import STARTS, Twins, after, named_twins, twins
from tests.sizes import quick_among
from tests.uci.dialogue import Process
from tests.uci.games import turns_of

OPTIONS = ("Evaluator value material", "Hash value 16", "Threads value 1", "Seed value 1")
LAST_LINES = 5
"""The last report of a search, and its move."""
TIMES = re.compile(r" (?:time|nps) \d+")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("protocol") / "engine.log"


@pytest.fixture(scope="module")
def engine(log: Path) -> Iterator[Process]:
    with Process("--log", str(log)) as process:
        process.ask(*(f"setoption name {option}" for option in OPTIONS))
        yield process
        assert process.leave() == (0, [], "")


def whole(pair: Twins, moves: tuple[str, ...]) -> str:
    return f"position fen {pair.start} moves {' '.join(moves)}"


def account(pair: Twins, moves: tuple[str, ...]) -> str:
    turns = " ".join(turns_of(pair.side, moves, pair.start))
    return f"position fog {chess.COLOR_NAMES[pair.side]} fen {pair.start} turns {turns}"


def answers(engine: Process, log: Path, positions: list[str]) -> tuple[list[str], list[str]]:
    """Return what the engine says in a game, and which facts and failures it logs.

    Times are left out, and reports on the way: a busy machine has more of them.
    """
    engine.ask("setoption name Max Positions value 5000", "ucinewgame")
    begin = log.stat().st_size
    said = []
    for position in positions:
        said += engine.ask(position, "d", "belief 30")
        engine.say("go nodes 60")
        said += engine.until("bestmove")[-LAST_LINES:]
    logged = log.read_bytes()[begin:].decode().splitlines()
    own = [line.split(" ", 1)[1] for line in logged if line.split(" ", 2)[1] in "#!"]
    return [TIMES.sub("", line) for line in said], own


def compare(engine: Process, log: Path, pair: Twins, plies: list[int]) -> None:
    """Ask after some plies of both games, and of the side's own account: all must be the same."""
    forms = [
        *([whole(pair, moves[:ply]) for ply in plies] for moves in pair.games),
        [account(pair, pair.one[:ply]) for ply in plies],
    ]
    found = [answers(engine, log, positions) for positions in forms]
    assert found[0] == found[1]
    assert found[0][0] == found[2][0]
    assert sum(line.startswith("bestmove ") for line in found[0][0]) == len(plies)


def own_turns(pair: Twins) -> list[int]:
    """Return the plies after which the side is to move."""
    first = int(after(pair.start, ()).turn != pair.side)
    return list(range(first, len(pair.one), 2))


@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_the_engine_shows_none_of_the_known_leaks(
    engine: Process, log: Path, name: str, pair: Twins
) -> None:
    compare(engine, log, pair, own_turns(pair)[1:])


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(
        product(range(10), chess.COLORS, STARTS),
        lambda case: case[:2] == (0, chess.WHITE) and case[2] in STARTS[:2],
    ),
)
def test_a_whole_dialogue_is_the_same(
    engine: Process, log: Path, seed: int, side: chess.Color, start: str
) -> None:
    pair = twins(3000 + seed, side, start, plies=24)
    compare(engine, log, pair, own_turns(pair)[1::2])
