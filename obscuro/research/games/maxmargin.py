"""Solve maxmargin subgames exactly by linear programming with HiGHS (`K, Section 3`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from obscuro.research.games.sequence_form import SequenceForm, SubgameForm, answers_by
from obscuro.research.games.subgame_program import (
    SLACKS,
    GadgetRows,
    Method,
    maximise,
    subgame_program,
)


class Margins:
    """Choose an optimal strategy with the greatest sum of all margins.

    No strategy dominates it, with a greater margin somewhere and a smaller one nowhere.
    """


class AsSolved:
    """Choose the optimal strategy that the LP solver returns first, which is a vertex."""

    def __init__(self, method: Method = "highs-ds") -> None:
        """`method`: HiGHS's method; different methods return different vertices."""
        self.method = method


class AtRandom:
    """Choose the optimal strategy that is best in a random direction."""

    def __init__(self, seed: int) -> None:
        """`seed`: the seed of the random direction."""
        self.rng = np.random.default_rng(seed)


class Against:
    """Choose the optimal strategy that does best, or worst, against one policy of ▼."""

    def __init__(self, policy: NDArray[np.float64], *, worst: bool = False) -> None:
        """`policy`: float64[S], the probability of each of ▼'s actions in the whole game."""
        self.policy = policy
        self.sign = -1.0 if worst else 1.0


Choice = Margins | AsSolved | AtRandom | Against
"""How to choose among the optimal strategies; a maxmargin subgame usually has many."""


class Solved(NamedTuple):
    """▲'s strategy in a subgame with G groups (see `SubgameForm`)."""

    margin: float  # the least margin over all groups
    x: NDArray[np.float64]  # [X] ▲'s probability of each of its sequences
    y: NDArray[np.float64]  # [G+Y] how often ▼ takes each row to hold ▲ down to the least margin


def solve_maxmargin(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    choice: Choice,
    *,
    lift: bool = True,
    mass: NDArray[np.float64] | None = None,
) -> Solved:
    """Find ▲'s strategy x with the greatest least margin, min over J of u*(x|J) - alternate[J].

    As in `K, Algorithm 12`, the margin of J is in units of the reach by ▲ and chance of J's live
    roots only. The values of `sub` and the alternate values are in units of the reach of all roots.

    Parameters
    ----------
    form, sub : SequenceForm, SubgameForm
        The game and the subgame.
    floor : float64[S]
        The least probability of each of ▲'s actions, given that play reaches its infoset.
    alternate : float64[G]
        ▲'s value of each group under its strategy so far, v^alt(J), in the game's units.
    choice : Choice
        How to choose among the optimal strategies.
    lift : bool
        Whether to ignore `floor` at the infosets of the live roots.
    mass : float64[G], optional
        How often the margin of each group counts, more than 0; otherwise once.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve the program.

    """
    unit = sub.alive if mass is None else sub.alive / mass
    program = subgame_program(form, sub, floor, alternate, _least_of_all(unit), lift=lift)
    size, x = len(program.upper), slice(0, len(sub.slots))
    objective = np.zeros(size)
    objective[-1] = 1.0
    method: Method = choice.method if isinstance(choice, AsSolved) else "highs-ds"
    result = maximise(program, objective, method)
    if result.x is None:
        raise RuntimeError(f"the linear program was not solved: {result.message}")
    best, prices = result.x, -result.ineqlin.marginals
    solved = Solved(float(best[-1]) / unit.max(), best[x], prices[: sub.groups + len(sub.rows)])
    if isinstance(choice, AsSolved) or (isinstance(choice, Margins) and sub.groups == 1):
        return solved
    objective[-1] = 0.0
    if isinstance(choice, AtRandom):
        objective[x] = choice.rng.normal(size=len(sub.slots))
    elif isinstance(choice, Against):
        gains = sub.payoff.T @ answers_by(form, sub, choice.policy)
        if not gains.any():
            return solved
        objective[x] = choice.sign * gains / np.abs(gains).max()
    else:
        objective[-1 - sub.groups : -1] = unit.min() / unit
    for slack in SLACKS:
        program.lower[-1] = best[-1] - slack
        chosen = maximise(program, objective, method)
        if chosen.x is not None:
            return solved._replace(x=chosen.x[x])
    return solved  # the bounds are too tight for the second program


def _least_of_all(unit: NDArray[np.float64]) -> GadgetRows:
    """Add the least margin as the last variable, in the greatest of the groups' units.

    It is at most every margin, each in its unit, float64[G]: the share of the live roots, divided by
    how often the margin counts.
    """
    return GadgetRows(
        of_margins=-sparse.eye_array(len(unit)),
        own=sparse.csr_array((unit / unit.max())[:, np.newaxis]),
        upper=np.full(1, np.inf),
    )
