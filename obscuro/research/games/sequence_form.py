"""Subtrees of a small game in ▲'s and ▼'s sequence form (`K, Section 2`).

A sequence is the chain of one player's own actions down to a slot. With perfect recall the slot
identifies the sequence. The vector x holds ▲'s strategy in the subtrees: the probability that ▲
plays each of its sequences, counted from the subtrees' roots. The payoff of each of ▼'s sequences
is linear in x.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from obscuro.research.games.game_tree import NO_INFOSET, NO_SLOT, GameTree, join_ranges
from obscuro.search.game import MAX, MIN

_UNPLAYED: Final = 1e-9
"""A sequence with a smaller probability counts as never played: an LP solver returns such zeros."""
_UNPLAYED_SHARE: Final = 1e-7
"""An action with a smaller probability counts as never played."""


class SequenceForm:
    """The data that all subtrees of one game share: the players' sequences and chance's reach.

    Attributes
    ----------
    tree : GameTree
        The game.
    last : int64[N, 2]
        The slot of the last action of ▲ and ▼ on the way to each node, or `NO_SLOT`.
    before : int64[I]
        The slot of the mover's last action before each infoset, or `NO_SLOT`.
    infoset_of : int64[S]
        The infoset of each slot.
    chance : float64[N]
        Chance's reach of each node, the product of its probabilities on the way there.

    """

    def __init__(self, tree: GameTree[Any]) -> None:
        """Walk down the whole game once."""
        n = len(tree.states)
        self.tree = tree
        self.last = np.full((n, 2), NO_SLOT, np.int64)
        self.chance = np.ones(n)
        for level in tree.deeper_levels():
            above = tree.parent[level]
            self.chance[level] = self.chance[above] * tree.chance[level]
            for player in (MAX, MIN):
                own = tree.player[above] == player
                self.last[level, player] = np.where(own, tree.slot[level], self.last[above, player])
        infosets = tree.infosets
        self.before = np.full(len(infosets.key), NO_SLOT, np.int64)
        moves = np.flatnonzero(tree.infoset != NO_INFOSET)
        self.before[tree.infoset[moves]] = self.last[moves, tree.player[moves]]
        self.infoset_of = np.repeat(np.arange(len(infosets.key)), np.diff(infosets.offsets))
        # Subgame solving asks several times for the reach of the whole tree under one policy.
        self._last: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None

    @cached_property
    def subtree_sizes(self) -> NDArray[np.int64]:
        """The number of nodes of the subtree at each node, itself included, int64[N]."""
        tree = self.tree
        sizes = np.ones(len(tree.states), np.int64)
        for level in reversed(tree.deeper_levels()):
            np.add.at(sizes, tree.parent[level], sizes[level])
        return sizes

    def uniform(self) -> NDArray[np.float64]:
        """Return the uniform policy, float64[S]."""
        degrees = np.diff(self.tree.infosets.offsets)
        return np.repeat(1.0 / degrees, degrees)

    def reach(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the reach of each node by ▲ and chance, float64[N], under `policy`, float64[S].

        The array is read-only. It is found again if the last policy had the same probabilities.
        """
        if self._last is not None and np.array_equal(self._last[0], policy):
            return self._last[1]
        tree = self.tree
        reach = self.chance.copy()
        mine = np.ones(len(reach))
        for level in tree.deeper_levels():
            above = tree.parent[level]
            played = np.where(tree.player[above] == MAX, policy[tree.slot[level]], 1.0)
            mine[level] = mine[above] * played
        reach *= mine
        reach.flags.writeable = False
        self._last = policy.copy(), reach
        return reach


class SubgameRoots(NamedTuple):
    """The R roots of a subgame in G groups. Each group is a part of one ▼-infoset J."""

    node: NDArray[np.int64]  # [R]
    group: NDArray[np.int64]  # [R] from 0 to G-1
    live: NDArray[np.bool_]  # [R] False where ▲'s strategy below the root is frozen


class SubgameForm(NamedTuple):
    """The values of ▼'s sequences below G groups of roots, as a function of ▲'s strategy x there.

    The rows are the groups, followed by ▼'s slots. The value of a row is `payoff @ x + fixed`, from
    the terminal nodes after ▼'s last action, plus the values of the ▼-infosets that follow the row.
    Values below group J are in ▲'s view and in units of the reach of J's roots by ▲ and chance.
    """

    groups: int  # G
    weight: NDArray[np.float64]  # [G] reach of the roots by ▲ and chance
    alive: NDArray[np.float64]  # [G] the live roots' share of that, not 0
    arrived: NDArray[np.int64]  # [G] ▼'s slot before the group, or NO_SLOT
    slots: NDArray[np.int64]  # [X] ▲'s slots below live roots, in ascending order
    infosets: NDArray[np.int64]  # [U] ▲'s infosets below live roots, in ascending order
    at_root: NDArray[np.bool_]  # [U] whether the infoset contains a live root
    above: NDArray[np.int64]  # [U] the column of ▲'s sequence before it, -1: none below the root
    rows: NDArray[np.int64]  # [Y] ▼'s slots in the order of their rows G..G+Y-1
    answers: NDArray[np.int64]  # [V] ▼'s infosets, in ascending order
    follows: NDArray[np.int64]  # [V] the row before each of them
    payoff: Any  # sparse [G+Y, X]
    fixed: NDArray[np.float64]  # [G+Y]


def subgame_form(
    form: SequenceForm, roots: SubgameRoots, policy: NDArray[np.float64]
) -> SubgameForm:
    """Build the sequence form of the subtrees below `roots`.

    Parameters
    ----------
    form : SequenceForm
        The game.
    roots : SubgameRoots
        The roots of the subgame. ▲ and chance must reach the live roots of every group.
    policy : float64[S]
        ▲'s strategy so far. It weights the roots, and ▲ plays it below roots that are not live.

    """
    tree, offsets = form.tree, form.tree.infosets.offsets
    weight = form.reach(policy)[roots.node]
    groups = int(roots.group.max()) + 1
    total = np.bincount(roots.group, weight, groups).astype(np.float64)
    alive = np.bincount(roots.group, weight * roots.live, groups) / total
    weight = weight / total[roots.group]
    arrived = np.full(groups, NO_SLOT, np.int64)
    arrived[roots.group] = form.last[roots.node, MIN]
    below = _descend(form, roots, weight, policy)
    live = roots.live[below.root]

    mine = below.infoset[(below.player == MAX) & live]
    infosets = np.unique(mine)
    slots = _slots_of(offsets, infosets)
    answers = np.unique(below.infoset[below.player == MIN])
    rows = _slots_of(offsets, answers)
    column = _numbering(len(form.infoset_of), slots, 0)
    row = _numbering(len(form.infoset_of), rows, groups)
    group_of = np.zeros(len(offsets) - 1, np.int64)
    theirs = below.player == MIN
    group_of[below.infoset[theirs]] = roots.group[below.root[theirs]]

    # An action before the roots has neither row nor column. Its row is the group's own instead.
    before = form.before[answers]
    follows = np.where(before == NO_SLOT, -1, row[before])
    follows = np.where(follows < 0, group_of[answers], follows)
    before = form.before[infosets]
    above = np.where(before == NO_SLOT, -1, column[before])
    at_root = np.isin(infosets, tree.infoset[roots.node[roots.live]])

    ends = below.degree == 0
    root, node = below.root[ends], below.node[ends]
    gain = below.weight[ends] * tree.payoff[node]
    slot = form.last[node, MIN]
    where = np.where(slot == NO_SLOT, -1, row[slot])
    where = np.where(where < 0, roots.group[root], where)
    slot = form.last[node, MAX]
    what = np.where((slot == NO_SLOT) | ~roots.live[root], -1, column[slot])
    constant = what < 0
    height = groups + len(rows)
    return SubgameForm(
        groups=groups,
        weight=total,
        alive=alive,
        arrived=arrived,
        slots=slots,
        infosets=infosets,
        at_root=at_root,
        above=above,
        rows=rows,
        answers=answers,
        follows=follows,
        payoff=sparse.csr_array(
            (gain[~constant], (where[~constant], what[~constant])), shape=(height, len(slots))
        ),
        fixed=np.bincount(where[constant], gain[constant], minlength=height).astype(np.float64),
    )


class _SubtreeNodes(NamedTuple):
    """All nodes of the subtrees, the roots included."""

    node: NDArray[np.int64]
    root: NDArray[np.int64]  # the index of its root in SubgameRoots
    weight: NDArray[np.float64]  # the root's weight times the reach from there by chance, frozen ▲
    player: NDArray[np.int8]
    infoset: NDArray[np.int64]
    degree: NDArray[np.int64]


def _descend(
    form: SequenceForm,
    roots: SubgameRoots,
    weight: NDArray[np.float64],
    policy: NDArray[np.float64],
) -> _SubtreeNodes:
    """Collect the subtrees, level by level."""
    tree = form.tree
    node, root = roots.node, np.arange(len(roots.node))
    found = [(node, root, weight)]
    while True:
        degree = tree.degree[node]
        if not degree.any():
            break
        children = join_ranges(tree.first[node], degree)
        mover = np.repeat(tree.player[node], degree)
        root, weight = np.repeat(root, degree), np.repeat(weight, degree)
        weight *= tree.chance[children]
        frozen = (mover == MAX) & ~roots.live[root]
        weight[frozen] *= policy[tree.slot[children[frozen]]]
        node = children
        found.append((node, root, weight))
    nodes, numbers, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    return _SubtreeNodes(
        nodes, numbers, weights, tree.player[nodes], tree.infoset[nodes], tree.degree[nodes]
    )


def _slots_of(offsets: NDArray[np.int64], infosets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the slots of `infosets`, in the same order."""
    return join_ranges(offsets[infosets], offsets[infosets + 1] - offsets[infosets])


def _numbering(size: int, members: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """Number the slots `members` from `start`; return int64[size] with -1 for other slots."""
    numbers = np.full(size, -1, np.int64)
    numbers[members] = np.arange(start, start + len(members))
    return numbers


def played_from_roots(
    form: SequenceForm, sub: SubgameForm, policy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Convert `policy`, float64[S], to the subgame's x, float64[X], by ▲'s sequences."""
    offsets = form.tree.infosets.offsets
    x = np.zeros(len(sub.slots))
    begin = 0
    for infoset, above in zip(sub.infosets.tolist(), sub.above.tolist(), strict=True):
        choices = policy[offsets[infoset] : offsets[infoset + 1]]
        x[begin : begin + len(choices)] = choices * (1.0 if above < 0 else x[above])
        begin += len(choices)
    return x


def policy_from(
    form: SequenceForm,
    infosets: NDArray[np.int64],
    slots: NDArray[np.int64],
    plan: NDArray[np.float64],
    policy: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return `policy` with the strategy that `plan` describes at `infosets`.

    infosets: int64[U]. slots: int64[X], the slots of these infosets. plan: float64[X], the
    probability of each slot's sequence. policy: float64[S], which stays valid at infosets that the
    plan does not reach. Returns float64[S].
    """
    offsets = form.tree.infosets.offsets
    degree = offsets[infosets + 1] - offsets[infosets]
    begins = np.cumsum(degree) - degree
    total = np.repeat(np.add.reduceat(plan, begins), degree)
    reached = total > _UNPLAYED
    shares = plan / np.where(reached, total, 1.0)
    shares[shares < _UNPLAYED_SHARE] = 0.0
    total = np.repeat(np.add.reduceat(shares, begins), degree)
    changed = policy.copy()
    changed[slots[reached]] = shares[reached] / total[reached]
    return changed


def answer_values(
    form: SequenceForm, sub: SubgameForm, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return ▲'s value of each group, u*(x|J), float64[G], if ▼ plays a best response to x.

    x: float64[X]. Values are in the game's units, and in units of the reach of the group's roots.
    """
    return row_values(form, sub, x)[: sub.groups]


def row_values(form: SequenceForm, sub: SubgameForm, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ▲'s value of each row, u*(x|J) and u*(x|I'a'), float64[G+Y], in the same units.

    From there on ▼ plays a best response to x, float64[X].
    """
    offsets = form.tree.infosets.offsets
    values: NDArray[np.float64] = sub.payoff @ x + sub.fixed
    end = len(values)
    for infoset, follows in zip(
        sub.answers[::-1].tolist(), sub.follows[::-1].tolist(), strict=True
    ):
        begin = end - int(offsets[infoset + 1] - offsets[infoset])
        values[follows] += values[begin:end].min()
        end = begin
    return values


def arrival(
    form: SequenceForm, sub: SubgameForm, policy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return how likely ▼ plays to each group, y(J), float64[G], by `policy`, float64[S]."""
    played = np.ones(sub.groups)
    slot = sub.arrived
    while np.any(slot != NO_SLOT):
        played *= np.where(slot == NO_SLOT, 1.0, policy[slot])
        slot = np.where(slot == NO_SLOT, NO_SLOT, form.before[form.infoset_of[slot]])
    return played


def answers_by(
    form: SequenceForm, sub: SubgameForm, policy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each row's reach in the whole game, float64[G+Y], if ▼ plays `policy`, float64[S].

    `answers_by(...) @ (sub.payoff @ x + sub.fixed)` is the part of ▲'s expected payoff that comes
    from the subgame.
    """
    offsets = form.tree.infosets.offsets
    y = np.zeros(sub.groups + len(sub.rows))
    y[: sub.groups] = sub.weight * arrival(form, sub, policy)
    begin = sub.groups
    for infoset, follows in zip(sub.answers.tolist(), sub.follows.tolist(), strict=True):
        choices = policy[offsets[infoset] : offsets[infoset + 1]]
        y[begin : begin + len(choices)] = choices * y[follows]
        begin += len(choices)
    return y
