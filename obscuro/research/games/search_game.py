"""An adapter: an enumerated small game behind the `Game` interface of `obscuro.search`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL, State
from obscuro.research.games.game_tree import GameTree, join_ranges
from obscuro.research.games.information import mix
from obscuro.search.game import CHANCE, Expansion
from obscuro.search.subgame import NewRoots


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
