"""From one turn's trunk and its solution to the roots of the next trunk (K, Alg. 12 and 15).

The last solution is the blueprint. I' is what the last trunk holds of our infoset. Of each ▼-infoset
J that touches I', the nodes in I' stay live. ▲ keeps its old strategy below J's other nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obscuro.research.zs21.gadget_program import Profile
from obscuro.research.zs21.trunk import (
    CHANCE,
    LEAF,
    MAX,
    MIN,
    Flags,
    Floats,
    GrownLeaves,
    Integers,
    Nodes,
    Trunk,
    leaves_of,
)


class SolvedTrunk(NamedTuple):
    """A trunk with its solution.

    size: the number of nodes when it was solved. Nodes that came later are not part of it.
    """

    trunk: Trunk
    profile: Profile
    size: int


class CarriedRoots(NamedTuple):
    """The roots that the next trunk takes over, R nodes in G of ▼'s infosets."""

    node: Integers  # [R] nodes of the last trunk
    group: Integers  # [R]
    live: Flags  # [R] in I'
    weight: Floats  # [R] reach by chance and ▲, in units of J's live nodes
    alternate: Floats  # [G] u*(x|J) less the gift, ▲'s view
    value: float  # û, ▲'s value at I' under the solution; infinite if I' is empty


def nothing_kept() -> CarriedRoots:
    """Return what is kept without a last trunk, or if it does not hold our infoset."""
    none = np.zeros(0, dtype=np.int64)
    return CarriedRoots(none, none, none.astype(np.bool_), np.zeros(0), np.zeros(0), np.inf)


def solved_nodes(solution: SolvedTrunk) -> Nodes:
    """Return the nodes that were there when the trunk was solved; later expansions are undone."""
    nodes = Nodes._make(array[: solution.size] for array in solution.trunk.nodes)
    first = np.where(nodes.first >= solution.size, LEAF, nodes.first)
    return nodes._replace(first=first)


def keep(
    solution: SolvedTrunk, key: int, random: np.random.Generator, *, reach: bool = True
) -> CarriedRoots:
    """Find what the last trunk holds of our infoset, and ▼'s infosets that touch it.

    key: our information key now. random: picks one of each set of transpositions. reach: whether
    to subtract gifts from the alternate values.
    """
    nodes = solved_nodes(solution)
    inside = np.flatnonzero((nodes.key[:, MAX] == np.uint64(key)) & nodes.live & ~nodes.terminal)
    if not len(inside):
        return nothing_kept()
    answers = BestAnswers(solution, nodes)
    value = _value_at(solution, nodes, inside)
    kept_keys = _without_transpositions(solution.trunk, nodes, inside, random)
    depth = nodes.depth[inside[0]]
    level = np.flatnonzero((nodes.depth == depth) & (answers.reach > 0.0))
    known_keys, group = np.unique(kept_keys, return_inverse=True)
    number = np.searchsorted(known_keys, nodes.key[level, MIN])
    number = np.minimum(number, len(known_keys) - 1)
    member = known_keys[number] == nodes.key[level, MIN]
    node, group = level[member], number[member]
    live = np.isin(node, inside)
    own = np.bincount(group[live], answers.reach[node[live]], minlength=len(known_keys))
    # A J that ▲ and chance do not reach in I' says nothing.
    useful = own > 0.0
    member = useful[group]
    node, live, group = node[member], live[member], (np.cumsum(useful) - 1)[group[member]]
    own = own[useful]
    weight = answers.reach[node] / own[group]
    some = np.zeros(len(own), dtype=np.int64)
    some[group] = node
    alternate = answers.value[answers.place[some]] / own
    if not np.isfinite(value):
        value = float(alternate.mean()) if len(alternate) else np.inf
    if reach:
        alternate = alternate - np.array([answers.gift(at) for at in some.tolist()])
    return CarriedRoots(node, group, live, weight, alternate, value)


class BestAnswers:
    """The values of ▼'s best responses to x, ▲'s view, not divided by any reach.

    A place is a set of nodes with the same key of ▼'s, whoever moves there.

    place: int64[N], of each node. value: float64[places]. reach: float64[N], by chance and ▲.
    after: float64[▼'s sequences], the value after each action.
    """

    def __init__(self, solution: SolvedTrunk, nodes: Nodes) -> None:
        self._nodes = nodes
        theirs = solution.trunk.tables[MIN]
        infoset_of = theirs.infoset_of()
        _, some, self.place = np.unique(nodes.key[:, MIN], return_index=True, return_inverse=True)
        count = len(some)
        self.reach = nodes.weight * solution.profile.x[nodes.sequence[:, MAX]]
        leaves = leaves_of(nodes)
        gain = self.reach[leaves] * nodes.value[leaves]
        self.value = np.bincount(self.place[leaves], gain, minlength=count)
        self.after = np.zeros(theirs.size)
        self._least = np.full(len(theirs), np.inf)
        self._infoset_of = infoset_of
        depth = nodes.depth[some]
        for level in range(int(depth.max()), 0, -1):
            here = np.flatnonzero(depth == level)
            at = some[here]
            parent = nodes.parent[at]
            chosen = nodes.player[parent] == MIN
            np.add.at(self.value, self.place[parent[~chosen]], self.value[here[~chosen]])
            slots = nodes.sequence[at[chosen], MIN]
            np.add.at(self.after, slots, self.value[here[chosen]])
            infosets = infoset_of[slots]
            np.minimum.at(self._least, infosets, self.after[slots])
            unique, first = np.unique(infosets, return_index=True)
            self.value[self.place[parent[chosen][first]]] += self._least[unique]
        self._reach_of_place = np.bincount(self.place, self.reach, minlength=count)

    def gift(self, node: int) -> float:
        """What ▼'s moves on the way to a node gave ▲, at least 0; see K, footnote 2."""
        nodes = self._nodes
        total = 0.0
        while (above := int(nodes.parent[node])) >= 0:
            if nodes.player[above] == MIN:
                slot = nodes.sequence[node, MIN]
                lost = self.after[slot] - self._least[self._infoset_of[slot]]
                total += float(lost / self._reach_of_place[self.place[above]])
            node = above
        return total


def _value_at(solution: SolvedTrunk, nodes: Nodes, inside: Integers) -> float:
    """Return u(x, y | I'); infinite if the players do not reach I'."""
    x, y = solution.profile.x, solution.profile.y
    reach = nodes.weight * x[nodes.sequence[:, MAX]] * y[nodes.sequence[:, MIN]]
    total = reach[inside].sum()
    if total <= 0.0:
        return np.inf
    gain = np.where(nodes.first == LEAF, reach * nodes.value, 0.0)
    for level in range(int(nodes.depth.max()), int(nodes.depth[inside[0]]), -1):
        here = np.flatnonzero(nodes.depth == level)
        gain += np.bincount(nodes.parent[here], gain[here], minlength=len(gain))
    return float(gain[inside].sum() / total)


def _without_transpositions(
    trunk: Trunk, nodes: Nodes, inside: Integers, random: np.random.Generator
) -> np.ndarray:
    """Return ▼'s keys of the J to keep: of transpositions in I' only a random one's (K, Sec. 4)."""
    seen: set[bytes] = set()
    kept: dict[int, None] = {}
    words = trunk.game.identity_words
    for node in random.permutation(inside).tolist():
        identity = nodes.state[node, :words].tobytes()
        if identity not in seen:
            seen.add(identity)
            kept[int(nodes.key[node, MIN])] = None
    return np.array(list(kept), dtype=np.uint64)


def copy_subtrees(solution: SolvedTrunk, kept: CarriedRoots, trunk: Trunk) -> None:
    """Copy what lies below the kept roots into a trunk whose first roots they are.

    ▲'s nodes below roots that are not live become chance nodes with ▲'s old strategy.
    """
    nodes = solved_nodes(solution)
    x = solution.profile.x
    old = kept.node
    new = np.arange(len(old), dtype=np.int64)
    while len(old):
        expanded = nodes.first[old] != LEAF
        old, new = old[expanded], new[expanded]
        degree = nodes.degree[old]
        begin = np.cumsum(degree) - degree
        children = np.repeat(nodes.first[old] - begin, degree) + np.arange(int(degree.sum()))
        parent = np.repeat(old, degree)
        live = trunk.nodes.live[new]
        player = nodes.player[old]
        fixed = (player == MAX) & ~live
        chance = np.where(
            nodes.player[parent] == CHANCE, nodes.weight[children] / nodes.weight[parent], 1.0
        )
        played = np.repeat(fixed, degree)
        slots = nodes.sequence[:, MAX]
        chance[played] = x[slots[children[played]]] / x[slots[parent[played]]]
        stays = ~played | (chance > 0.0)
        owner = np.repeat(np.arange(len(old)), degree)[stays]
        children, chance = children[stays], chance[stays]
        offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(old)))))
        before = len(trunk)
        trunk.attach(
            new,
            GrownLeaves(
                np.where(fixed, CHANCE, player).astype(np.int8),
                offsets,
                nodes.state[children],
                nodes.key[children],
                nodes.value[children],
                nodes.terminal[children],
                nodes.forcing[children],
                chance,
            ),
        )
        old, new = children, np.arange(before, len(trunk), dtype=np.int64)


def margins(solution: SolvedTrunk) -> Floats:
    """Return the margin of each J if ▼ plays a best response to x: float64[G]."""
    trunk = solution.trunk
    answers = BestAnswers(solution, solved_nodes(solution))
    some = np.zeros(trunk.groups, dtype=np.int64)
    some[trunk.nodes.sequence[: trunk.roots, MIN]] = np.arange(trunk.roots)
    return answers.value[answers.place[some]] - trunk.alternate


def guaranteed(solution: SolvedTrunk, price: Floats) -> float:
    """Return the objective that x reaches against every y. price: float64[k]."""
    found, profile = margins(solution), solution.profile
    least = found.min() if profile.gadget == "maxmargin" else np.minimum(found, 0.0).mean()
    first = int(solution.trunk.tables[MAX].first[0])
    return float(least - profile.x[first : first + len(price)] @ price)


def bound(solution: SolvedTrunk, price: Floats) -> float:
    """Return the objective that no x exceeds against y. price: float64[k]."""
    trunk, y = solution.trunk, solution.profile.y
    nodes, table = solved_nodes(solution), trunk.tables[MAX]
    leaves = leaves_of(nodes)
    at = nodes.sequence[leaves]
    gain = np.bincount(
        at[:, MAX],
        nodes.weight[leaves] * nodes.value[leaves] * y[at[:, MIN]],
        minlength=table.size,
    ).astype(np.float64)
    first = table.first
    if len(price):
        root = slice(int(first[0]), int(first[0]) + len(price))
        gain[root] = gain[root] - price
    # Infosets were found from the top down.
    for begin, degree, parent in zip(
        first[::-1].tolist(), table.degree[::-1].tolist(), table.parent[::-1].tolist(), strict=True
    ):
        gain[parent] += gain[begin : begin + degree].max()
    return float(gain[0] - y[: trunk.groups] @ trunk.alternate)
