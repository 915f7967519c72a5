"""Solve maxmargin subgames exactly by linear programming with HiGHS (`K, Section 3`)."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from obscuro.games.sequence_form import SequenceForm, SubgameForm, answers_by

TOLERANCE: Final = 1e-9
"""HiGHS's tolerance for the feasibility of the program and of its dual."""

_SLACKS: Final = (1e-9, 1e-8, 1e-7)
"""By how much the choice among optimal strategies may lower the least margin.

`solve_maxmargin` uses the first slack with which HiGHS solves the second program.
"""


Method = Literal["highs-ds", "highs-ipm"]
"""The dual simplex method, or an interior-point method that ends with a crossover to a vertex."""


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
    return solved  # the bounds are too tight for the second program


class _Program(NamedTuple):
    """A linear program. Variables: x [X], values [V] of ▼'s infosets, margins [G], least margin.

    The margins are in the units of `SubgameForm`. The least margin is in the units of the group
    with the greatest share of live roots.
    """

    at_most: Any  # sparse; at_most @ variables <= bound
    bound: NDArray[np.float64]
    equal: Any  # sparse; equal @ variables == constant
    constant: NDArray[np.float64]
    lower: NDArray[np.float64]  # the least value of each variable
    upper: NDArray[np.float64]  # the greatest value of each variable


def _program(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    lift: bool,
) -> _Program:
    """Build the program without its objective."""
    offsets = form.tree.infosets.offsets
    n_x, n_v, groups = len(sub.slots), len(sub.answers), sub.groups
    height = groups + len(sub.rows)

    # The value of a ▼-infoset is at most that of each action: its payoff plus the values below it.
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

    # The least margin is at most every margin. All are in units of the live roots here.
    least = sparse.hstack(
        [
            sparse.csr_array((groups, n_x + n_v)),
            -sparse.eye_array(groups),
            sparse.csr_array((sub.alive / sub.alive.max())[:, np.newaxis]),
        ],
        format="csr",
    )

    # A sequence has at least its floor times the sequence before it; all its siblings sum to that.
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
    """Maximise `objective`; return scipy's result, whose `x` is None if there is no solution."""
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
