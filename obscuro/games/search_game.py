"""A small game as `obscuro.search` plays it: the `Game` interface over an enumerated tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.games.extensive_form import TERMINAL, State
from obscuro.games.game_tree import GameTree
from obscuro.games.information import mix
from obscuro.search.game import CHANCE, Expansion


class GameRoots(NamedTuple):
    """The R states a search of the whole game starts from: one J, in which chance picks one."""

    states: NDArray[np.uint64]  # [R,1]
    probabilities: NDArray[np.float64]  # [R] they add up to 1
    keys: NDArray[np.uint64]  # [R,2] the information keys of ▲ and ▼
    values: NDArray[np.float32]  # [R] ▲'s view, in [-1, 1]


class SearchGame(Generic[State]):
    """The `Game` of an enumerated small game. A state is one word, the number of its node.

    Payoffs are multiplied with `scale`, the game's own, so that they lie in [-1, 1].

    Parameters
    ----------
    tree : GameTree
        The game, as `enumerate_game` writes it out.
    evaluate : callable, optional
        The value of a state that is not terminal, in ▲'s view and in [-1, 1]. The default finds
        every such state worth 0.

    """

    state_words: int = 1

    def __init__(
        self, tree: GameTree[State], evaluate: Callable[[State], float] | None = None
    ) -> None:
        """Evaluate all states once."""
        self.tree = tree
        self.scale = tree.game.scale
        self._terminal = (tree.player == TERMINAL).astype(np.uint8)
        self._values = (tree.payoff * self.scale).astype(np.float32)
        if evaluate is not None:
            for node in np.flatnonzero(tree.player != TERMINAL):
                self._values[node] = evaluate(tree.states[node])

    def roots(self) -> GameRoots:
        """The nodes at which chance's opening plies (the deal) have brought the game to a player.

        Chance nodes further down stay in the tree.
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
        """All children of the leaves `states` [B,1] that are known under `keys` [B,2].

        The children's keys are chained to `keys`, whether or not these are the keys of the whole
        game: a search that lets a player start to know only here passes fresh ones.

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
        offsets = np.concatenate(([0], np.cumsum(degree)))
        shift = np.repeat(tree.first[leaves] - offsets[:-1], degree)
        children = shift + np.arange(offsets[-1])
        return Expansion(
            player=tree.player[leaves],
            offsets=offsets,
            states=children.astype(np.uint64)[:, np.newaxis],
            keys=mix(np.repeat(keys, degree, axis=0), tree.events[children]),
            values=self._values[children],
            terminal=self._terminal[children],
            chance=tree.chance[children].astype(np.float32),
        )
