"""The linear program of a subgame: ▲'s strategy, ▼'s best responses, margins (`K, Algorithm 12`).

A gadget at the root adds variables and rows of its own, and the objective.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from obscuro.research.games.sequence_form import SequenceForm, SubgameForm, answers_by

TOLERANCE: Final = 1e-9
"""HiGHS's tolerance for the feasibility of the program and of its dual."""

SLACKS: Final = (1e-9, 1e-8, 1e-7)
"""By how much the choice among optimal strategies may lower the objective.

A solver uses the first slack with which HiGHS solves the second program.
"""

Method = Literal["highs-ds", "highs-ipm"]
"""The dual simplex method, or an interior-point method that ends with a crossover to a vertex."""


class GadgetRows(NamedTuple):
    """The E variables and R rows of a gadget: of_margins @ margins + own @ variables <= 0."""

    of_margins: Any  # sparse [R, G]
    own: Any  # sparse [R, E]
    upper: NDArray[np.float64]  # [E] the greatest value of each variable


class SubgameProgram(NamedTuple):
    """A linear program. Variables: x [X], values [V] of ▼'s infosets, margins [G], the gadget's [E].

    The margins are in the units of `SubgameForm`. The first G+Y rows are those of `SubgameForm`.
    """

    at_most: Any  # sparse; at_most @ variables <= bound
    bound: NDArray[np.float64]
    equal: Any  # sparse; equal @ variables == constant
    constant: NDArray[np.float64]
    lower: NDArray[np.float64]  # the least value of each variable
    upper: NDArray[np.float64]  # the greatest value of each variable


def subgame_program(
    form: SequenceForm,
    sub: SubgameForm,
    floor: NDArray[np.float64],
    alternate: NDArray[np.float64],
    gadget: GadgetRows,
    *,
    lift: bool,
) -> SubgameProgram:
    """Build the program without its objective.

    Parameters
    ----------
    form, sub : SequenceForm, SubgameForm
        The game and the subgame.
    floor : float64[S]
        The least probability of each of ▲'s actions, given that play reaches its infoset.
    alternate : float64[G]
        What is subtracted from ▲'s value of each group, in the game's units.
    gadget : GadgetRows
        What the gadget adds.
    lift : bool
        Whether to ignore `floor` at the infosets of the live roots.

    """
    offsets = form.tree.infosets.offsets
    n_x, n_v, groups, extra = len(sub.slots), len(sub.answers), sub.groups, len(gadget.upper)
    size, height = n_x + n_v + groups + extra, groups + len(sub.rows)

    # The value of a ▼-infoset is at most that of each action: its payoff plus the values below it.
    degree = offsets[sub.answers + 1] - offsets[sub.answers]
    rows, values = np.arange(groups, height), np.repeat(np.arange(n_v), degree)
    own = sparse.csr_array((np.ones(len(rows)), (rows, values)), shape=(height, n_v))
    following = sparse.csr_array((np.ones(n_v), (sub.follows, np.arange(n_v))), shape=(height, n_v))
    margins = sparse.eye_array(height, groups, format="csr")
    answers = sparse.hstack(
        [-sub.payoff, own - following, margins, sparse.csr_array((height, extra))], format="csr"
    )
    bound = sub.fixed.copy()
    bound[:groups] -= alternate
    added = gadget.of_margins.shape[0]
    root = sparse.hstack(
        [sparse.csr_array((added, n_x + n_v)), gadget.of_margins, gadget.own], format="csr"
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
        shape=(len(floored), size),
    )
    inner = np.flatnonzero(sub.above >= 0)
    equal = sparse.csr_array(
        (
            np.concatenate([np.ones(n_x), -np.ones(len(inner))]),
            (np.concatenate([infoset, inner]), np.concatenate([sequence, sub.above[inner]])),
        ),
        shape=(len(sub.infosets), size),
    )
    lower = np.full(size, -np.inf)
    lower[:n_x] = np.where(above < 0, share, 0.0)
    return SubgameProgram(
        at_most=sparse.vstack([answers, root, floors], format="csr"),
        bound=np.concatenate([bound, np.zeros(added + len(floored))]),
        equal=equal,
        constant=(sub.above < 0).astype(np.float64),
        lower=lower,
        upper=np.concatenate([np.full(size - extra, np.inf), gadget.upper]),
    )


def held_to(
    program: SubgameProgram, sub: SubgameForm, played: NDArray[np.float64]
) -> SubgameProgram:
    """Return the program with rows by which no answer of ▼ gets ▲ less than `played` does.

    That holds below each group by itself. What lies outside of the live roots is the same for both
    strategies and drops out (`Obscuro, C.6.5`). played: float64[X]. The variables [V] of ▼'s best
    answer to the difference of the two come after x.
    """
    n_x, n_v, size = len(sub.slots), len(sub.answers), len(program.upper)
    answers = program.at_most[: sub.groups + len(sub.rows)]

    def widened(matrix: Any) -> Any:
        between = sparse.csr_array((matrix.shape[0], n_v))
        return sparse.hstack([matrix[:, :n_x], between, matrix[:, n_x:]], format="csr")

    height = answers.shape[0]
    rows = sparse.hstack([answers[:, : n_x + n_v], sparse.csr_array((height, size - n_x))])
    return SubgameProgram(
        at_most=sparse.vstack([widened(program.at_most), rows], format="csr"),
        bound=np.concatenate([program.bound, answers[:, :n_x] @ played]),
        equal=widened(program.equal),
        constant=program.constant,
        lower=np.insert(program.lower, n_x, np.full(n_v, -np.inf)),
        upper=np.insert(program.upper, n_x, np.full(n_v, np.inf)),
    )


def with_row(program: SubgameProgram, row: NDArray[np.float64], bound: float) -> SubgameProgram:
    """Return the program with one more row at its end, row @ variables <= bound.

    row: float64[X+V+G+E], a coefficient for each variable.
    """
    return program._replace(
        at_most=sparse.vstack([program.at_most, row[np.newaxis]], format="csr"),
        bound=np.append(program.bound, bound),
    )


def maximise(program: SubgameProgram, objective: NDArray[np.float64], method: Method) -> Any:
    """Maximise `objective`; return scipy's result, whose `x` is None if there is no solution.

    objective: float64[X+V+G+E], a coefficient for each variable.
    """
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
    played: NDArray[np.float64] | None = None,
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
    played : float64[X], optional
        A strategy than which x may be no worse against any answer of ▼ (`held_to`).

    Raises
    ------
    RuntimeError
        If HiGHS does not solve the program.

    """
    unit = sub.alive if mass is None else sub.alive / mass
    program = subgame_program(form, sub, floor, alternate, _least_of_all(unit), lift=lift)
    if played is not None:
        program = held_to(program, sub, played)
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
