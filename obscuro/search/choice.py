"""Which action to play: partial purification of the last iterate (Obscuro, C.8 and Fig. 8).

For weaker play an action is drawn by its value instead, the more evenly the higher a temperature.
"""

import numpy as np
import numpy.typing as npt

MOST_VALUE = 0.995  # 18 pawns: a captured king and a mate in sight are worth no more


def purify(
    policy: npt.NDArray[np.float32],
    stable: npt.NDArray[np.bool_],
    resolve: bool,
    max_support: int,
    purification: bool = True,
) -> npt.NDArray[np.float64]:
    """The distribution to sample from, float64[k], sums to 1.

    policy: float32[k], the solver's last iterate. stable: bool[k], whether the action was in the
    support at every iteration of the search's last half. resolve: whether Resolve is in force.

    With Resolve in force only the top action is played. With Maxmargin the top action and stable
    ones are played, max_support in all; the top action gets the rest of the mass. Without
    purification (the ablation of Obscuro §4.1) all stable actions are played under both gadgets.
    """
    probabilities = policy.astype(np.float64)
    top = int(np.argmax(probabilities))
    allowed = stable & (probabilities > 0)
    allowed[top] = True
    if purification:
        if resolve:
            allowed = np.zeros_like(allowed)
            allowed[top] = True
        else:
            ranked = np.argsort(-probabilities, kind="stable")
            ranked = np.concatenate(([top], ranked[ranked != top]))
            best = [a for a in ranked if allowed[a]][: max(max_support, 1)]
            allowed = np.zeros_like(allowed)
            allowed[best] = True
    played = np.where(allowed, probabilities, 0.0)
    played[top] += max(0.0, 1.0 - float(played.sum()))
    return np.asarray(played / played.sum(), dtype=np.float64)


def softened(
    values: npt.NDArray[np.float64], temperature: float, most: float = MOST_VALUE
) -> npt.NDArray[np.float64]:
    """A distribution that prefers good actions, and knows them the less the warmer it is.

    values: of the actions, in [-1, 1], float64[k]. Their scale is stretched by atanh, so that a
    piece counts as much in a won position as in an even one. temperature: an action that is worse
    by so much on that scale is e times less likely; above 0. most: no value counts as more, or as
    less than its negative. Returns float64[k], which sums to 1.
    """
    stretched = np.arctanh(np.clip(values, -most, most))
    weights = np.exp((stretched - stretched.max()) / temperature)
    return np.asarray(weights / weights.sum(), dtype=np.float64)
