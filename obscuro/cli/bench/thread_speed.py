"""How fast several threads iterate on one tree, beside as many threads with a tree each."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from obscuro.cli.bench.common import median
from obscuro.cli.bench.synthetic import HashGame, play_dense
from obscuro.search.joint import JointSolver
from obscuro.search.solver import iterate
from obscuro.search.team import Team
from obscuro.search.tree import Tree, allocate_tree

NO_LIMIT = 2**60  # edges
ROUND_EDGES = 20_000_000  # that a round visits at least, in each of its three parts


@dataclass
class Together:
    """Iterations a second, in each round, on the clock."""

    threads: int
    alone: list[float] = field(default_factory=list)  # one thread, one tree
    joint: list[float] = field(default_factory=list)  # all threads, one tree
    apart: list[float] = field(default_factory=list)  # each thread its own tree; their sum

    @property
    def ratio(self) -> float | None:
        """What the threads reach on one tree of what they reach on trees of their own."""
        return median(a / b for a, b in zip(self.joint, self.apart, strict=True))


def threads_together(tree: Tree, threads: int, rounds: int) -> Together:
    """Measure on copies of a tree, in rounds in which the three ways take turns.

    The tree gets dense strategies.
    """
    gadget = play_dense(tree)
    copies = [(_copy(tree), _copy(gadget)) for _ in range(threads)]
    absent = np.zeros(0, dtype=np.int64)
    iterations = max(2, ROUND_EDGES // (2 * tree.nodes))
    team = Team(threads)
    spare = allocate_tree(len(tree.edge_value), HashGame.state_words, len(tree.node_player))
    solver = JointSolver(tree, spare, gadget, team)
    found = Together(threads)

    def alone(part: int) -> None:
        iterate(*copies[part], iterations, NO_LIMIT, -1, 0, absent)

    def seconds(work: Callable[[], Any]) -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    with ThreadPoolExecutor(threads) as pool:
        for number in range(rounds + 1):
            one = seconds(lambda: alone(0))
            joint = seconds(lambda: solver.iterate(iterations, NO_LIMIT, -1, 0, absent))
            apart = seconds(lambda: list(pool.map(alone, range(threads))))
            if number:  # the first round begins with cold caches
                found.alone.append(iterations / one)
                found.joint.append(iterations / joint)
                found.apart.append(threads * iterations / apart)
    team.close()
    return found


def _copy(arrays: Any) -> Any:
    """A copy of a tree or a gadget."""
    return type(arrays)(*(array.copy() for array in arrays))
