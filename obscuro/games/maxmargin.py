"""Maxmargin subgames solved exactly by linear programming, with HiGHS (`K, Section 3`)."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from obscuro.games.sequence_form import SequenceForm, SubgameForm, answers_by

TOLERANCE: Final = 1e-9
"""Of HiGHS, for the feasibility of the program and of its dual."""

_SLACKS: Final = (1e-9, 1e-8, 1e-7)
"""What the least margin may lose to the choice among optimal strategies: the first that HiGHS takes."""


Method = Literal["highs-ds", "highs-ipm"]
"""The dual simplex method, or an interior-point method that ends with a crossover to a vertex."""


class Margins:
    """Among the optimal strategies, one with the greatest sum of all margins.

    It is not dominated: no strategy has a greater margin somewhere and nowhere a smaller one.
    """


class AsSolved:
    """The optimal strategy that the LP solver happens to return, a vertex of all there are."""

    def __init__(self, method: Method = "highs-ds") -> None:
        """`method`: of HiGHS. The vertex differs from one to the other."""
        self.method = method


class AtRandom:
    """An optimal strategy that is the best in a random direction, of a generator's own."""

    def __init__(self, seed: int) -> None:
        """`seed`: of the generator."""
        self.rng = np.random.default_rng(seed)


class Against:
    """An optimal strategy that does best, or worst, against one policy of ▼ in the whole game."""

    def __init__(self, policy: NDArray[np.float64], *, worst: bool = False) -> None:
        """`policy`: the probability [S] of each of ▼'s actions."""
        self.policy = policy
        self.sign = -1.0 if worst else 1.0


Choice = Margins | AsSolved | AtRandom | Against
"""How to choose among the optimal strategies, of which a maxmargin subgame mostly has many."""


class Solved(NamedTuple):
    """▲'s strategy in a subgame."""

    margin: float  # the least, over all groups
    x: NDArray[np.float64]  # [X]
    y: NDArray[np.float64]  # [G+Y] how often ▼ takes each of its rows to hold it down to that


def solve_maxmargin(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    choice: Choice,
    *,
    lift: bool = True,
) -> Solved:
    """Find ▲'s strategy x with the greatest least margin, min over J of u*(x|J) - alternate[J].

    As in `K, Algorithm 12`, the margin of J is in units of what ▲ and chance play towards the live
    roots of J only; the values of `sub` and the alternate values are in units of all.

    Parameters
    ----------
    form, sub : SequenceForm, SubgameForm
        The game and the subgame.
    floor : float64[S]
        The least probability of each of ▲'s actions, given that its infoset is reached.
    alternate : float64[G]
        What each group is worth to ▲ by the strategy so far.
    choice : Choice
        Which of the optimal strategies to take.
    lift : bool
        Whether `floor` does not hold at the infosets of the live roots.

    Raises
    ------
    RuntimeError
        If HiGHS does not solve the program.

    """
    program = _program(form, sub, floor, alternate, lift)
    size, x = len(program.upper), slice(0, len(sub.slots))
    objective = np.zeros(size)
    objective[-1] = 1.0
    method: Method = choice.method if isinstance(choice, AsSolved) else "highs-ds"
    result = _solve(program, objective, method)
    if result.x is None:
        raise RuntimeError(f"the linear program was not solved: {result.message}")
    best, prices = result.x, -result.ineqlin.marginals
    solved = Solved(
        float(best[-1]) / sub.alive.max(), best[x], prices[: sub.groups + len(sub.rows)]
    )
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
        objective[-1 - sub.groups : -1] = sub.alive.min() / sub.alive
    for slack in _SLACKS:
        program.lower[-1] = best[-1] - slack
        chosen = _solve(program, objective, method)
        if chosen.x is not None:
            return solved._replace(x=chosen.x[x])
    return solved  # too close to its bounds for another program


class _Program(NamedTuple):
    """Variables: x [X], the values [V] of ▼'s infosets, the margins [G], the least margin.

    The margins are in the units of `SubgameForm`, the least one in those of the group of which the
    greatest share is alive.
    """

    at_most: Any  # sparse, times the variables is at most
    bound: NDArray[np.float64]
    equal: Any  # sparse, times the variables is
    constant: NDArray[np.float64]
    lower: NDArray[np.float64]  # of each variable
    upper: NDArray[np.float64]


def _program(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    lift: bool,
) -> _Program:
    """Write out the program, but for what to maximise."""
    offsets = form.tree.infosets.offsets
    n_x, n_v, groups = len(sub.slots), len(sub.answers), sub.groups
    height = groups + len(sub.rows)

    # A value is at most that of each of ▼'s actions, which is a payoff plus the values that follow.
    degree = offsets[sub.answers + 1] - offsets[sub.answers]
    rows, values = np.arange(groups, height), np.repeat(np.arange(n_v), degree)
    own = sparse.csr_array((np.ones(len(rows)), (rows, values)), shape=(height, n_v))
    following = sparse.csr_array((np.ones(n_v), (sub.follows, np.arange(n_v))), shape=(height, n_v))
    margins = sparse.eye_array(height, groups, format="csr")
    answers = sparse.hstack(
        [-sub.payoff, own - following, margins, sparse.csr_array((height, 1))], format="csr"
    )
    bound = sub.fixed.copy()
    bound[:groups] -= alternate

    # The least margin is at most every margin, all in units of the live roots.
    least = sparse.hstack(
        [
            sparse.csr_array((groups, n_x + n_v)),
            -sparse.eye_array(groups),
            sparse.csr_array((sub.alive / sub.alive.max())[:, np.newaxis]),
        ],
        format="csr",
    )

    # A sequence has at least its floor's share of the one before it, and all shares make it up.
    degree = offsets[sub.infosets + 1] - offsets[sub.infosets]
    infoset = np.repeat(np.arange(len(sub.infosets)), degree)
    share = floor[sub.slots]
    if lift:
        share = np.where(sub.at_root[infoset], 0.0, share)
    above, sequence = sub.above[infoset], np.arange(n_x)
    floored = np.flatnonzero((share > 0.0) & (above >= 0))
    rows = np.arange(len(floored))
    floors = sparse.csr_array(
        (
            np.concatenate([-np.ones(len(floored)), share[floored]]),
            (np.tile(rows, 2), np.concatenate([sequence[floored], above[floored]])),
        ),
        shape=(len(floored), n_x + n_v + groups + 1),
    )
    inner = np.flatnonzero(sub.above >= 0)
    equal = sparse.csr_array(
        (
            np.concatenate([np.ones(n_x), -np.ones(len(inner))]),
            (np.concatenate([infoset, inner]), np.concatenate([sequence, sub.above[inner]])),
        ),
        shape=(len(sub.infosets), n_x + n_v + groups + 1),
    )
    lower = np.full(n_x + n_v + groups + 1, -np.inf)
    lower[:n_x] = np.where(above < 0, share, 0.0)
    return _Program(
        at_most=sparse.vstack([answers, least, floors], format="csr"),
        bound=np.concatenate([bound, np.zeros(groups + len(floored))]),
        equal=equal,
        constant=(sub.above < 0).astype(np.float64),
        lower=lower,
        upper=np.full(len(lower), np.inf),
    )


def _solve(program: _Program, objective: NDArray[np.float64], method: Method) -> Any:
    """Scipy's result, with the variables that make `objective` greatest, if it has found them."""
    return linprog(
        -objective,
        A_ub=program.at_most,
        b_ub=program.bound,
        A_eq=program.equal,
        b_eq=program.constant,
        bounds=np.stack([program.lower, program.upper], axis=1),
        method=method,
        options={
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
        },
    )
