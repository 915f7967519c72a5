"""Gifts: what ▼ gave up on the way to a node, by ▲'s strategy so far (`K, Algorithm 12`).

Reach subgame solving lets ▲ give a gift back, and is as safe as without (Brown and Sandholm 2017,
*Safe and Nested Subgame Solving for Imperfect-Information Games*). The gift of a ▼-infoset J is

    ĝ(J) = Σ (u*(x|I'a') − u*(x|I'))   over ▼'s actions a' at I' on the way to J,

in ▲'s view, where u*(x|I') is the least u*(x|I'a'). Each difference is divided by what ▲ and chance
play to I' in the subgame solved last. There ▼'s first choice is the gadget's: it enters a group.
So what an earlier subgame has given back is not given back again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import NO_INFOSET
from obscuro.research.games.sequence_form import (
    SequenceForm,
    SubgameForm,
    SubgameRoots,
    row_values,
)
from obscuro.search.game import MIN


def gifts_below(
    form: SequenceForm,
    roots: SubgameRoots,
    sub: SubgameForm,
    policy: NDArray[np.float64],
    x: NDArray[np.float64],
    entered: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the gift at each node below the live roots, float64[N]; elsewhere 0.

    Parameters
    ----------
    form, roots, sub : SequenceForm, SubgameRoots, SubgameForm
        The game, and the subgame that was solved last.
    policy : float64[S]
        ▲'s policy, the solution included.
    x : float64[X]
        The solution.
    entered : float64[G]
        What ▼ gave up by entering each group, per unit of its live roots' reach.

    """
    tree = form.tree
    live = roots.node[roots.live]
    below = np.zeros(len(tree.states), np.bool_)
    below[live] = True
    for level in tree.deeper_levels():
        below[level] |= below[tree.parent[level]]
    given = _given_up(form, sub, np.where(below, form.reach(policy), 0.0), x)
    gift = np.zeros(len(tree.states))
    gift[live] = entered[roots.group[roots.live]]
    at_root = np.zeros(len(tree.states), np.bool_)
    at_root[live] = True
    for level in tree.deeper_levels():
        above = tree.parent[level]
        chosen = np.where(tree.player[above] == MIN, given[tree.slot[level]], 0.0)
        gift[level] += np.where(below[level] & ~at_root[level], gift[above] + chosen, 0.0)
    return gift


def _given_up(
    form: SequenceForm, sub: SubgameForm, reach: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each of ▼'s slots in the subgame gives up, float64[S]; elsewhere 0.

    reach: float64[N], of ▲ and chance, 0 outside of the live roots' subtrees. x: float64[X].
    """
    tree, offsets = form.tree, form.tree.infosets.offsets
    values = row_values(form, sub, x)[sub.groups :]
    degree = offsets[sub.answers + 1] - offsets[sub.answers]
    begins = np.cumsum(degree) - degree
    worse = values - np.repeat(np.minimum.reduceat(values, begins), degree)
    group = np.zeros(sub.groups + len(sub.rows), np.int64)
    group[: sub.groups] = np.arange(sub.groups)
    for begin, count, follows in zip(
        (begins + sub.groups).tolist(), degree.tolist(), sub.follows.tolist(), strict=True
    ):
        group[begin : begin + count] = group[follows]
    moves = np.flatnonzero(tree.infoset != NO_INFOSET)
    arrived = np.bincount(tree.infoset[moves], reach[moves], minlength=len(offsets) - 1)
    arrived = np.repeat(arrived[sub.answers], degree)
    worse *= sub.weight[group[sub.groups :]]
    given = np.zeros(len(form.infoset_of))
    given[sub.rows] = np.divide(worse, arrived, out=np.zeros_like(worse), where=arrived > 0.0)
    return given
