"""Stockfish's network from a board to its value, slowly: an oracle for fast kernels.

One number after the other, with python-chess for the board. It follows the published description of
the network (docs/nnue.md of nnue-pytorch), and shares nothing with the kernels but the arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from obscuro.evaluation.nnue.network import BUCKETS, Network


class Values(NamedTuple):
    """What the network says, for the side to move, in sixteenths of Stockfish's units."""

    psqt: list[int]  # [BUCKETS] the inputs' own values
    positional: list[int]  # [BUCKETS] the layers' output
    bucket: int  # the one that counts for this board


def feature(
    perspective: chess.Color, king: chess.Square, square: chess.Square, piece: chess.Piece
) -> int:
    """The index of the input "this piece stands here", as this side with its king there sees it.

    Both sides see the board from their own side, and mirrored if their king is on files a to d.
    """

    def seen(where: chess.Square) -> chess.Square:
        if perspective == chess.BLACK:
            where = chess.square_mirror(where)
        return where ^ 7 if chess.square_file(king) < 4 else where

    kind = 2 * (piece.piece_type - 1) + (piece.color != perspective)
    kind = min(kind, 10)  # both kings are of one kind
    row, column = 7 - chess.square_rank(seen(king)), 7 - chess.square_file(seen(king))
    return (4 * row + column) * 704 + kind * 64 + seen(square)


def features(board: chess.Board, perspective: chess.Color) -> list[int]:
    """All inputs that are on, for one side."""
    king = board.king(perspective)
    assert king is not None
    return [feature(perspective, king, *item) for item in board.piece_map().items()]


def accumulate(
    network: Network, board: chess.Board, perspective: chess.Color
) -> tuple[NDArray[Any], NDArray[Any]]:
    """One side's accumulator, int64[L1], and its psqt values, int64[BUCKETS]."""
    on = features(board, perspective)
    total = network.feature_bias + network.feature_weights[on].astype(np.int64).sum(axis=0)
    return total, network.psqt_weights[on].astype(np.int64).sum(axis=0)


def transform(network: Network, board: chess.Board) -> NDArray[Any]:
    """The inputs of the first layer, int64[L1] in [0, 126]: the side to move's come first."""
    halves = []
    for perspective in (board.turn, not board.turn):
        clipped = np.clip(accumulate(network, board, perspective)[0], 0, 127)
        first, second = np.split(clipped, 2)
        halves.append(first * second // 128)
    return np.concatenate(halves)


def propagate(
    network: Network, inputs: NDArray[Any], bucket: int, *, as_stockfish: bool = False
) -> int:
    """The output of one bucket's layers, in sixteenths of a unit.

    as_stockfish: with its overflow, which turns the sign of values of about 45 pawns and more.
    """
    first = network.fc0_bias[bucket] + network.fc0_weights[bucket].astype(np.int64) @ inputs
    squared = [min(127, int(x) ** 2 // 2**19) for x in first[:15]]
    clipped = [min(127, max(0, int(x) // 64)) for x in first[:15]]
    second_inputs = np.array([*squared, *clipped, 0, 0], np.int64)
    second = network.fc1_bias[bucket] + network.fc1_weights[bucket].astype(np.int64) @ second_inputs
    third_inputs = np.clip(second // 64, 0, 127)
    third = network.fc2_bias[bucket] + network.fc2_weights[bucket].astype(np.int64) @ third_inputs
    # The last output of the first layer goes past the others; 127 x 64 of it are 600 units.
    product = int(first[15]) * 600 * 16
    if as_stockfish:
        product = (product + 2**31) % 2**32 - 2**31
    return int(third) + toward_zero(product, 127 * 64)


def evaluate(network: Network, board: chess.Board, *, as_stockfish: bool = False) -> Values:
    """All that the network says of a board with both kings."""
    own = accumulate(network, board, board.turn)[1]
    other = accumulate(network, board, not board.turn)[1]
    inputs = transform(network, board)
    return Values(
        [toward_zero(int(difference), 2) for difference in own - other],
        [propagate(network, inputs, k, as_stockfish=as_stockfish) for k in range(BUCKETS)],
        (chess.popcount(board.occupied) - 1) // 4,
    )


def value(network: Network, board: chess.Board, *, as_stockfish: bool = False) -> int:
    """The network's value for the side to move, in Stockfish's internal units."""
    values = evaluate(network, board, as_stockfish=as_stockfish)
    return toward_zero(values.psqt[values.bucket] + values.positional[values.bucket], 16)


def toward_zero(dividend: int, divisor: int) -> int:
    """Divide as C does."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)
