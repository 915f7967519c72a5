"""The linear program of a subgame: ▲'s strategy, ▼'s best responses, margins (`K, Algorithm 12`).

A gadget at the root adds variables and rows of its own, and the objective.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

from obscuro.research.games.sequence_form import SequenceForm, SubgameForm

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
