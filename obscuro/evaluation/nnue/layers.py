"""The network's layers behind the inputs: they compute a value from both sides' sums.

All numbers are integers. The inputs of a layer are in [0, 127], which stands for [0, 1]. The
weights of a layer are in 64ths. The result is in sixteenths of Stockfish's internal units.

Source: docs/nnue.md of nnue-pytorch.
"""

import numpy as np

from obscuro.evaluation.nnue.captures import BISHOP_UNITS, KNIGHT_UNITS, QUEEN_UNITS, ROOK_UNITS
from obscuro.evaluation.nnue.dense import HIGHEST, WEIGHT_SHIFT, first_layer, last_layers
from obscuro.evaluation.nnue.network import FC0_OUTPUTS
from obscuro.kernels import kernel
from obscuro.rules.bits import popcount
from obscuro.rules.layout import BISHOPS, KNIGHTS, QUEENS, ROOKS
from obscuro.rules.moves import occupied_squares, side_to_move

OUTPUT_SCALE = 16  # the result is in units / 16
_PASSED = FC0_OUTPUTS - 1  # the output of the first layer that is added to the result
_PASSED_SCALE = 600 * OUTPUT_SCALE  # its worth when it stands for 1
_PASSED_ONE = HIGHEST << WEIGHT_SHIFT


@kernel
def bucket_of(pos):
    """Return which of the eight sets of layers and of piece values a position uses."""
    return (popcount(occupied_squares(pos)) - 1) >> 2


@kernel
def toward_zero(dividend, divisor):
    """Divide with rounding toward zero, as C does."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)


@kernel
def transform(work, frame, perspective, half):
    """Compute half of the first layer's inputs: clip one side's sums and multiply its two halves.

    Written: work.inputs[half], numbers of at most 126.
    """
    low, high = np.int16(0), np.int16(HIGHEST)
    for k in range(work.inputs.shape[1]):
        first = np.uint16(min(max(work.sums[frame, perspective, 0, k], low), high))
        second = np.uint16(min(max(work.sums[frame, perspective, 1, k], low), high))
        work.inputs[half, k] = np.uint8(np.uint16(first * second) >> np.uint16(7))


@kernel
def propagate(weights, work, bucket):
    """Return the result of one bucket's layers for work.inputs, in sixteenths of a unit."""
    for k in range(FC0_OUTPUTS):
        work.outputs[k] = weights.fc0_bias[bucket, k]
    first_layer(work.inputs, weights.fc0, bucket, work.outputs)
    for k in range(_PASSED):
        output = np.int64(work.outputs[k])
        work.activations[k] = min((output * output) >> 19, HIGHEST)
        work.activations[_PASSED + k] = min(max(output >> WEIGHT_SHIFT, 0), HIGHEST)
    result = last_layers(
        work.activations, weights.fc1_bias, weights.fc1, weights.fc2_bias, weights.fc2, bucket
    )
    passed = np.int64(work.outputs[_PASSED]) * _PASSED_SCALE
    return result + toward_zero(passed, _PASSED_ONE)


@kernel
def material_part(work, frame, own, bucket):
    """Return the inputs' own values in the view of `own` (0 = White), in sixteenths of a unit."""
    other = np.int64(work.psqt[frame, 1 - own, bucket])
    return toward_zero(np.int64(work.psqt[frame, own, bucket]) - other, 2)


@kernel
def positional_part(weights, work, frame, own, bucket):
    """Return the layers' result in the view of `own` (0 = White), in sixteenths of a unit.

    `own` is the side to move.
    """
    transform(work, frame, own, 0)
    transform(work, frame, 1 - own, 1)
    return propagate(weights, work, bucket)


@kernel
def network_value(weights, work, frame, pos):
    """Return the network's value in the view of the side to move, in Stockfish's internal units.

    The frame must hold the sums of `pos`.
    """
    own = side_to_move(pos)
    bucket = bucket_of(pos)
    parts = material_part(work, frame, own, bucket)
    parts += positional_part(weights, work, frame, own, bucket)
    return toward_zero(parts, OUTPUT_SCALE)


# The factor of the network's value in 1,024ths: without pieces, and its increase with all pieces.
_ONE = 1024
BARE_SCALE = 967
PIECES_SCALE = 331
ALL_PIECES = 2 * (2 * (KNIGHT_UNITS + BISHOP_UNITS + ROOK_UNITS) + QUEEN_UNITS)

DECISIVE = 1600  # units of material, from which on little else counts
DECISIVE_UNITS = 400  # a bonus for the side with that material
DECISIVE_SCALE = 717
DECISIVE_POSITIONAL_SCALE = 102


@kernel
def pieces_units(pos):
    """Return the worth of both sides' pieces without pawns, in Stockfish's units."""
    return (
        KNIGHT_UNITS * popcount(pos[KNIGHTS])
        + BISHOP_UNITS * popcount(pos[BISHOPS])
        + ROOK_UNITS * popcount(pos[ROOKS])
        + QUEEN_UNITS * popcount(pos[QUEENS])
    )


@kernel
def static_value(weights, work, frame, pos):
    """Return a position's value in the view of the side to move, in Stockfish's internal units.

    The frame must hold the sums of `pos`.
    """
    own = side_to_move(pos)
    bucket = bucket_of(pos)
    material = material_part(work, frame, own, bucket)
    positional = positional_part(weights, work, frame, own, bucket)
    if abs(material) >= DECISIVE * OUTPUT_SCALE:
        parts = material * DECISIVE_SCALE + positional * DECISIVE_POSITIONAL_SCALE
        certain = DECISIVE_UNITS * _ONE * OUTPUT_SCALE
        parts += certain if material > 0 else -certain
    else:
        scale = BARE_SCALE + PIECES_SCALE * pieces_units(pos) // ALL_PIECES
        parts = (material + positional) * scale
    return toward_zero(parts, _ONE * OUTPUT_SCALE)
