"""A trunk: the game down to a depth limit, the public states there, and both players' ranges.

Kovařík et al., *Value functions for depth-limited solving in zero-sum imperfect-information games*
(V), Definitions 4.2 and 4.29.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree
from obscuro.search.game import CHANCE, MAX, MIN

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class LimitedGame(NamedTuple):
    """A game with a depth limit, and how its public states and ranges are told.

    public: what both players know in a state at the limit: so many small numbers, such as who won
    each round. private: what one player alone knows: its own cards, and its own hidden actions.
    """

    tree: GameTree[Any]
    level: int  # the plies above the limit
    public: Callable[[Any], Sequence[int]]
    private: Callable[[Any, int], Hashable]


class LimitedTrunk:
    """The nodes at the limit that are no ends, in public states and in infosets of both players.

    Attributes
    ----------
    leaves : int64[l]
        The nodes.
    state : int64[l]
        The public state of each, from 0.
    public : int64[m, o]
        The public observations of each public state.
    infoset : [int64[l], int64[l]]
        For ▲ and ▼: the row of each node's infoset in a range of its public state.
    width : (int, int)
        For ▲ and ▼: how many private sequences there are, the length of a range.

    Raises
    ------
    ValueError
        If a public state and a private sequence do not tell infosets apart exactly.

    """

    def __init__(self, game: LimitedGame) -> None:
        """Number public states and private sequences in the order of the nodes."""
        tree = game.tree
        begin, end = tree.levels[game.level], tree.levels[game.level + 1]
        nodes = np.arange(begin, end)
        self.game = game
        self.leaves: Indices = nodes[tree.player[nodes] != TERMINAL]
        states = [tree.states[node] for node in self.leaves.tolist()]
        publics: dict[tuple[int, ...], int] = {}
        self.state: Indices = np.array(
            [publics.setdefault(tuple(game.public(state)), len(publics)) for state in states],
            np.int64,
        )
        self.public: Indices = np.array(list(publics), np.int64).reshape(len(publics), -1)
        self.infoset: list[Indices] = []
        width = []
        for side in (MAX, MIN):
            rows: dict[Hashable, int] = {}
            found = [rows.setdefault(game.private(state, side), len(rows)) for state in states]
            self.infoset.append(np.array(found, np.int64))
            width.append(len(rows))
            self._check(side)
        self.width = width[0], width[1]

    def _check(self, side: int) -> None:
        keys = self.game.tree.keys[self.leaves, side].tolist()
        told = list(zip(self.state.tolist(), self.infoset[side].tolist(), strict=True))
        pairs = set(zip(keys, told, strict=True))
        if not len(pairs) == len(set(keys)) == len(set(told)):
            raise ValueError("public and private observations do not tell the infosets apart")

    def ranges(self, reach: Floats) -> list[Floats]:
        """Return ▲'s and ▼'s ranges: each player's own reach of its infosets, float64[m, width].

        reach: float64[N, 3]. Where a public state has no infoset with a private sequence it is 0.
        """
        found = []
        for side in (MAX, MIN):
            one = np.zeros((len(self.public), self.width[side]))
            one[self.state, self.infoset[side]] = reach[self.leaves, side]
            found.append(one)
        return found

    def counterfactual(self, values: Floats, reach: Floats, side: int) -> Floats:
        """Return a player's counterfactual values of its infosets, float64[m, width].

        values: float64[l], of the nodes, in the player's view. reach: float64[N, 3]. It is the sum
        over an infoset's nodes, each times the reach of it by all but the player.
        """
        others = reach[self.leaves, 1 - side] * reach[self.leaves, CHANCE]
        found = np.zeros((len(self.public), self.width[side]))
        np.add.at(found, (self.state, self.infoset[side]), others * values)
        return found

    def history_values(self, counterfactual: Floats, reach: Floats, side: int) -> Floats:
        """Return values of the nodes, float64[l], whose infosets have these values (Remark 4.31).

        counterfactual: float64[m, width]. All nodes of an infoset get the same one; 0 where the
        others do not reach it.
        """
        ones = np.ones(len(self.leaves))
        mass = self.counterfactual(ones, reach, side)
        mean = np.where(mass > 0.0, counterfactual / np.where(mass > 0.0, mass, 1.0), 0.0)
        found: Floats = mean[self.state, self.infoset[side]]
        return found
