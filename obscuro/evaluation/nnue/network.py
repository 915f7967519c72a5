"""The parameters of Stockfish's network as arrays. `install.py` describes their origin."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.rules.layout import MAX_MOVES, STATE, WORDS
from obscuro.rules.records import Fields, make_record

FEATURES = 22528  # HalfKAv2_hm: 32 king squares (mirrored to files e-h) x 11 kinds of piece x 64
BUCKETS = 8  # sub-networks, by the number of pieces; also the columns of `psqt_weights`
FC0_OUTPUTS = 16  # 15 are inputs of the next layer, the last is added to the result
FC1_INPUTS = 32  # 2 x 15 in use: squared, then clipped; the weights of the last two are padding
FC1_OUTPUTS = 32

READABLE = "install Stockfish 15.1 to 17.1, whose networks we can read"


class NetworkError(Exception):
    """No network is available, or an unreadable one.

    The text is one line for the user: `reason`, a semicolon, and `advice` on what to do.
    """

    def __init__(self, reason: str, advice: str = READABLE) -> None:
        super().__init__(f"{reason}; {advice}")
        self.reason = reason
        self.advice = advice


class Network(NamedTuple):
    """The parameters of one network, in the order of its file. Mapped arrays are read-only.

    L1 is the width of one side's accumulator: 1024 for Stockfish 15.1 (SFNNv5). All arrays are
    C-contiguous and aligned to 64 bytes.
    """

    feature_bias: NDArray[np.int16]  # [L1]
    feature_weights: NDArray[np.int16]  # [FEATURES, L1]
    psqt_weights: NDArray[np.int32]  # [FEATURES, BUCKETS]
    fc0_bias: NDArray[np.int32]  # [BUCKETS, FC0_OUTPUTS]
    fc0_weights: NDArray[np.int8]  # [BUCKETS, FC0_OUTPUTS, L1]
    fc1_bias: NDArray[np.int32]  # [BUCKETS, FC1_OUTPUTS]
    fc1_weights: NDArray[np.int8]  # [BUCKETS, FC1_OUTPUTS, FC1_INPUTS]
    fc2_bias: NDArray[np.int32]  # [BUCKETS]
    fc2_weights: NDArray[np.int8]  # [BUCKETS, FC1_OUTPUTS]


def shapes(width: int) -> dict[str, tuple[type[np.signedinteger], tuple[int, ...]]]:
    """Return the type and shape of every field of a network with L1 = width, in their order."""
    return {
        "feature_bias": (np.int16, (width,)),
        "feature_weights": (np.int16, (FEATURES, width)),
        "psqt_weights": (np.int32, (FEATURES, BUCKETS)),
        "fc0_bias": (np.int32, (BUCKETS, FC0_OUTPUTS)),
        "fc0_weights": (np.int8, (BUCKETS, FC0_OUTPUTS, width)),
        "fc1_bias": (np.int32, (BUCKETS, FC1_OUTPUTS)),
        "fc1_weights": (np.int8, (BUCKETS, FC1_OUTPUTS, FC1_INPUTS)),
        "fc2_bias": (np.int32, (BUCKETS,)),
        "fc2_weights": (np.int8, (BUCKETS, FC1_OUTPUTS)),
    }


def weight_fields(width: int) -> Fields:
    """Return the fields of the record for a network with L1 = width.

    A feature's row, like one side's sums, has two halves, because the next layer multiplies the
    halves with each other. The small layers hold 32-bit numbers. The second layer's first dimension
    is its inputs.
    """
    half = width // 2
    return {
        "feature_bias": (np.int16, (2, half)),
        "features": (np.int16, (FEATURES, 2, half)),
        "psqt": (np.int32, (FEATURES, BUCKETS)),
        "fc0_bias": (np.int32, (BUCKETS, FC0_OUTPUTS)),
        "fc0": (np.int8, (BUCKETS, FC0_OUTPUTS, 2, half)),
        "fc1_bias": (np.int32, (BUCKETS, FC1_OUTPUTS)),
        "fc1": (np.int32, (BUCKETS, FC1_INPUTS, FC1_OUTPUTS)),
        "fc2_bias": (np.int32, (BUCKETS,)),
        "fc2": (np.int32, (BUCKETS, FC1_OUTPUTS)),
    }


def arrange(network: Network) -> Any:
    """Copy a network into a record of the fields of `weight_fields`; threads may share it."""
    width = network.feature_bias.size
    weights = make_record(weight_fields(width))
    weights["feature_bias"] = network.feature_bias.reshape(2, -1)
    weights["features"] = network.feature_weights.reshape(FEATURES, 2, -1)
    weights["psqt"] = network.psqt_weights
    weights["fc0_bias"] = network.fc0_bias
    weights["fc0"] = network.fc0_weights.reshape(BUCKETS, FC0_OUTPUTS, 2, -1)
    weights["fc1_bias"] = network.fc1_bias
    weights["fc1"] = network.fc1_weights.transpose(0, 2, 1)
    weights["fc2_bias"] = network.fc2_bias
    weights["fc2"] = network.fc2_weights
    return weights


FRAMES = 16  # at least the number of plies of a search plus two
PLACES = 2 * 64  # the squares of both kings

# What the search of captures needs: a frame for each ply. Frame 0 is the parent of the evaluated
# children.
SEARCH_FIELDS: Fields = {
    "positions": (np.uint64, (FRAMES, WORDS)),
    "moves": (np.uint32, (FRAMES, MAX_MOVES)),  # moves left to try
    "keys": (np.int32, (FRAMES, MAX_MOVES)),  # the search tries the largest key first
    "counts": (np.int64, (FRAMES,)),  # number of moves
    "standing": (np.int64, (FRAMES,)),  # the value of making none of them
    "alphas": (np.int64, (FRAMES,)),
    "betas": (np.int64, (FRAMES,)),
    "bests": (np.int64, (FRAMES,)),
    "nodes": (np.int64, (1,)),  # number of positions valued so far
}


def workspace_fields(width: int) -> Fields:
    """Return the fields of the record for a network with L1 = width."""
    half = width // 2
    return {
        **SEARCH_FIELDS,
        # The sums of the position in each frame, in White's view and in Black's.
        "sums": (np.int16, (FRAMES, 2, 2, half)),
        "psqt": (np.int32, (FRAMES, 2, BUCKETS)),
        # For each square of each king, the last sums computed there, and the pieces they are of.
        "memory_sums": (np.int16, (PLACES, 2, half)),
        "memory_psqt": (np.int32, (PLACES, BUCKETS)),
        "memory_pieces": (np.uint64, (PLACES, STATE)),
        # The inputs and outputs of the layers.
        "inputs": (np.uint8, (2, half)),
        "outputs": (np.int32, (FC0_OUTPUTS,)),
        "activations": (np.int32, (FC1_INPUTS,)),
    }


def make_workspace(weights: Any) -> Any:
    """Make a workspace for evaluation with `weights`; its remembered sums are of empty boards."""
    bias = weights["feature_bias"]
    work = make_record(workspace_fields(bias.size))
    work["memory_sums"] = bias
    return work
