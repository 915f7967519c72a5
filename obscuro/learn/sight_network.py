"""A small network on pieces, squares and sight: how much of the aim is there to be explained.

It is a yardstick for the linear model, and no evaluator plays with it. Its inputs are 2 · 6 · 64 · 2
planes (whose piece, which, where, whether the other side sees it) in the view of the side to move, and
the value of the leaf. One hidden layer leads to pawns, MOST_PAWNS at most.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.evaluation.fog_values.correction import MOST_PAWNS, SLOPE_PAWNS
from obscuro.evaluation.fog_values.sight_masks import sight_masks
from obscuro.evaluation.scale import TAU
from obscuro.learn.problem import SEARCH, Floats, Problem
from obscuro.rules.layout import STATE, WHITE

PLANES = 2 * 6 * 2 * 64
HIDDEN = 16
EPOCHS = 8
_BATCH = 256
_RATE = 1e-3
_DECAY = 1e-4  # of the weights, at each step
_MOMENTS = (0.9, 0.999)  # Adam
_TINY = 1e-8
_STOPPING = 0.1  # of the games choose the number of epochs

Inputs = npt.NDArray[np.uint8]
Singles = npt.NDArray[np.float32]


class SightNetwork(NamedTuple):
    """The network's parameters."""

    first: Singles  # [PLANES + 1, HIDDEN]
    first_bias: Singles  # [HIDDEN]
    second: Singles  # [HIDDEN]
    second_bias: Singles  # [1]

    def pawns(self, planes: Inputs, leaf_pawns: Floats) -> Floats:
        """Return what to add to leaves, float64[n] in pawns.

        planes: uint8[n, PLANES] of `sight_planes`. leaf_pawns: float64[n].
        """
        parts = range(0, len(planes), 8192)
        found = [
            _forward(self, _batch(planes[at : at + 8192], leaf_pawns[at : at + 8192]))[1]
            for at in parts
        ]
        return np.concatenate(found).astype(np.float64) if found else np.zeros(0)


def sight_planes(states: npt.NDArray[np.uint64]) -> Inputs:
    """Return the inputs of positions uint64[n, 8], uint8[n, PLANES].

    A plane has 64 squares, a1 first, from the side of the side to move. The order of the planes is:
    its pieces and then the other side's; pawn to king; unseen by the other side, and seen.
    """
    black = (states[:, STATE] & np.uint64(1)).astype(bool)
    white = states[:, WHITE]
    own = np.where(black, ~white, white)
    seen = sight_masks(states)
    boards = np.empty((len(states), 2, 6, 2), np.uint64)
    for owner, (mask, sight) in enumerate(((own, seen[:, 1]), (~own, seen[:, 0]))):
        pieces = states[:, :6] & mask[:, None]
        boards[:, owner, :, 0] = pieces & ~sight[:, None]
        boards[:, owner, :, 1] = pieces & sight[:, None]
    boards[black] = boards[black].byteswap()  # turns the ranks round
    octets = np.ascontiguousarray(boards.reshape(len(states), -1)).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def train(problem: Problem, planes: Inputs, seed: int = 1) -> SightNetwork:
    """Fit the network. A part of the games is not learned from: it says after which epoch to stop.

    planes: uint8[n, PLANES], the inputs of the problem's positions.
    """
    random = np.random.default_rng(seed)
    games = np.unique(problem.game)
    apart = random.permutation(games)[: max(round(_STOPPING * len(games)), 1)]
    stopping = np.isin(problem.game, apart)
    learning = np.flatnonzero(~stopping)
    judged = problem.where(stopping)
    network = _fresh(random)
    best, least = network, judged.mean(judged.losses(judged.values()))
    moments = [(np.zeros_like(each), np.zeros_like(each)) for each in network]
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(learning)
        for at in range(0, len(order), _BATCH):
            step += 1
            rows = np.sort(order[at : at + _BATCH])
            network = _adam(
                network, _gradients(network, problem.where(rows), planes[rows]), moments, step
            )
        loss = judged.mean(
            judged.losses(judged.values(network.pawns(planes[stopping], judged.pawns)))
        )
        if loss < least:
            best, least = network, loss
    return best


def _fresh(random: np.random.Generator) -> SightNetwork:
    """Return a network that adds nothing yet."""
    first = random.normal(0, 0.05, (PLANES + 1, HIDDEN)).astype(np.float32)
    zeros = np.zeros(HIDDEN, np.float32)
    return SightNetwork(first, zeros, zeros.copy(), np.zeros(1, np.float32))


def _batch(planes: Inputs, leaf_pawns: Floats) -> Singles:
    scaled = np.clip(leaf_pawns, -SLOPE_PAWNS, SLOPE_PAWNS) / SLOPE_PAWNS
    return np.concatenate([planes, scaled[:, None]], axis=1, dtype=np.float32, casting="unsafe")


def _forward(network: SightNetwork, inputs: Singles) -> tuple[Singles, Singles]:
    """Return the hidden layer float32[n, HIDDEN], and pawns float32[n]."""
    hidden = np.maximum(inputs @ network.first + network.first_bias, 0)
    return hidden, MOST_PAWNS * np.tanh(hidden @ network.second + network.second_bias)


def _gradients(network: SightNetwork, batch: Problem, planes: Inputs) -> SightNetwork:
    """Return the slope of a batch's mean loss, in the form of a network."""
    inputs = _batch(planes, batch.pawns)
    hidden, pawns = _forward(network, inputs)
    values = batch.values(pawns.astype(np.float64))
    pull = (values - batch.aim) / TAU
    if batch.target == SEARCH:
        pull = 2 * pull * (1 - values**2)
    pull = pull * batch.weight / batch.weight.sum()
    out = (pull * (MOST_PAWNS - pawns**2 / MOST_PAWNS)).astype(np.float32)
    back = np.outer(out, network.second) * (hidden > 0)
    return SightNetwork(inputs.T @ back, back.sum(axis=0), hidden.T @ out, out.sum(keepdims=True))


def _adam(
    network: SightNetwork,
    slope: SightNetwork,
    moments: list[tuple[Singles, Singles]],
    step: int,
) -> SightNetwork:
    """Return the network after a step (Kingma and Ba 2015); the moments change."""
    after = []
    for each, gradient, moment in zip(network, slope, moments, strict=True):
        mean, square = moment
        np.add(mean, (1 - _MOMENTS[0]) * (gradient - mean), out=mean)
        np.add(square, (1 - _MOMENTS[1]) * (gradient**2 - square), out=square)
        part = mean / (1 - _MOMENTS[0] ** step)
        size = np.sqrt(square / (1 - _MOMENTS[1] ** step)) + _TINY
        after.append((each * (1 - _DECAY) - _RATE * part / size).astype(np.float32))
    return SightNetwork(*after)
