"""Solve a small game by the search that plays chess, as a proof of it.

The tree is grown from the game's root states by GT-CFR, one iteration of PCFR+ after another, as in
a turn of chess but without a clock. The root is one infoset J of ▼ with the alternate value −1, the
least there is: ▼ gains nothing by leaving, so the subgame is the game itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from obscuro.games.extensive_form import TERMINAL, State
from obscuro.games.search_game import SearchGame
from obscuro.games.tree import GameTree
from obscuro.search.average import AverageStrategy, Policies, last_iterate
from obscuro.search.growth import ROOM_FOR_ROOTS
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots
from obscuro.search.tree import EDGES_PER_NODE, NODES, Tree, bytes_per_edge

BATCHES_PER_ITERATION = 4  # of leaves expanded between two iterations while the tree grows
SETTLING = 0.25  # the last share of the iterations, in which the tree does not grow

PUCT_C = 20.0
"""The weight of exploration. With the 1 of chess, growth ends too soon for a proof.

An action whose estimate has settled is picked about √2·C / gap times in all (see
`selection.explore`), where gap is what it seems to lose. With C = 1 that is a handful of times, among
which chance may never lead to the history in which the action is good: Kuhn poker then stays
exploitable by 1/12, because ▲ never learns what a check with the king is worth after a bet.
"""


@dataclass(frozen=True, slots=True)
class Solution:
    """What `solve` has found."""

    average: Policies  # of both players; converges to an equilibrium
    last: Policies  # the last iterate, which a search of chess plays
    value: float  # ▲'s, of the grown tree under the last iterate, in the game's units
    iterations: int
    averaged: int  # iterations in the average
    tree: Tree


class GameSolver(Generic[State]):
    """One small game being solved.

    Parameters
    ----------
    tree : GameTree
        The game.
    parameters : SearchParameters
        `puct_c` and `one_sided` are of interest here.
    evaluate : callable, optional
        The value of a state that is not terminal; see `SearchGame`.

    """

    def __init__(
        self,
        tree: GameTree[State],
        *,
        seed: int = 1,
        parameters: SearchParameters | None = None,
        evaluate: Callable[[State], float] | None = None,
    ) -> None:
        """Place the root states; nothing is expanded yet."""
        game = SearchGame(tree, evaluate)
        self._scale = game.scale
        self._search = _SteppedSearch(
            [game], parameters or SearchParameters(puct_c=PUCT_C), _room_for(tree), seed=seed
        )
        roots = game.roots()
        everything = NewRoots(
            offsets=np.array([0, len(roots.states)]),
            states=roots.states,
            keys=roots.keys,
            weights=roots.probabilities.astype(np.float32),
            values=roots.values,
            alternate=np.full(1, -1, dtype=np.float32),
        )
        self._search.begin(0, everything, [])
        self._average = AverageStrategy(self._search.tree)
        self.iterations = 0

    def run(self, iterations: int, *, grow: bool = True) -> None:
        """Iterate; with `grow`, expand leaves before each iteration.

        Averaging starts anew whenever the tree has grown: what was averaged before are strategies of
        another game. By Theorem 1 of Obscuro the tree of a finite game stops growing.
        """
        for _ in range(iterations):
            if grow and self._search.grow(BATCHES_PER_ITERATION):
                self._average.restart()
            self._search.iterate_once()
            self._average.add()
            self.iterations += 1

    def solution(self) -> Solution:
        """What has been found so far."""
        tree = self._search.tree
        return Solution(
            average=self._average.policies(),
            last=last_iterate(tree),
            value=self._search.root_value() / self._scale,
            iterations=self.iterations,
            averaged=self._average.iterations,
            tree=tree,
        )


def solve(
    tree: GameTree[Any], iterations: int, *, seed: int = 1, one_sided: bool = True
) -> Solution:
    """Solve a game by so many iterations, in the last quarter of which its tree does not grow."""
    parameters = replace(SearchParameters(puct_c=PUCT_C), one_sided=one_sided)
    solver = GameSolver(tree, seed=seed, parameters=parameters)
    settling = int(iterations * SETTLING)
    solver.run(iterations - settling)
    solver.run(settling, grow=False)
    return solver.solution()


class _SteppedSearch(Search):
    """The search, one step at a time instead of by a clock."""

    def grow(self, batches: int) -> bool:
        """Expand so many batches of leaves, as far as some are found; whether the tree has grown."""
        before = self.tree.counts[NODES]
        for _ in range(batches):
            if not self.progress.full:
                self._expand_once()
        return bool(self.tree.counts[NODES] > before)

    def iterate_once(self) -> None:
        """One iteration of the solver."""
        self._solve(0)

    def root_value(self) -> float:
        """▲'s value of the one J there is, as the search sees it."""
        return float(self._gadget.value[0])


def _room_for(tree: GameTree[Any]) -> int:
    """Bytes with which a search's tree cannot become full."""
    nodes = int(np.count_nonzero(tree.player != TERMINAL)) + ROOM_FOR_ROOTS + 2
    edges = max(EDGES_PER_NODE * nodes, len(tree.states) + ROOM_FOR_ROOTS + 2)
    return int(2 * bytes_per_edge(SearchGame.state_words) * (edges + 1))
