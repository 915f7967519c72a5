"""Kernels on a network of random numbers, as wide as the real one, so that they compile once."""

from __future__ import annotations

import functools
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from obscuro.evaluation.nnue.accumulator import refresh
from obscuro.evaluation.nnue.network import Network, arrange, make_workspace
from obscuro.rules.position import Words, from_board
from tests.evaluation.nnue.synthetic import random_network

WIDTH = 1024


@functools.cache
def network() -> Network:
    """Random numbers, small enough that many of the first layer's inputs are neither 0 nor 126.

    The piece values are large enough to decide some positions.
    """
    made_up = random_network(seed=1, width=WIDTH)
    return made_up._replace(
        feature_weights=made_up.feature_weights // 4,
        psqt_weights=made_up.psqt_weights * 64,
        fc0_weights=made_up.fc0_weights // 2,
    )


@functools.cache
def weights() -> Any:
    """The same for the kernels."""
    return arrange(network())


def workspace() -> Any:
    """A new one."""
    return make_workspace(weights())


def words(board: chess.Board) -> Words:
    """A position for kernels that take a row."""
    return from_board(board)


def place(work: Any, frame: int, board: chess.Board) -> tuple[np.uint64, ...]:
    """Put a position and its sums into a frame; returns it as kernels take it."""
    row = from_board(board)
    pos = tuple(row)
    work.positions[frame] = row
    for perspective in (0, 1):
        refresh(weights(), work, frame, pos, perspective)
    return pos


def sums(work: Any, frame: int) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
    """Copies of a frame's sums and psqt values."""
    return work.sums[frame].copy(), work.psqt[frame].copy()
