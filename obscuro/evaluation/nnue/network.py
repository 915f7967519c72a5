"""The parameters of Stockfish's network as arrays. `install.py` describes their origin."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
