"""What the cache of expansions saves: the same batches with it and without.

    python -m tools.speed.cache_gain --evaluator nnue --movetime 3000

Three fixed positions are played on for some moves, without a cache, and all that the engine asks
its evaluator about is kept. The batches are then evaluated again, in turns with a cache and without, in the
seconds that this thread has worked (for `nnue` and `material`), or that have passed (`stockfish`).
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from obscuro.bench import following
from obscuro.bench.following import POSITIONS, Follower
from obscuro.engine.memory import MEBIBYTE
from obscuro.evaluation.cache import CachedEvaluator, ExpansionCache
from obscuro.evaluation.evaluator import ChildValues, Evaluator
from obscuro.evaluation.factory import BUILT_IN, make_evaluator, unwrapped


class Recorder:
    """Passes batches on, and keeps a copy of each."""

    def __init__(self, evaluator: Evaluator, batches: list[np.ndarray]) -> None:
        self._evaluator = evaluator
        self._batches = batches

    def __getattr__(self, name: str) -> object:
        return getattr(self._evaluator, name)

    def evaluate(self, positions: np.ndarray) -> ChildValues:
        self._batches.append(positions.copy())
        return self._evaluator.evaluate(positions)


def record(
    position: following.Position, evaluator: str, movetime: int, moves: int
) -> list[np.ndarray]:
    """What one side's searches ask for, from a position on."""
    batches: list[np.ndarray] = []
    follower = Follower(position, threads=2, evaluator=evaluator, hash_mib=512)
    for game in follower.games:
        game.evaluator = Recorder(unwrapped(game.evaluator), batches)
    for _ in range(moves):
        follower.think(movetime=movetime)
        if not follower.play_on():
            break
    follower.close()
    return batches


def seconds(evaluator: Evaluator, batches: list[np.ndarray], clock: object) -> float:
    """How long all batches take."""
    evaluator.forget()
    evaluator.evaluate(batches[0][:1])
    begin = clock()  # type: ignore[operator]
    for batch in batches:
        evaluator.evaluate(batch)
    return float(clock() - begin)  # type: ignore[operator]


def main() -> None:
    """Measure, and print a line for each position."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--evaluator", choices=BUILT_IN, default="nnue")
    parser.add_argument("--movetime", type=int, default=3000, help="milliseconds of a search")
    parser.add_argument("--moves", type=int, default=4, help="searches from each position")
    parser.add_argument("--mebibytes", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    clock = time.perf_counter if arguments.evaluator == "stockfish" else time.thread_time
    for position in POSITIONS:
        source = "nnue" if arguments.evaluator == "material" else arguments.evaluator
        batches = record(position, source, arguments.movetime, arguments.moves)
        plain = make_evaluator(arguments.evaluator)
        plain.start()
        cache = ExpansionCache(arguments.mebibytes * MEBIBYTE)
        cached = CachedEvaluator(plain, cache)
        without, within = [], []
        for _ in range(arguments.repeat):
            without.append(seconds(plain, batches, clock))
            before = cache.use
            within.append(seconds(cached, batches, clock))
            use = cache.use.since(before)
        plain.close()
        ratio = statistics.median(b / a for a, b in zip(without, within, strict=True))
        print(
            f"{position.name}: {use.lookups} positions, {use.hits / use.lookups:.1%} found, "
            f"{statistics.median(without):.2f} s without, {statistics.median(within):.2f} s with: "
            f"{ratio:.3f} of the time",
            flush=True,
        )


if __name__ == "__main__":
    main()
