"""What a player may think happened: all histories that fit its own actions and observations.

The next belief comes from the last one. Past a limit it is a sample. Children that do not fit are
never counted, so nothing is drawn in vain; and if a sample dies out, a search from the start with
random order finds histories again that fit all that was seen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from obscuro.research.any_game.histories import (
    START,
    UNNOTICED,
    GameFaultError,
    HistoryTable,
    chained,
    noticed,
)
from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.search_game import LEAST_VARIANCE
from obscuro.search.game import MAX
from obscuro.search.parameters import SearchParameters

MOST_HISTORIES: Final = 2_000
"""The largest belief, unless the caller says otherwise."""

_SPARE: Final = 4  # times as many histories as are drawn in the end
_REBUILD_VISITS: Final = 50_000  # by then a rebuilt belief takes what it has, if that is anything


class HistoryBelief:
    """▲'s belief. Every history in it is the first one at which ▲ has its present key.

    Parameters
    ----------
    table : HistoryTable
        The histories; those of the belief get numbers.
    most : int
        The most histories to hold; more are sampled.
    seed : int
        Of the random numbers.

    Attributes
    ----------
    numbers : list of int
        The histories.
    exact : bool
        Whether these are all that fit.
    key : int
        ▲'s information key.
    plies : int
        How many plies ▲ has noticed.
    rebuilds : int
        How often a sample died out.

    """

    def __init__(self, table: HistoryTable, most: int = MOST_HISTORIES, seed: int = 1) -> None:
        """Begin at the start of the game."""
        self._table = table
        self._most = max(1, most)
        self._random = np.random.default_rng(seed)
        self._seen = table[START].observations[MAX]
        self._keys = [table[START].keys[MAX]]  # after each ply that ▲ has noticed
        self.numbers = [START]
        self.exact = True
        self.rebuilds = 0

    def __len__(self) -> int:
        """Return how many histories the belief holds."""
        return len(self.numbers)

    def state(self, index: int) -> Any:
        """Return the state of one of the histories, by its place in `numbers`."""
        return self._table[self.numbers[index]].state

    @property
    def key(self) -> int:
        """▲'s information key."""
        return self._keys[-1]

    @property
    def plies(self) -> int:
        """How many plies ▲ has noticed."""
        return len(self._keys) - 1

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """Take in what ▲ did and saw in one ply; one that it does not notice changes nothing.

        own_action: None if someone else moved. Raises GameFaultError if no history fits.
        """
        happened = noticed(own_action, observation, self._seen, self._table.cumulative)
        if happened == UNNOTICED:
            return
        self._seen = observation
        self._keys.append(chained(self.key, happened))
        self._advance(own_action)
        if not self.numbers:
            self._rebuild()

    def include(self, numbers: Iterable[int]) -> None:
        """Add histories at ▲'s present key that a sample may lack; the search has met them."""
        if not self.exact:
            self.numbers = sorted({*self.numbers, *numbers})

    def sample(self, wanted: int, without: set[int]) -> list[int]:
        """Draw up to `wanted` histories that are not in a set, without replacement."""
        left = [number for number in self.numbers if number not in without]
        if len(left) <= wanted:
            return left
        drawn = self._random.choice(len(left), wanted, replace=False)
        return [left[index] for index in sorted(drawn.tolist())]

    def _advance(self, own_action: int | None) -> None:
        """Replace the belief by the histories below it at which ▲ first has its new key."""
        table, before, after = self._table, self._keys[-2], self._keys[-1]
        order = self._random.permutation(len(self.numbers)).tolist()
        pending = [self.numbers[index] for index in order]
        found: list[int] = []
        while pending and len(found) < _SPARE * self._most:
            number = pending.pop()
            actions = table.actions(number)
            if table[number].player == MAX:
                actions = [action for action in actions if action == own_action]
            elif own_action is not None:
                continue
            for action in actions:
                row = table.after(number, action)
                if row.player == TERMINAL:
                    continue
                if row.keys[MAX] == after:
                    found.append(table.number(row))
                elif row.keys[MAX] == before:
                    pending.append(table.number(row))
        self._keep(found, complete=not pending and self.exact)

    def _rebuild(self) -> None:
        """Find histories anew that fit every key so far: depth first, in random order."""
        self.rebuilds += 1
        table, keys = self._table, self._keys
        found: list[int] = []
        pending = [(START, 0)]  # a history, and how many plies ▲ had noticed by then
        visits = 0
        while pending and len(found) < self._most:
            if found and visits > _REBUILD_VISITS:
                break
            visits += 1
            number, done = pending.pop()
            below = []
            for action in table.actions(number):
                row = table.after(number, action)
                if row.player == TERMINAL:
                    continue
                key = row.keys[MAX]
                if key == keys[done + 1]:
                    if done + 2 == len(keys):
                        found.append(table.number(row))
                    else:
                        below.append((table.number(row), done + 1))
                elif key == keys[done]:
                    below.append((table.number(row), done))
            order = self._random.permutation(len(below)).tolist()
            pending.extend(below[index] for index in order)
        self._keep(found, complete=not pending)
        if not found:
            raise GameFaultError(table.game.name, "no history fits what the player did and saw")

    def _keep(self, found: list[int], complete: bool) -> None:
        """Hold what was found, or a sample of it. complete: whether all was found."""
        self.exact = complete and len(found) <= self._most
        if len(found) > self._most:
            drawn = self._random.choice(len(found), self._most, replace=False)
            found = [found[index] for index in drawn.tolist()]
        self.numbers = sorted(found)


PARAMETERS: Final = SearchParameters(
    puct_least_variance=LEAST_VARIANCE, purification=False, soft_root=1.0
)
"""Of the search, unless the caller says otherwise."""
ROLLOUTS: Final = 8
"""Playouts of a leaf, unless the caller says otherwise.

The tree takes the best of many leaves, and a single playout is all or nothing. So with one playout
a leaf the search believes luck (docs/results/any_game.md).
"""
MEMORY: Final = 64
"""MiB for the search's trees, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class PlaySettings:
    """The settings of a `GamePlayer`. A search ends at the first limit that it reaches.

    seconds: of a turn; a player with a limit of time does not repeat itself. iterations: of the
    solver in a turn. nodes: histories that a search adds to its tree. most_histories: of the
    belief; more are sampled. rollouts: playouts of a leaf that no heuristic values. memory: MiB for
    the trees. parameters: of the search, such as `purification` and `unfrozen`.

    The default parameters differ from the engine's in chess: an action that seems bad is tried
    again sooner, and the strategy is played as it is, without purification. In small games both
    make what is played far less exploitable. `soft_root` counts by the share of new roots, so a
    tree that is kept whole has none (docs/research/any_game.md).
    """

    seconds: float | None = None
    iterations: int | None = None
    nodes: int | None = None
    most_histories: int = MOST_HISTORIES
    rollouts: int = ROLLOUTS
    memory: int = MEMORY
    parameters: SearchParameters = PARAMETERS

    def __post_init__(self) -> None:
        """Raise ValueError if there is no limit, or if a number makes no sense."""
        limits = (self.seconds, self.iterations, self.nodes)
        if all(limit is None for limit in limits):
            raise ValueError("set a limit of a turn: seconds, iterations or nodes")
        for name in ("seconds", "iterations", "nodes", "most_histories", "rollouts", "memory"):
            value = getattr(self, name)
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise ValueError(f"{name} must be above 0, not {value}")
