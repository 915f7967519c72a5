"""Maxmargin with limited work: CFR+ on the gadget, until it has visited a number of nodes.

Ge et al., *Efficient Subgame Refinement for Extensive-form Games* (2023), give a subgame three
seconds. Work is counted in nodes here, so that the same limit gives the same strategy on every
machine. A large subgame gets few iterations, a small one many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from obscuro.kernels import kernel
from obscuro.research.games.root_rules import RootView, alternate_values, margins
from obscuro.research.games.sequence_form import SequenceForm, SubgameForm

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LimitedMaxmargin:
    """▼ picks the group with the least margin, as in `MaxmarginRoot`; CFR+ approximates it.

    An iteration updates ▲ and then ▼, and so visits each node below the live roots twice. There is
    one iteration at least, and no more than `most`.
    """

    visits: int  # how many nodes may be visited in one subgame
    most: int = 5000  # iterations
    reach: ClassVar[bool] = False

    def iterations(self, view: RootView) -> int:
        """Return how many iterations the limit allows in a subgame."""
        roots = view.roots
        nodes = int(view.form.subtree_sizes[roots.node[roots.live]].sum())
        return min(max(self.visits // (2 * nodes), 1), self.most)

    def solve(self, view: RootView, floor: Floats) -> Floats:
        """Return ▲'s average strategy in the subgame, x, float64[X].

        Raises ValueError if `floor`, float64[S], is not 0 everywhere.
        """
        if floor.any():
            raise ValueError("CFR+ cannot hold ▲ to a least probability")
        alternate = alternate_values(view, "blueprint")
        count = self.iterations(view)
        return regret_maxmargin(view.form, view.sub, alternate, count, view.mass)

    def spare(self, view: RootView, x: Floats) -> Floats:
        """Return by how much each margin under x exceeds the least one, float64[G]."""
        found = margins(view, x, alternate_values(view, "blueprint"))
        spared: Floats = found - found.min()
        return spared


def regret_maxmargin(
    form: SequenceForm,
    sub: SubgameForm,
    alternate: Floats,
    iterations: int,
    mass: Floats | None = None,
) -> Floats:
    """Run CFR+ on the game in which ▼ chooses its group and is paid minus ▲'s margin there.

    Regrets are those of the sequence form. The average counts iteration t's new strategies t times.

    Parameters
    ----------
    form, sub : SequenceForm, SubgameForm
        The game and the subgame.
    alternate : float64[G]
        The alternate value of each group, v^alt(J), in the game's units, ▲'s view.
    iterations : int
        How many, one at least.
    mass : float64[G], optional
        How often the margin of each group counts, more than 0; otherwise once.

    Returns
    -------
    float64[X]
        ▲'s average strategy x. Its least margin is below the greatest possible by O(1/√iterations).

    """
    offsets = form.tree.infosets.offsets
    first = np.arange(sub.groups + len(sub.rows))  # the group of each row
    begin = sub.groups
    for infoset, follows in zip(sub.answers.tolist(), sub.follows.tolist(), strict=True):
        degree = int(offsets[infoset + 1] - offsets[infoset])
        first[begin : begin + degree] = first[follows]
        begin += degree
    per_live = (1.0 / sub.alive if mass is None else mass / sub.alive)[first]
    fixed = sub.fixed.copy()
    fixed[: sub.groups] -= alternate
    payoff = sparse.csr_array(sub.payoff.multiply(per_live[:, np.newaxis]))
    degrees = np.concatenate([[sub.groups], np.diff(offsets)[sub.answers]])
    mine = _side(np.diff(offsets)[sub.infosets], sub.above)
    theirs = _side(degrees, np.concatenate([[-1], sub.follows]))
    _iterate(iterations, _products(payoff), _products(payoff.T), fixed * per_live, mine, theirs)
    return mine.total / (iterations * (iterations + 1) / 2)


class _Products(NamedTuple):
    """A sparse matrix by rows."""

    begins: NDArray[np.int64]  # [rows+1]
    column: NDArray[np.int64]  # [entries]
    value: Floats  # [entries]


class _Side(NamedTuple):
    """One player's U decisions with their Q sequences; a decision comes after those before it."""

    begins: NDArray[np.int64]  # [U+1]
    above: NDArray[np.int64]  # [U] the sequence before it, or -1
    gains: Floats  # [Q]
    regret: Floats  # [Q]
    policy: Floats  # [Q]
    plan: Floats  # [Q] the probability of each sequence
    total: Floats  # [Q] of the plans


def _products(matrix: Any) -> _Products:
    """Convert scipy's matrix."""
    rows = sparse.csr_array(matrix)
    return _Products(rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data)


def _side(degrees: NDArray[np.int64], above: NDArray[np.int64]) -> _Side:
    """Begin with the uniform strategy. degrees, above: int64[U]."""
    size = int(degrees.sum())
    side = _Side(
        begins=np.concatenate([[0], np.cumsum(degrees)]),
        above=above,
        gains=np.zeros(size),
        regret=np.zeros(size),
        policy=np.repeat(1.0 / degrees, degrees),
        plan=np.zeros(size),
        total=np.zeros(size),
    )
    _plan(side)
    return side


@kernel
def _plan(side):
    """Multiply the policy down to each sequence's probability."""
    for at in range(len(side.above)):
        above = side.above[at]
        reached = 1.0 if above < 0 else side.plan[above]
        for k in range(side.begins[at], side.begins[at + 1]):
            side.plan[k] = reached * side.policy[k]


@kernel
def _multiply(matrix, vector, result):
    """Set `result` to matrix @ vector."""
    for row in range(len(result)):
        found = 0.0
        for k in range(matrix.begins[row], matrix.begins[row + 1]):
            found += matrix.value[k] * vector[matrix.column[k]]
        result[row] = found


@kernel
def _update(side, weight):
    """Bring the gains up to the sequences before, update regrets and policy, add to the average."""
    for at in range(len(side.above) - 1, -1, -1):
        begin, end = side.begins[at], side.begins[at + 1]
        mean = 0.0
        for k in range(begin, end):
            mean += side.policy[k] * side.gains[k]
        if side.above[at] >= 0:
            side.gains[side.above[at]] += mean
        mass = 0.0
        for k in range(begin, end):
            side.regret[k] = max(side.regret[k] + side.gains[k] - mean, 0.0)
            mass += side.regret[k]
        for k in range(begin, end):
            side.policy[k] = side.regret[k] / mass if mass > 0.0 else 1.0 / (end - begin)
    _plan(side)
    for k in range(len(side.plan)):
        side.total[k] += weight * side.plan[k]


@kernel
def _iterate(iterations, payoff, transposed, fixed, mine, theirs):
    """Run all iterations, ▲'s update before ▼'s."""
    for iteration in range(1, iterations + 1):
        _multiply(transposed, theirs.plan, mine.gains)
        _update(mine, iteration)
        _multiply(payoff, mine.plan, theirs.gains)
        for k in range(len(fixed)):
            theirs.gains[k] = -theirs.gains[k] - fixed[k]
        _update(theirs, iteration)
