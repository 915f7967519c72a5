"""A network from a public state and both ranges to the counterfactual values of all infosets.

The encoding is V's, Section 6.1.5: each public observation as a one-hot vector, then the reach of
each of ▲'s and ▼'s private sequences. Ours is that ranges are divided by their sums first. A
player's counterfactual values do not change with its own sum, and are in proportion to the other's,
so a network need not learn that. Hidden layers are rectified, the output is linear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.goofspiel import Goofspiel, GoofspielState, Stake
from obscuro.research.games.leduc import LeducPoker, PacedLeduc, PacedLeducState
from obscuro.research.games.oshi_zumo import OshiZumo, OshiZumoState
from obscuro.research.value_functions.limited_trunk import LimitedGame, LimitedTrunk
from obscuro.research.value_functions.random_trunks import Examples
from obscuro.search.game import MAX

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

BATCH: Final = 256
DELTA: Final = 1.0
"""The Huber loss is linear in errors above this, in units of an output."""
RATES: Final = ((0.0, 1e-3), (0.5, 3e-4), (0.7, 1e-4), (0.85, 3e-5))
"""From so much of the training on, Adam's rate is this. V does not say its own."""


@lru_cache(maxsize=1)  # a trunk is solved by thousands of questions about the same states
def encoded_states(trunk: LimitedTrunk) -> Singles:
    """Return each public state's observations as one-hot vectors, float32[m, e]; read-only."""
    columns = []
    for observed in trunk.public.T:
        columns.append(np.eye(int(observed.max()) + 1, dtype=np.float32)[observed])
    encoded = np.concatenate(columns, axis=1)
    encoded.flags.writeable = False
    return encoded


class NetworkShape(NamedTuple):
    """The hidden layers of a network, and the neurons of each."""

    layers: int
    neurons: int

    @property
    def hidden(self) -> tuple[int, ...]:
        """The size of each hidden layer."""
        return (self.neurons,) * self.layers


class ValueQuestions(NamedTuple):
    """What a network is asked in n cases, and what its answers are multiplied by."""

    inputs: Singles  # [n, e + w]
    factors: Singles  # [n, w]


def ask(
    trunk: LimitedTrunk, state: NDArray[np.int64], ranges: Singles, *, sums: bool
) -> ValueQuestions:
    """Return the questions for public states and ranges.

    state: int64[n]. ranges: float32[n, w], ▲'s, then ▼'s. sums: divide the ranges by their sums, and
    multiply each player's values by the sum of the other's; else the ranges stay, as V's do.
    """
    factors = np.ones_like(ranges)
    if sums:
        cut = trunk.width[MAX]
        halves = slice(None, cut), slice(cut, None)
        mine, theirs = (ranges[:, half].sum(axis=1, keepdims=True) for half in halves)
        factors[:, :cut], factors[:, cut:] = theirs, mine
        ranges = ranges.copy()
        for half, total in zip(halves, (mine, theirs), strict=True):
            ranges[:, half] /= np.where(total > 0.0, total, 1.0)
    return ValueQuestions(np.concatenate([encoded_states(trunk)[state], ranges], axis=1), factors)


class ValueNetwork(NamedTuple):
    """The weights and the biases of each layer.

    unit: what an output of 1 is worth, in game units. sums: whether ranges are divided by their sums.
    """

    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]
    unit: float
    sums: bool = True

    def outputs(self, inputs: Singles) -> Singles:
        """Return the outputs, float32[n, w], of inputs float32[n, e + w]."""
        layer = inputs
        last = len(self.weights) - 1
        for number, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            layer = layer @ weight + bias
            if number < last:
                np.maximum(layer, 0.0, out=layer)
        return layer

    def values(
        self, trunk: LimitedTrunk, state: NDArray[np.int64], ranges: Singles
    ) -> NDArray[np.float32]:
        """Return counterfactual values, float32[n, w], each in its player's view and game units.

        state: int64[n]. ranges: float32[n, w], ▲'s, then ▼'s.
        """
        asked = ask(trunk, state, ranges, sums=self.sums)
        found: Singles = self.outputs(asked.inputs) * asked.factors * np.float32(self.unit)
        return found

    def save(self, path: Path) -> None:
        """Write the network into a file of numpy's (.npz)."""
        arrays: dict[str, Any] = {f"weight{n}": each for n, each in enumerate(self.weights)}
        arrays |= {f"bias{n}": each for n, each in enumerate(self.biases)}
        arrays |= {"unit": np.float64(self.unit), "sums": np.bool_(self.sums)}
        np.savez_compressed(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> ValueNetwork:
        """Read what `save` wrote."""
        with np.load(path) as file:
            count = sum(name.startswith("weight") for name in file.files)
            return cls(
                tuple(file[f"weight{n}"] for n in range(count)),
                tuple(file[f"bias{n}"] for n in range(count)),
                float(file["unit"]),
                bool(file["sums"]),
            )


class NetworkValues:
    """A network as the value function of one trunk."""

    def __init__(self, network: ValueNetwork, trunk: LimitedTrunk) -> None:
        self._network = network
        self._states = np.arange(len(trunk.public))

    def __call__(self, trunk: LimitedTrunk, reach: Floats) -> list[Floats]:
        """Return both players' counterfactual values, float64[m, width]."""
        ranges = np.concatenate(trunk.ranges(reach), axis=1).astype(np.float32)
        values = self._network.values(trunk, self._states, ranges).astype(np.float64)
        cut = trunk.width[MAX]
        return [values[:, :cut], values[:, cut:]]


def rate_starts(epochs: int) -> dict[int, float]:
    """Return the epochs, from 0, at which Adam's rate changes, and its rate from there on."""
    return {math.ceil(share * epochs): rate for share, rate in RATES}


class _Adam:
    """Adam (Kingma and Ba 2015), on arrays that it changes in place."""

    _MEAN, _SQUARE, _LEAST = 0.9, 0.999, 1e-8

    def __init__(self, parameters: Sequence[Singles]) -> None:
        self._parameters = parameters
        self._means = [np.zeros_like(each) for each in parameters]
        self._squares = [np.zeros_like(each) for each in parameters]
        self._steps = 0

    def step(self, gradients: Sequence[Singles], rate: float) -> None:
        """Go one step against the gradients, one for each array."""
        self._steps += 1
        rate *= math.sqrt(1 - self._SQUARE**self._steps) / (1 - self._MEAN**self._steps)
        each = zip(self._parameters, self._means, self._squares, gradients, strict=True)
        for parameter, mean, square, gradient in each:
            mean[...] += (1 - self._MEAN) * (gradient - mean)
            square[...] += (1 - self._SQUARE) * (gradient * gradient - square)
            parameter[...] -= rate * mean / (np.sqrt(square) + self._LEAST)


def gradients(
    network: ValueNetwork, inputs: Singles, aims: Singles, *, huber: bool
) -> list[Singles]:
    """Return the loss's gradients by the weights, then by the biases.

    inputs: float32[n, e + w]. aims: float32[n, w]. The loss is half of the squared error, or Huber's,
    summed over outputs, its mean over examples.
    """
    layers = [inputs]
    last = len(network.weights) - 1
    for number, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        layer = layers[-1] @ weight + bias
        layers.append(np.maximum(layer, 0.0) if number < last else layer)
    error = layers.pop() - aims
    if huber:
        np.clip(error, -DELTA, DELTA, out=error)
    error /= np.float32(len(inputs))
    found: list[Singles] = []
    sums: list[Singles] = []
    for weight, layer in zip(network.weights[::-1], layers[::-1], strict=True):
        found.append(layer.T @ error)
        sums.append(error.sum(axis=0))
        error = (error @ weight.T) * (layer > 0.0)
    return found[::-1] + sums[::-1]


def train(
    trunk: LimitedTrunk,
    examples: Examples,
    shape: NetworkShape,
    *,
    epochs: int,
    seed: int = 1,
    sums: bool = True,
    huber: bool = False,
    start: ValueNetwork | None = None,
) -> Iterator[ValueNetwork]:
    """Fit a network by Adam, and yield it after every epoch.

    examples: those to learn from. sums: as `ask` takes it. huber: minimise V's loss, in place of the
    squared error. start: the network to go on from; its shape, unit and sums stay. Else an output of
    1 stands for the aims' root mean square: Adam's steps don't get smaller with the aims.
    """
    sums = sums if start is None else start.sums
    inputs, factors = ask(trunk, examples.state, examples.ranges, sums=sums)
    aims = (examples.values / np.where(factors > 0.0, factors, 1.0)).astype(np.float32)
    if start is None:
        unit = root_mean_square(aims)
        start = random_network(trunk, shape, unit=unit, seed=seed)._replace(sums=sums)
    yield from fit(start, inputs, aims, epochs=epochs, seed=seed, huber=huber)


def root_mean_square(aims: Singles) -> float:
    """Return what an output of 1 is to stand for, for aims float32[n, w]; 1 if all are 0."""
    return float(np.sqrt((aims.astype(np.float64) ** 2).mean())) or 1.0


def fit(
    start: ValueNetwork,
    inputs: Singles,
    aims: Singles,
    *,
    epochs: int,
    seed: int = 1,
    huber: bool = False,
) -> Iterator[ValueNetwork]:
    """Go on from a network by Adam, and yield it after every epoch.

    inputs: float32[n, e]. aims: float32[n, w], in game units. huber: see `gradients`.
    """
    random = np.random.default_rng(seed)
    aims = aims / np.float32(start.unit)
    network = _copied(start)
    adam = _Adam([*network.weights, *network.biases])
    starts, rate = rate_starts(epochs), 0.0
    for epoch in range(epochs):
        rate = starts.get(epoch, rate)
        order = random.permutation(len(inputs))
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            adam.step(gradients(network, inputs[batch], aims[batch], huber=huber), rate)
        yield _copied(network)


def _copied(network: ValueNetwork) -> ValueNetwork:
    return network._replace(
        weights=tuple(each.copy() for each in network.weights),
        biases=tuple(each.copy() for each in network.biases),
    )


def random_network(
    trunk: LimitedTrunk, shape: NetworkShape, *, unit: float, seed: int
) -> ValueNetwork:
    """Return a trunk's network that has learned nothing. unit: as a trained one's."""
    width = sum(trunk.width)
    return untrained(encoded_states(trunk).shape[1] + width, shape, width, unit=unit, seed=seed)


def untrained(
    inputs: int, shape: NetworkShape, outputs: int, *, unit: float, seed: int
) -> ValueNetwork:
    """Return a network of so many inputs and outputs that has learned nothing (He et al. 2015)."""
    random = np.random.default_rng(seed)
    sizes = [inputs, *shape.hidden, outputs]
    weights = [
        random.normal(0.0, np.sqrt(2.0 / above), (above, below)).astype(np.float32)
        for above, below in pairwise(sizes)
    ]
    biases = [np.zeros(below, np.float32) for below in sizes[1:]]
    return ValueNetwork(tuple(weights), tuple(biases), unit)


class Losses(NamedTuple):
    """Mean losses of examples, with values divided by the game's greatest payoff (V, Appendix D).

    Outputs that stand for no infoset count as well, with the aim 0.
    """

    huber: float  # with δ = 1, the mean of all outputs
    l1: float  # the mean of all outputs
    l_infinity: float  # the greatest of each example, their mean
    unexplained: float  # squared errors as a share of squared values; needs no unit


def losses(network: ValueNetwork, trunk: LimitedTrunk, examples: Examples) -> Losses:
    """Return what a network misses."""
    found = network.values(trunk, examples.state, examples.ranges)
    missed = np.abs(found - examples.values) * trunk.game.tree.game.scale
    squared = float((missed.astype(np.float64) ** 2).sum())
    aims = examples.values.astype(np.float64) * trunk.game.tree.game.scale
    return Losses(
        float(np.where(missed < 1.0, missed**2 / 2, missed - 0.5).mean()),
        float(missed.mean()),
        float(missed.max(axis=1).mean()),
        squared / float((aims**2).sum()),
    )


class Domain(NamedTuple):
    """A game of the experiments, and the network that V trained for it (Table 2)."""

    title: str
    make: Callable[[], LimitedGame]
    shape: NetworkShape
    strategies: int  # random trunk strategies of the training data


def goofspiel(cards: int, rounds_above: int, stake: Stake = "points") -> LimitedGame:
    """Return Goofspiel, highest card first, with a limit after `rounds_above`."""
    game = Goofspiel(cards, "decreasing", stake=stake)
    return LimitedGame(
        enumerate_game(game),
        2 * rounds_above,
        _winners,
        lambda state, player: state.bids[player],
    )


def _winners(state: GoofspielState) -> list[int]:
    return [1 + (a > b) - (a < b) for a, b in zip(*state.bids, strict=True)]


def oshi_zumo(game: OshiZumo, rounds_above: int) -> LimitedGame:
    """Return Oshi-zumo with a limit after `rounds_above`."""

    def pushes(state: OshiZumoState) -> list[int]:
        return [1 + push for push in game.pushes(state)]

    return LimitedGame(
        enumerate_game(game),
        2 * rounds_above,
        pushes,
        lambda state, player: state.bids[player],
    )


def leduc(poker: LeducPoker) -> LimitedGame:
    """Return Leduc poker with a limit after the public card."""
    game = PacedLeduc(poker)
    bets: dict[tuple[int, ...], int] = {}

    def public(state: PacedLeducState) -> list[int]:
        poker = state.poker
        return [bets.setdefault(poker.first, len(bets)), game.poker.seen(poker.cards[-1])]

    def private(state: PacedLeducState, player: int) -> int:
        return game.poker.seen(state.poker.cards[player])

    return LimitedGame(enumerate_game(game), game.limit, public, private)


DOMAINS: Final[dict[str, Domain]] = {
    "goofspiel": Domain("Goofspiel, 5 cards", lambda: goofspiel(5, 2), NetworkShape(5, 500), 2000),
    "goofspiel_v": Domain(
        "Goofspiel, V's", lambda: goofspiel(5, 2, "win"), NetworkShape(5, 500), 2000
    ),
    "oshi_zumo": Domain(
        "Oshi-zumo, 8 coins", lambda: oshi_zumo(OshiZumo(), 3), NetworkShape(4, 400), 2000
    ),
    "oshi_zumo_v": Domain(
        "Oshi-zumo, V's",
        lambda: oshi_zumo(OshiZumo(push_on=True), 3),
        NetworkShape(4, 400),
        2000,
    ),
    "leduc": Domain("Leduc poker", lambda: leduc(LeducPoker()), NetworkShape(6, 200), 812),
    "leduc_v": Domain(
        "Leduc poker, V's",
        lambda: leduc(LeducPoker(3, 2, ranks=True)),
        NetworkShape(6, 200),
        812,
    ),
}
"""V's games by its words, and as its Table 3 and its constant values have them."""
