"""An adapter: an enumerated small game behind the `Game` interface of `obscuro.search`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.average import AverageStrategy, Policies, last_iterate
from obscuro.research.games.extensive_form import TERMINAL, State, mix
from obscuro.research.games.game_tree import GameTree, join_ranges
from obscuro.search.game import CHANCE, Expansion
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.subgame import NewRoots
from obscuro.search.tree import (
    EDGES,
    EDGES_PER_NODE,
    LEAF,
    NODES,
    OPEN,
    ROOM_FOR_ROOTS,
    Tree,
    bytes_per_edge,
)


class GameRoots(NamedTuple):
    """The R root states of a search of the whole game. All lie in one J, and chance picks one."""

    states: NDArray[np.uint64]  # [R,1]
    probabilities: NDArray[np.float64]  # [R] sum 1
    keys: NDArray[np.uint64]  # [R,2] the information keys of ▲ and ▼
    values: NDArray[np.float32]  # [R] ▲'s view, in [-1, 1]

    def whole_game(self) -> NewRoots:
        """Return them as the roots of a subgame that is the game itself.

        Its one J has the alternate value −1, the least possible, so ▼ gains nothing by leaving.
        """
        return NewRoots(
            offsets=np.array([0, len(self.states)]),
            states=self.states,
            keys=self.keys,
            weights=self.probabilities.astype(np.float32),
            values=self.values,
            alternate=np.full(1, -1, dtype=np.float32),
        )


class SearchGame(Generic[State]):
    """The `Game` of an enumerated small game. A state is one word, the number of its node.

    Values are payoffs times the game's own `scale`, so they lie in [-1, 1].

    Parameters
    ----------
    tree : GameTree
        The game, as `enumerate_game` returns it.
    evaluate : callable, optional
        Returns the value of a state that is not terminal, in ▲'s view, in [-1, 1]. Without it
        every such state has the value 0.

    """

    state_words: int = 1
    position_words: int = 1

    def __init__(
        self, tree: GameTree[State], evaluate: Callable[[State], float] | None = None
    ) -> None:
        """Evaluate all states."""
        self.tree = tree
        self.scale = tree.game.scale
        self._terminal = (tree.player == TERMINAL).astype(np.uint8)
        self._values = (tree.payoff * self.scale).astype(np.float32)
        if evaluate is not None:
            for node in np.flatnonzero(tree.player != TERMINAL):
                self._values[node] = evaluate(tree.states[node])

    def roots(self) -> GameRoots:
        """Return the first nodes after the opening plies of chance, that is, after the deal.

        Later chance nodes stay in the tree.
        """
        tree = self.tree
        probability = np.ones(len(tree.states))
        dealt = np.zeros(len(tree.states), np.bool_)  # only chance has moved so far
        dealt[0] = True
        for level in tree.deeper_levels():
            above = tree.parent[level]
            dealt[level] = dealt[above] & (tree.player[above] == CHANCE)
            probability[level] = probability[above] * tree.chance[level]
        nodes = np.flatnonzero(dealt & (tree.player != CHANCE))
        return GameRoots(
            states=nodes.astype(np.uint64)[:, np.newaxis],
            probabilities=probability[nodes],
            keys=tree.keys[nodes],
            values=self._values[nodes],
        )

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        """Return all children of B leaves.

        Parameters
        ----------
        states : uint64[B, 1]
            The leaves.
        keys : uint64[B, 2]
            The leaves' information keys of ▲ and ▼. The children's keys are chained to them. They
            need not be the keys of the whole game: a search in which a player's memory begins at
            the roots passes fresh ones.

        Raises
        ------
        ValueError
            If a leaf is terminal.

        """
        tree = self.tree
        leaves = states[:, 0].astype(np.int64)
        if np.any(self._terminal[leaves]):
            raise ValueError("a terminal state has no children")
        degree = tree.degree[leaves]
        children = join_ranges(tree.first[leaves], degree)
        return Expansion(
            player=tree.player[leaves],
            offsets=np.concatenate(([0], np.cumsum(degree))),
            states=children.astype(np.uint64)[:, np.newaxis],
            keys=mix(np.repeat(keys, degree, axis=0), tree.events[children]),
            values=self._values[children],
            terminal=self._terminal[children],
            chance=tree.chance[children].astype(np.float32),
        )


Method = Literal["whole", "one-sided", "two-sided"]
"""PCFR+ on the whole tree, or on a tree that one-sided or two-sided GT-CFR grows."""
METHODS: Final[tuple[Method, ...]] = get_args(Method)

BATCHES_PER_ITERATION = 4  # batches of leaves to expand before each iteration of a growing tree
SETTLING = 0.25  # in this last share of the iterations the tree does not grow

LEAST_VARIANCE: Final = 0.8
"""The least σ in PUCT. With the 0.02 of chess, growth takes too long for a proof.

An action that was never tried and seems worse by `gap` gets its first try after about (gap / σ)²
visits of its infoset (see `selection.explore`). With 0.005, Kuhn poker stays exploitable by 1/12
for more than 4,000 iterations, because ▲ does not learn the value of a check with the king after a
bet.
"""
PARAMETERS: Final = SearchParameters(puct_least_variance=LEAST_VARIANCE)


@dataclass(frozen=True, slots=True)
class Solution:
    """What `solve` has found."""

    average: Policies  # of both players; converges to an equilibrium
    last: Policies  # the last iterate, which a search of chess plays
    value: float  # ▲'s value of the grown tree under the last iterate, in the game's units
    iterations: int
    expansions: int
    tree: Tree


class GameSolver(Generic[State]):
    """Solves one small game step by step.

    Parameters
    ----------
    tree : GameTree
        The game.
    method : Method
        How the tree grows. With "whole" it is complete from the beginning.
    seed : int
        Seeds the search.
    parameters : SearchParameters
        The parameters of the search; `method` sets `one_sided`.
    evaluate : callable, optional
        Returns the value of a state that is not terminal; see `SearchGame`.

    """

    def __init__(
        self,
        tree: GameTree[State],
        method: Method = "one-sided",
        *,
        seed: int = 1,
        parameters: SearchParameters = PARAMETERS,
        evaluate: Callable[[State], float] | None = None,
    ) -> None:
        """Create the root states and, for the method "whole", expand the full tree."""
        game = SearchGame(tree, evaluate)
        self._scale = game.scale
        self._grows = method != "whole"
        parameters = replace(parameters, one_sided=method == "one-sided")
        self._search = _SteppedSearch([game], parameters, _room_for(tree), seed=seed)
        self._search.begin(0, game.roots().whole_game(), [])
        if not self._grows:
            self._search.expand_everything()
        self._average = AverageStrategy(self._search.tree)
        self.iterations = 0

    def run(self, iterations: int, *, grow: bool = True) -> None:
        """Run iterations; with `grow`, expand leaves before each iteration.

        The average strategy covers all iterations (Obscuro, Theorem 1), and late ones weigh most.
        By the same theorem the tree of a finite game stops growing.
        """
        for _ in range(iterations):
            if grow and self._grows:
                self._search.grow(BATCHES_PER_ITERATION)
            self._search.iterate_once()
            self._average.add()
            self.iterations += 1

    def solution(self) -> Solution:
        """Return the result of the iterations so far."""
        tree = self._search.tree
        return Solution(
            average=self._average.policies(),
            last=last_iterate(tree),
            value=self._search.root_value() / self._scale,
            iterations=self.iterations,
            expansions=self._search.progress.expansions,
            tree=tree,
        )


def growing_iterations(iterations: int) -> int:
    """Return during how many of all `iterations` the tree grows."""
    return iterations - int(iterations * SETTLING)


def solve(
    tree: GameTree[Any], iterations: int, method: Method = "one-sided", *, seed: int = 1
) -> Solution:
    """Solve a game by `iterations` iterations; in the last quarter its tree does not grow."""
    solver = GameSolver(tree, method, seed=seed)
    growing = growing_iterations(iterations)
    solver.run(growing)
    solver.run(iterations - growing, grow=False)
    return solver.solution()


class _SteppedSearch(Search):
    """The search, controlled step by step instead of by a clock."""

    def grow(self, batches: int) -> None:
        """Expand up to `batches` batches of leaves."""
        for _ in range(batches):
            if not self.progress.full:
                self.expand_once()

    def expand_everything(self) -> None:
        """Expand all leaves, level by level, until every leaf is terminal."""
        tree = self.tree
        while True:
            status, child = (a[: tree.counts[EDGES]] for a in (tree.edge_status, tree.edge_child))
            edges = np.flatnonzero((status == OPEN) & (child == LEAF)).astype(np.int32)
            if not len(edges):
                return
            firsts = tree.node_first_edge[: tree.counts[NODES]]
            by_first = np.argsort(firsts)
            nodes = by_first[np.searchsorted(firsts[by_first], edges, side="right") - 1]
            expansion = self.games[0].expand(tree.edge_state[edges], tree.edge_keys[edges])
            self.attach(edges, nodes.astype(np.int32), expansion)

    def iterate_once(self) -> None:
        """Run one iteration of the solver."""
        self.solve(0)

    def root_value(self) -> float:
        """Return ▲'s value of the only J under the last iterate, in [-1, 1]."""
        return float(self.gadget.value[0])


def _room_for(tree: GameTree[Any]) -> int:
    """Return a number of bytes that suffices for the search's tree of the whole game."""
    nodes = int(np.count_nonzero(tree.player != TERMINAL)) + ROOM_FOR_ROOTS + 2
    edges = max(EDGES_PER_NODE * nodes, len(tree.states) + ROOM_FOR_ROOTS + 2)
    return int(2 * bytes_per_edge(SearchGame.state_words) * (edges + 1))
