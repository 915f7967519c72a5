"""What the cache of expansions saves: the same batches with it and without.

    python -m tools.speed.cache_gain --evaluator nnue --movetime 3000

Three fixed positions are played on for some moves, without a cache, and all that the engine asks
its evaluator about is kept. The batches are then evaluated again, in turns with a cache and without, in the
seconds that this thread has worked (for `nnue` and `material`), or that have passed (`stockfish`).
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from obscuro.cli.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.engine.machine import MEBIBYTE
from obscuro.evaluation.cache import CachedEvaluator, ExpansionCache
from obscuro.evaluation.evaluator import ChildValues, Evaluator
from obscuro.evaluation.factory import BUILT_IN, make_evaluator, unwrapped
from tools.common import given, publish, say, table, tool_parser

Words = npt.NDArray[np.uint64]


class Recorder:
    """Passes batches on, and keeps a copy of each."""

    def __init__(self, evaluator: Evaluator, batches: list[Words]) -> None:
        self._evaluator = evaluator
        self._batches = batches

    def __getattr__(self, name: str) -> object:
        """Pass everything else on."""
        return getattr(self._evaluator, name)

    def evaluate(self, positions: Words) -> ChildValues:
        """Evaluate, and keep a copy of the batch."""
        self._batches.append(positions.copy())
        return self._evaluator.evaluate(positions)


def record(position: StudyPosition, evaluator: str, movetime: int, moves: int) -> list[Words]:
    """What one side's searches ask for, from a position on."""
    batches: list[Words] = []
    follower = Follower(position, threads=2, evaluator=evaluator, hash_mib=512)
    for game in follower.games:
        game.evaluator = cast(Evaluator, Recorder(unwrapped(game.evaluator), batches))
    for _ in range(moves):
        follower.think(movetime=movetime)
        if not follower.play_on():
            break
    follower.close()
    return batches


def seconds(evaluator: Evaluator, batches: list[Words], clock: Callable[[], float]) -> float:
    """How long all batches take."""
    evaluator.forget()
    evaluator.evaluate(batches[0][:1])
    begin = clock()
    for batch in batches:
        evaluator.evaluate(batch)
    return clock() - begin


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.cache_gain", __doc__)
    parser.add_argument("--evaluator", choices=BUILT_IN, default="nnue")
    parser.add_argument("--movetime", type=int, default=3000, help="milliseconds of a search")
    parser.add_argument("--moves", type=int, default=4, help="searches from each position")
    parser.add_argument("--mebibytes", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=5)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print a row for each position; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    clock = time.perf_counter if told.evaluator == "stockfish" else time.thread_time
    found: list[dict[str, Any]] = []
    for position in POSITIONS:
        say(position.name)
        source = "nnue" if told.evaluator == "material" else told.evaluator
        batches = record(position, source, told.movetime, told.moves)
        plain = make_evaluator(told.evaluator)
        plain.start()
        cache = ExpansionCache(told.mebibytes * MEBIBYTE)
        cached = CachedEvaluator(plain, cache)
        without, within = [], []
        for _ in range(told.repeat):
            without.append(seconds(plain, batches, clock))
            before = cache.use
            within.append(seconds(cached, batches, clock))
            use = cache.use.since(before)
        plain.close()
        found.append({"position": position.name, "lookups": use.lookups, "hits": use.hits})
        found[-1] |= {"without": without, "within": within}
    publish(parser, words, told.raw, found, render)
    return 0


def render(found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield how much was found in the cache, and how long the batches took, medians."""
    rows = []
    for each in found:
        times = list(zip(each["without"], each["within"], strict=True))
        ratio = statistics.median(within / without for without, within in times)
        rows.append(
            [
                each["position"],
                f"{each['lookups']:,}",
                f"{100 * each['hits'] / each['lookups']:.1f} %",
                f"{statistics.median(each['without']):.2f}",
                f"{statistics.median(each['within']):.2f}",
                f"{ratio:.2f}",
            ]
        )
    headings = ["", "positions asked for", "found", "s without", "s with the cache"]
    yield from table([*headings, "time with the cache"], rows, "lrrrrr")


if __name__ == "__main__":
    sys.exit(main())
