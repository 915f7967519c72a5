"""The correction of a leaf's value for what its players do not see: linear in its features."""

from obscuro.evaluation.fog_values.sight_features import ALL_FEATURES, sight_features
from obscuro.kernels import kernel

CONSTANT, SLOPE, FIRST_FEATURE = 0, 1, 2  # entries of the weights
WEIGHT_COUNT = FIRST_FEATURE + ALL_FEATURES
MOST_PAWNS = 2.0  # the largest correction
SLOPE_PAWNS = 10.0  # larger values count as this for the slope


@kernel
def correction(tables, pos, pawns, weights, found):
    """Return what to add to a value, in pawns of the side to move, at most MOST_PAWNS.

    pawns: the value without it, in the view of the side to move. weights: float64[WEIGHT_COUNT], in
    pawns. found: float64[ALL_FEATURES], a buffer.
    """
    sight_features(tables, pos, found)
    total = weights[CONSTANT] + weights[SLOPE] * min(max(pawns, -SLOPE_PAWNS), SLOPE_PAWNS)
    for k in range(ALL_FEATURES):
        total += weights[FIRST_FEATURE + k] * found[k]
    return min(max(total, -MOST_PAWNS), MOST_PAWNS)
