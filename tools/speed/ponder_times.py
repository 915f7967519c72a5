"""What pondering saves: how long a belief update takes when its observation comes.

    python -m tools.speed.ponder_times

Follows the recorded games of `obscuro bench belief` with three beliefs side by side: one that does
nothing on the other side's time, one that gets ready for what is seen now to be seen once more (see
`Belief.expect`), and one that is stopped in the middle of that. Times the updates that the file of
games names, and compares the three by whether the expectation came true. They must all be the same.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from threading import Event

import numpy as np

from obscuro.belief import Belief, warm_up
from obscuro.belief.buffers import Buffers
from obscuro.belief.update import reserve
from obscuro.cli.bench.recorded import RecordedGame, new_belief, read_games, steps, take_in
from obscuro.engine.options import MOST_POSITIONS
from tools.common import given, publish, say, table, tool_parser

WAYS = ("not pondering", "pondered to the end", "pondering stopped")


class Stopping(Event):
    """Is set when it has been asked some times whether it is set."""

    def __init__(self, asked: int) -> None:
        super().__init__()
        self._left = asked

    def is_set(self) -> bool:
        """Count down, and say whether the count is used up."""
        self._left -= 1
        return self._left < 0


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.ponder_times", __doc__)
    parser.add_argument("--games", type=int, default=None, help="only so many")
    parser.add_argument("--threads", type=int, default=1)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    warm_up()
    buffers = [Buffers() for _ in WAYS]
    for kept in buffers:
        reserve(kept, MOST_POSITIONS, told.threads)
    times: dict[bool, list[list[float]]] = {True: [], False: []}
    games = read_games()[: told.games]
    for number, game in enumerate(games):
        say(f"game {number + 1} of {len(games)}: {game.name}")
        follow(game, told.threads, buffers, times)
    figures = {"came true": times[True], "did not": times[False]}
    publish(parser, words, told.raw, figures, render)
    return 0


def render(figures: Mapping[str, Sequence[Sequence[float]]]) -> Iterator[str]:
    """Yield medians and sums of the updates' times, in ms; figures: seconds by update and way."""
    rows = []
    for name, updates in figures.items():
        cells = []
        for way in range(len(WAYS)):
            taken = [1000 * update[way] for update in updates]
            median = f"{statistics.median(taken):.2f}" if taken else "-"
            cells.append(f"{median} (all: {sum(taken):,.0f})")
        rows.append([name, len(updates), *cells])
    yield from table(["expectation", "updates", *(f"{way}, ms" for way in WAYS)], rows)


def follow(
    game: RecordedGame,
    threads: int,
    buffers: list[Buffers],
    times: dict[bool, list[list[float]]],
) -> None:
    """Follow one game with three beliefs; add the times of its updates, by hit or miss."""
    beliefs: list[Belief] = [new_belief(game, threads, kept) for kept in buffers]
    named = {update.ply for update in game.updates}
    before = None
    for step in steps(game):
        if step.move is not None or step.ply not in named or before is None:
            for belief in beliefs:
                take_in(belief, step)
        else:
            beliefs[1].expect(before, Event())
            beliefs[2].expect(before, Stopping(2))
            row = []
            for belief in beliefs:
                begin = time.perf_counter()
                take_in(belief, step)
                row.append(time.perf_counter() - begin)
            times[before == step.observation].append(row)
            if len({len(belief) for belief in beliefs}) != 1 or not np.array_equal(
                beliefs[0].positions[:1000], beliefs[1].positions[:1000]
            ):
                raise SystemExit(f"{game.name}, ply {step.ply}: the beliefs differ")
        before = step.observation
    for belief in beliefs:
        belief.release()
        belief.close()


if __name__ == "__main__":
    sys.exit(main())
