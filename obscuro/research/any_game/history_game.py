"""Any game behind the `Game` interface of `obscuro.search`. A state is the number of a history."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from obscuro.research.any_game.histories import UNNOTICED, HistoryTable
from obscuro.research.any_game.rollouts import LeafValue
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.information import mix
from obscuro.search.game import CHANCE, Expansion

_NO_CHANCE: Final = 0.0


class HistoryGame:
    """The histories of one table as the search expands them.

    Parameters
    ----------
    table : HistoryTable
        The histories; expanded ones are added.
    leaf_value : callable
        The heuristic; see `rollouts.LeafValue`. What it says is scaled, and cut to [-1, 1].

    """

    state_words: int = 1
    position_words: int = 1

    def __init__(self, table: HistoryTable, leaf_value: LeafValue) -> None:
        """Begin without any value."""
        self.table = table
        self._leaf_value = leaf_value
        self._values: dict[int, float] = {}

    def value(self, number: int) -> float:
        """Return ▲'s value of a history, in [-1, 1]: its payoff, or the heuristic's word."""
        known = self._values.get(number)
        if known is not None:
            return known
        table = self.table
        row = table[number]
        if row.player == TERMINAL:
            value = table.payoff(number)
        else:
            value = table.sign * table.game.scale * self._leaf_value(row.state)
        value = min(1.0, max(-1.0, value))
        self._values[number] = value
        return value

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        """Return all children of B leaves, none of them terminal.

        states: uint64[B, 1], their numbers. keys: uint64[B, 2], to which the children's are chained.
        """
        table = self.table
        leaves = [int(number) for number in states[:, 0]]
        below = [table.children(leaf) for leaf in leaves]
        children = [child for part in below for child in part]
        degree = np.array([len(part) for part in below], np.int64)
        chances: list[float] = []
        for leaf, part in zip(leaves, below, strict=True):
            row = table[leaf]
            dealt = row.player == CHANCE
            chances.extend(table.game.chances(row.state) if dealt else [_NO_CHANCE] * len(part))
        rows = [table[child] for child in children]
        events = np.array([row.events for row in rows], np.uint64).reshape(-1, 2)
        above = np.repeat(keys, degree, axis=0)
        return Expansion(
            player=np.array([table[leaf].player for leaf in leaves], np.int8),
            offsets=np.concatenate(([0], np.cumsum(degree))),
            states=np.array(children, np.uint64)[:, np.newaxis],
            keys=np.where(events == UNNOTICED, above, mix(above, events)),
            values=np.array([self.value(child) for child in children], np.float32),
            terminal=np.array([row.player == TERMINAL for row in rows], np.uint8),
            chance=np.array(chances, np.float32),
        )
