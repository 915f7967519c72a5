"""Solve a subgame whose root takes an expectation over ▼'s infosets J, or a worst case, or both.

▼ arrives in J with a prior probability α(J), which it does not choose. There it may leave for its
alternate value, as in Resolve, with probability 1 − ε only. So ▲ maximises

    Σ_J α(J) · [(1 − ε) · min(0, margin(J)) + ε · margin(J)].

A margin differs from ▲'s value of J by a constant, the alternate value. So ε = 0 is Resolve, and
ε = 1 is unsafe solving against the prior. In between, what ▲ gains at a J counts ε times what it
loses at one.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from obscuro.research.games.sequence_form import SequenceForm, SubgameForm
from obscuro.research.games.subgame_program import (
    SLACKS,
    GadgetRows,
    SubgameProgram,
    maximise,
    subgame_program,
    with_row,
)

Tie = Literal["margins", "expectation", "as solved"]
"""How to choose among the optimal strategies.

By the greatest sum of margins, by the greatest expectation of the margins over the prior, or the
vertex that the LP solver returns first.
"""

_METHOD: Final = "highs-ds"


def solve_soft(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    prior: NDArray[np.float64],
    epsilon: float,
    tie: Tie = "margins",
) -> NDArray[np.float64]:
    """Find ▲'s strategy with the greatest `soft_value`, x, float64[X].

    Parameters
    ----------
    form, sub : SequenceForm, SubgameForm
        The game and the subgame.
    floor : float64[S]
        The least probability of each of ▲'s actions, but for those at the infosets of the live
        roots.
    alternate : float64[G]
        The alternate value of each group, v^alt(J), in the game's units, ▲'s view.
    prior : float64[G]
        α, which sums to 1.
    epsilon : float
        How much of a gain counts, from 0 (Resolve) to 1 (unsafe).
    tie : Tie
        How to choose among the optimal strategies.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve the program.

    """
    program = subgame_program(form, sub, floor, alternate, _losses(sub), lift=True)
    groups, begin = sub.groups, len(program.upper) - 2 * sub.groups
    margins, losses = slice(begin, begin + groups), slice(begin + groups, None)
    weight = prior / sub.alive
    weight = weight / weight.max()
    objective = np.zeros(len(program.upper))
    objective[margins], objective[losses] = epsilon * weight, (1.0 - epsilon) * weight
    result = maximise(program, objective, _METHOD)
    if result.x is None:
        raise RuntimeError(f"the linear program was not solved: {result.message}")
    best: NDArray[np.float64] = result.x
    if tie != "as solved":
        second = np.zeros(len(program.upper))
        second[margins] = weight if tie == "expectation" else sub.alive.min() / sub.alive
        best = _chosen(program, objective, second, best)
    return best[: len(sub.slots)]


def soft_value(margin: NDArray[np.float64], prior: NDArray[np.float64], epsilon: float) -> float:
    """Return what `solve_soft` maximises.

    margin: float64[G], u*(x|J) − v^alt(J), in units of the reach of the live roots.
    prior: float64[G].
    """
    return float(prior @ ((1.0 - epsilon) * np.minimum(0.0, margin) + epsilon * margin))


def _losses(sub: SubgameForm) -> GadgetRows:
    """Add a variable for each group that is at most its margin, and at most 0."""
    return GadgetRows(
        of_margins=-sparse.eye_array(sub.groups),
        own=sparse.eye_array(sub.groups, format="csr"),
        upper=np.zeros(sub.groups),
    )


def _chosen(
    program: SubgameProgram,
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    best: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Maximise `second` where `first` stays as great as at `best`; all float64[variables]."""
    for slack in SLACKS:
        chosen = maximise(with_row(program, -first, slack - float(first @ best)), second, _METHOD)
        if chosen.x is not None:
            found: NDArray[np.float64] = chosen.x
            return found
    return best  # the bounds are too tight for the second program
