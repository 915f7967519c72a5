"""A network's parameters in the layout that the kernels use."""

from typing import Any

import numpy as np

from obscuro.evaluation.nnue.network import (
    BUCKETS,
    FC0_OUTPUTS,
    FC1_INPUTS,
    FC1_OUTPUTS,
    FEATURES,
    Network,
)
from obscuro.rules.records import Fields, make_record


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
