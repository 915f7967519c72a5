"""The memory that one thread's kernels write to: frames of a search, sums, layers."""

from typing import Any

import numpy as np

from obscuro.evaluation.nnue.network import BUCKETS, FC0_OUTPUTS, FC1_INPUTS
from obscuro.rules.layout import MAX_MOVES, STATE, WORDS
from obscuro.rules.records import Fields, make_record

FRAMES = 16  # at least the number of plies of a search plus two
PLACES = 2 * 64  # the squares of both kings


def workspace_fields(width: int) -> Fields:
    """Return the fields of the record for a network with L1 = width."""
    half = width // 2
    return {
        # One frame for each ply; frame 0 is the parent of the evaluated children.
        "positions": (np.uint64, (FRAMES, WORDS)),
        "moves": (np.uint32, (FRAMES, MAX_MOVES)),  # moves left to try
        "keys": (np.int32, (FRAMES, MAX_MOVES)),  # the search tries the largest key first
        "counts": (np.int64, (FRAMES,)),  # number of moves
        "standing": (np.int64, (FRAMES,)),  # the value of making none of them
        "alphas": (np.int64, (FRAMES,)),
        "betas": (np.int64, (FRAMES,)),
        "bests": (np.int64, (FRAMES,)),
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
        "nodes": (np.int64, (1,)),  # number of positions valued so far
    }


def make_workspace(weights: Any) -> Any:
    """Make a workspace for evaluation with `weights`; its remembered sums are of empty boards."""
    bias = weights["feature_bias"]
    work = make_record(workspace_fields(bias.size))
    work["memory_sums"] = bias
    return work
