"""A network from a state to its value in an equilibrium, for the leaves of a search in play.

V's value functions (Section 7 has them in play) depend on both players' ranges. The search of
`research.any_game` asks once what a leaf is worth, before it knows any range. So this network learns
one value of each history: what the first player gets if both go on by a given strategy. That is the
value function of V's Section 4.3.1 with a single continuation strategy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree
from obscuro.research.value_functions.value_network import (
    NetworkShape,
    Singles,
    ValueNetwork,
    fit,
    root_mean_square,
    untrained,
)

Place = tuple[int, ...]
"""Where an integer stands in a state: its index in the tuple, in the tuple within it, ..."""


class StateEncoding:
    """One-hot vectors of states that are nested tuples of integers, as those of `research.games`.

    There is one column for each place of a state and each integer that stands there in any of the
    given states. What the given states do not have is not encoded.
    """

    def __init__(self, states: Iterable[Any]) -> None:
        """Look at all states that are to be told apart."""
        self._columns: dict[tuple[Place, int], int] = {}
        for state in states:
            for found in _integers(state, ()):
                self._columns.setdefault(found, len(self._columns))

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._columns)

    def __call__(self, states: Sequence[Any]) -> Singles:
        """Return the vectors of n states, float32[n, columns]."""
        encoded = np.zeros((len(states), len(self)), np.float32)
        for row, state in enumerate(states):
            columns = (self._columns.get(found) for found in _integers(state, ()))
            encoded[row, [column for column in columns if column is not None]] = 1.0
        return encoded


def _integers(part: Sequence[Any], above: Place) -> Iterator[tuple[Place, int]]:
    for index, each in enumerate(part):
        place = (*above, index)
        if isinstance(each, tuple):
            yield from _integers(each, place)
        else:
            yield place, int(each)


@dataclass(frozen=True, slots=True)
class HistoryValues:
    """A network as the heuristic of a `GamePlayer`."""

    encoding: StateEncoding
    network: ValueNetwork

    def __call__(self, state: Any) -> float:
        """Return what the first player is expected to get, in the game's units."""
        return float(self.of([state])[0])

    def of(self, states: Sequence[Any]) -> NDArray[np.float32]:
        """Return the values of n states, float32[n]."""
        found: NDArray[np.float32] = self.network.outputs(self.encoding(states))[:, 0]
        return found * np.float32(self.network.unit)


class LearnedValues(NamedTuple):
    """What `learn_values` returns."""

    values: HistoryValues
    learned: int  # histories that it learned from
    held: int  # that it did not
    unexplained: float  # of the latter, the squared errors as a share of the squared values


def learn_values(
    tree: GameTree[Any],
    values: NDArray[np.float64],
    shape: NetworkShape,
    *,
    epochs: int,
    held_share: float,
    seed: int = 1,
) -> LearnedValues:
    """Fit a network to the values of a game's histories, some of which it is not shown.

    Parameters
    ----------
    tree : GameTree
        The game. Its states are nested tuples of integers.
    values : float64[N]
        The first player's value of each node, in the game's units.
    shape : NetworkShape
        The hidden layers.
    epochs : int
        How often each example is learned from.
    held_share : float
        The share of the histories that are kept from it, in (0, 1). Ends are never shown.
    seed : int
        Of the network's first weights, the order of the examples, and which are kept from it.

    """
    nodes = np.flatnonzero(tree.player != TERMINAL)
    nodes = np.random.default_rng(seed).permutation(nodes)
    held, learned = np.split(nodes, [max(1, round(held_share * len(nodes)))])
    encoding = StateEncoding(tree.states[node] for node in nodes.tolist())
    inputs = encoding([tree.states[node] for node in learned.tolist()])
    aims = values[learned, np.newaxis].astype(np.float32)
    network = untrained(len(encoding), shape, 1, unit=root_mean_square(aims), seed=seed)
    found = HistoryValues(
        encoding, deque(fit(network, inputs, aims, epochs=epochs, seed=seed), 1)[0]
    )
    missed = found.of([tree.states[node] for node in held.tolist()]) - values[held]
    unexplained = float((missed**2).sum() / (values[held] ** 2).sum())
    return LearnedValues(found, len(learned), len(held), unexplained)
