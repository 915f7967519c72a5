"""Hold the belief against the slow reference and against its naive kernel, over whole games.

    python -m tools.proofs.belief_reference
    python -m tools.proofs.belief_reference --games 20 --limit 300 --kinds rare
    python -m tools.proofs.belief_reference --recorded

Plays games of three kinds: random ones from openings, middle games and endings; games of the engine
against itself, by its `material` evaluator; and rare ones, from sparse positions, with promotions, en
passant, castling in attack, kings walking into check and double pushes past capturing pawns. Each
is followed by the belief of both sides, and after every ply, where P had at most --limit positions
before it, P must be what `tests/reference.py` finds, which tries everything in plain python-chess.
Where P is larger, the reference follows a few of its members. The naive kernel must find the same P
at any size, and the true position must be in it.

--recorded follows the games that `obscuro bench belief` measures instead, to their ends, each for the
side it was recorded for; there the reference follows a few members of P at every ply.

Prints what was compared, in Markdown. The exit status is 1 if anything differed; the games in which
it did are printed at once.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from threading import Event
from typing import NamedTuple

import chess

from obscuro.machine import usable_cores
from tests import reference
from tests.belief.comparison import Counts, DifferenceError, compare_game
from tests.belief.games import MIDDLE_GAMES
from tests.belief.rare_games import KINDS, MoveList, kinds_of, rare_game
from tools.common import INTERRUPTED, ROOT, given, tool_parser

NODES = 300  # that the engine's tree grows by for each of its moves
BELIEVED = 5000  # positions that the engine plays with
LONGEST = {"random": 80, "engine": 80, "rare": 40}  # plies


class Task(NamedTuple):
    """One game to follow: its kind, which is a key of MAKERS, and its number."""

    kind: str
    number: int


class Settings(NamedTuple):
    """How far to follow: see `compare_game`. recorded: a file to take the games from."""

    limit: int
    alone: int
    largest: int
    recorded: Path | None


class Followed(NamedTuple):
    """What came of a game, for both sides."""

    counts: Counts
    rare: Counter[tuple[str, chess.Color]]  # (one of KINDS, mover): how often
    differences: list[str]


# -- games ----------------------------------------------------------------------------------


def random_game(number: int) -> MoveList:
    """Moves at random, from the start or from where the rare ones are near."""
    fen = (chess.STARTING_FEN, chess.STARTING_FEN, *MIDDLE_GAMES)[number % (len(MIDDLE_GAMES) + 2)]
    *_, board = reference.random_game(random.Random(number), fen, LONGEST["random"])
    return MoveList(fen, board.move_stack)


@functools.cache
def engines() -> tuple[Callable[[int], MoveList], ...]:
    """One function, which makes games of two engines; they are made once in a process."""
    from obscuro.engine.options import Options  # noqa: PLC0415
    from obscuro.engine.player import Player  # noqa: PLC0415
    from obscuro.engine.report import GoLimits  # noqa: PLC0415
    from obscuro.rules.account import last_ply  # noqa: PLC0415
    from obscuro.rules.board import FogOfWarBoard  # noqa: PLC0415
    from obscuro.rules.position import from_board  # noqa: PLC0415 - compiles in the workers only

    options = Options()
    for name, value in (("Evaluator", "material"), ("Threads", 1), ("Hash", 16)):
        options.set(name, str(value))
    options.set("Max Positions", str(BELIEVED))
    players = {color: Player(options, lambda text: None) for color in chess.COLORS}

    def play(number: int) -> MoveList:
        board = FogOfWarBoard()
        options.set("Seed", str(number + 1))
        for color, player in players.items():
            player.set_options(options)
            player.new_game(0 if color else 1, from_board(board))
        while len(board.move_stack) < LONGEST["engine"] and not board.is_game_over():
            limits = GoLimits(time.monotonic(), nodes=NODES)
            move = players[board.turn].search(limits, Event()).move
            assert move is not None
            board.push_uci(move)
            if not board.is_game_over():
                for color, player in players.items():
                    last_ply(board, color).tell(player)
        return MoveList(board.starting_fen, board.move_stack)

    return (play,)


def engine_game(number: int) -> MoveList:
    """The engine against itself: the same game for the same number."""
    return engines()[0](number)


MAKERS: dict[str, Callable[[int], MoveList]] = {
    "random": random_game,
    "engine": engine_game,
    "rare": lambda number: rare_game(number, LONGEST["rare"]),
}


@functools.cache
def recorded_games(path: Path) -> list[tuple[MoveList, chess.Color]]:
    """The recorded games, each with the side whose belief is followed."""
    from obscuro.cli.bench.recorded import read_games  # noqa: PLC0415

    return [
        (MoveList(game.fen, [chess.Move.from_uci(uci) for uci in game.moves]), game.side == 0)
        for game in read_games(path)
    ]


# -- following ------------------------------------------------------------------------------


def follow(task: Task, settings: Settings) -> Followed:
    """Make a game and compare the beliefs of both sides; or of one side of a recorded game."""
    limits = settings._asdict()
    colors: Iterable[chess.Color] = chess.COLORS
    if limits.pop("recorded") is None:
        game = MAKERS[task.kind](task.number)
    else:
        assert settings.recorded is not None
        game, color = recorded_games(settings.recorded)[task.number]
        colors = [color]
        limits |= {"limit": 0, "largest": sys.maxsize, "untold": False}
    counts, differences = Counts(), []
    for color in colors:
        try:
            counts += compare_game(*game, color, naive=True, **limits)
        except DifferenceError as error:
            differences.append(f"{task.kind} game {task.number}, {error}")
    return Followed(counts, rare_moves(game), differences)


def rare_moves(game: MoveList) -> Counter[tuple[str, chess.Color]]:
    """Count what is rare in a game."""
    board = chess.Board(game.fen)
    found: Counter[tuple[str, chess.Color]] = Counter()
    for move in game.moves:
        found.update((kind, board.turn) for kind in kinds_of(board, move))
        board.push(move)
    return found


def follow_all(
    tasks: Iterable[Task], processes: int, settings: Settings
) -> Iterator[tuple[Task, Followed]]:
    """Yield the games as they are done."""
    if processes == 1:
        for task in tasks:
            yield task, follow(task, settings)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as executor:
        futures = {executor.submit(follow, task, settings): task for task in tasks}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            executor.shutdown(cancel_futures=True)


# -- the report -----------------------------------------------------------------------------


def report(done: dict[Task, Followed]) -> Iterator[str]:
    """Yield what was compared, in Markdown."""
    yield (
        "| games | number | updates | of these, all of P compared with the reference "
        "| positions in these | largest P compared | members of larger P followed "
        "| all of P compared with the naive kernel | largest P |"
    )
    yield "|---|" + "---:|" * 8
    for kind in [*MAKERS, "recorded", "all"]:
        group = [each for task, each in done.items() if kind in (task.kind, "all")]
        if group:
            c = sum((each.counts for each in group), Counts())
            numbers = (
                *(len(group), c.plies, c.equal, c.compared, c.largest_equal),
                *(c.alone, c.naive, c.largest),
            )
            yield f"| {kind} | " + " | ".join(f"{number:,}" for number in numbers) + " |"
    yield ""
    yield "| moves in these games | by White | by Black |"
    yield "|---|---:|---:|"
    rare = sum((each.rare for each in done.values()), Counter[tuple[str, chess.Color]]())
    for kind in KINDS:
        yield f"| {kind} | {rare[kind, chess.WHITE]:,} | {rare[kind, chess.BLACK]:,} |"
    yield ""
    differences = sum(len(each.differences) for each in done.values())
    yield f"Differences: {differences}."


def main(words: Sequence[str] | None = None) -> int:
    """Follow the games; returns the exit status."""
    options = make_parser().parse_args(given(words))
    settings = Settings(options.limit, options.alone, options.largest, options.recorded)
    if settings.recorded is not None:
        tasks = [Task("recorded", n) for n in range(len(recorded_games(settings.recorded)))]
    else:
        numbers = range(options.seed, options.seed + options.games)
        tasks = [Task(kind, number) for number in numbers for kind in options.kinds]
    done: dict[Task, Followed] = {}
    begin = time.monotonic()
    try:
        for task, followed in follow_all(tasks, options.processes, settings):
            done[task] = followed
            for difference in followed.differences:
                print(difference, flush=True)
            minutes = (time.monotonic() - begin) / 60
            progress = f"{len(done)} of {len(tasks)} games, {minutes:.1f} minutes"
            print(f"\r{progress}", end="", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print(f"\nbroken off: {len(done)} of {len(tasks)} games", flush=True)
    print(file=sys.stderr)
    print("\n".join(report(done)))
    differ = any(followed.differences for followed in done.values())
    return 1 if differ else INTERRUPTED if len(done) < len(tasks) else 0


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.belief_reference", __doc__, stores=False)
    parser.add_argument("--games", type=int, default=80, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=[*MAKERS], default=[*MAKERS])
    parser.add_argument("--seed", type=int, default=0, help="number of the first game")
    parser.add_argument(
        "--limit", type=int, default=2000, help="positions that the reference goes on with"
    )
    parser.add_argument(
        "--alone", type=int, default=10, help="members of a larger P that the reference follows"
    )
    parser.add_argument(
        "--largest", type=int, default=200_000, help="positions that the naive kernel goes on with"
    )
    parser.add_argument(
        "--recorded",
        type=Path,
        nargs="?",
        const=ROOT / "obscuro" / "cli" / "bench" / "belief_games.txt",
        metavar="FILE",
        help="follow recorded games instead, those of `obscuro bench belief` or of a file",
    )
    parser.add_argument("--processes", type=int, default=usable_cores())
    return parser


if __name__ == "__main__":
    sys.exit(main())
