"""The trunk: the part of a game's tree that is expanded, below the roots of one turn (K, Def. 10).

Nodes are rows of arrays, parents before children, the children of a node contiguous. A node without
children is a leaf with a value. Below a root where ▲'s strategy is fixed (1-KLSS), ▲'s nodes have
become chance nodes; nothing is expanded there.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LEAF = -1
NO_PARENT = -1
_LEAST_ROOM = 4096


class TrunkRoots(NamedTuple):
    """The R roots of a trunk, in G ▼-infosets J, among which ▼ picks."""

    states: Words  # [R, W]
    keys: Words  # [R, 2]
    group: Integers  # [R] the J of each root, 0..G-1
    weight: Floats  # [R] reach by chance and fixed strategies, in units of J's live roots
    values: Floats  # [R] ▲'s view
    live: Flags  # [R] False where ▲'s strategy is fixed
    alternate: Floats  # [G] ▲'s value of each J, which the margin is measured from


class Nodes(NamedTuple):
    """All nodes of a trunk."""

    state: Words  # [N, W]
    key: Words  # [N, 2]
    parent: Integers  # [N] or NO_PARENT
    first: Integers  # [N] the first child, or LEAF
    degree: Integers  # [N] the number of children
    player: npt.NDArray[np.int8]  # [N] who moves; undefined at leaves
    depth: Integers  # [N] plies below the roots
    sequence: Integers  # [N, 2] ▲'s and ▼'s last sequence
    weight: Floats  # [N] reach by chance and by ▲'s fixed strategies
    value: Floats  # [N] ▲'s view
    terminal: Flags  # [N]
    forcing: Flags  # [N]
    live: Flags  # [N]


class Trunk:
    """A growing trunk.

    game: expands leaves. roots: see `TrunkRoots`. alternate: float64[G], as in the roots.
    tables: ▲'s and ▼'s sequences. roots: R. carried: the nodes that come from the last trunk.
    fresh: the roots that do not.
    """

    def __init__(self, game: TrunkGame, roots: TrunkRoots) -> None:
        self.game = game
        self.alternate = roots.alternate
        self.tables = (SequenceTable(1), SequenceTable(len(roots.alternate)))
        count = len(roots.states)
        self.roots = count
        self.carried = 0
        self.fresh = count
        sequence = np.zeros((count, 2), dtype=np.int64)
        sequence[:, MIN] = roots.group
        self._all = Nodes(
            roots.states,
            roots.keys,
            np.full(count, NO_PARENT, dtype=np.int64),
            np.full(count, LEAF, dtype=np.int64),
            np.zeros(count, dtype=np.int64),
            np.zeros(count, dtype=np.int8),
            np.zeros(count, dtype=np.int64),
            sequence,
            roots.weight.astype(np.float64),
            roots.values.astype(np.float64),
            np.zeros(count, dtype=np.bool_),
            np.zeros(count, dtype=np.bool_),
            roots.live.copy(),
        )
        self._all = Nodes._make(array.copy() for array in self._all)
        self._size = count

    def __len__(self) -> int:
        """The number of nodes."""
        return self._size

    @property
    def nodes(self) -> Nodes:
        """All nodes, as views that are valid until the trunk grows."""
        return Nodes._make(array[: self._size] for array in self._all)

    @property
    def groups(self) -> int:
        """G, the number of ▼-infosets among which ▼ picks."""
        return len(self.alternate)

    def expand(self, leaves: Integers) -> int:
        """Add all children of leaves int64[B] that are not terminal; return how many."""
        nodes = self._all
        before = self._size
        growth = self.game.grow(nodes.state[leaves], nodes.key[leaves])
        self.attach(leaves, growth)
        return self._size - before

    def attach(self, leaves: Integers, growth: GrownLeaves) -> None:
        """Add the children of `growth` to leaves int64[B]."""
        degree = np.diff(growth.offsets)
        count = int(growth.offsets[-1])
        self._reserve(count)
        nodes, begin = self._all, self._size
        end = begin + count
        self._size = end
        nodes.player[leaves] = growth.player
        nodes.degree[leaves] = degree
        nodes.first[leaves] = begin + growth.offsets[:-1]
        parent = np.repeat(leaves, degree)
        added = slice(begin, end)
        nodes.state[added] = growth.states
        nodes.key[added] = growth.keys
        nodes.parent[added] = parent
        nodes.first[added] = LEAF
        nodes.degree[added] = 0
        nodes.player[added] = 0
        nodes.depth[added] = nodes.depth[parent] + 1
        nodes.sequence[added] = nodes.sequence[parent]
        nodes.weight[added] = nodes.weight[parent] * growth.chance
        nodes.value[added] = growth.values
        nodes.terminal[added] = growth.terminal
        nodes.forcing[added] = growth.forcing
        nodes.live[added] = nodes.live[parent]
        which = np.arange(count) - np.repeat(growth.offsets[:-1], degree)
        for player in (MAX, MIN):
            self._assign(player, leaves, growth.player, degree, begin, which)

    def _assign(
        self,
        player: int,
        leaves: Integers,
        movers: npt.NDArray[np.int8],
        degree: Integers,
        begin: int,
        which: Integers,
    ) -> None:
        """Write the player's sequence into the new children of the leaves where it moves.

        movers, degree: of the leaves. begin: the first new node. which: int64[N], the action that
        leads to each new node.
        """
        nodes, table = self._all, self.tables[player]
        own = movers == player
        mine = leaves[own]
        for depth in np.unique(nodes.depth[mine]).tolist():
            here = own.copy()
            here[own] = nodes.depth[mine] == depth
            at = leaves[here]
            infosets = table.find(
                nodes.key[at, player], degree[here], nodes.sequence[at, player], depth
            )
            chosen = np.flatnonzero(np.repeat(here, degree))
            first = np.repeat(table.first[infosets], degree[here])
            nodes.sequence[begin + chosen, player] = first + which[chosen]

    def _reserve(self, more: int) -> None:
        """Make room for more nodes."""
        needed = self._size + more
        if needed > len(self._all.parent):
            room = max(needed, 2 * self._size, _LEAST_ROOM)
            self._all = Nodes._make(_enlarged(array, self._size, room) for array in self._all)


def _enlarged(array: npt.NDArray[Any], size: int, room: int) -> npt.NDArray[Any]:
    """Return a copy of the first `size` rows of an array, with `room` rows in all."""
    larger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    larger[:size] = array[:size]
    return larger


def leaves_of(nodes: Nodes) -> Integers:
    """The nodes without children, int64[L]."""
    return np.flatnonzero(nodes.first == LEAF)


MAX, MIN, CHANCE = 0, 1, 2  # ▲, ▼ and chance; also the column of a player's key

Words = npt.NDArray[np.uint64]


class GrownLeaves(NamedTuple):
    """The children of a batch of B leaves, N in all."""

    player: npt.NDArray[np.int8]  # [B] who moves at the leaf: MAX, MIN or CHANCE
    offsets: npt.NDArray[np.int64]  # [B + 1] children of leaf b are offsets[b]:offsets[b + 1]
    states: Words  # [N, W]
    keys: Words  # [N, 2] ▲'s and ▼'s information keys
    values: npt.NDArray[np.float64]  # [N] ▲'s view, [-1, 1]; exact where terminal
    terminal: npt.NDArray[np.bool_]  # [N]
    forcing: npt.NDArray[np.bool_]  # [N] more interesting than any move that is not
    chance: npt.NDArray[np.float64]  # [N] probabilities under chance nodes, else 1


class TrunkGame(Protocol):
    """What ZS21 asks of a game."""

    state_words: int  # W
    identity_words: int  # first words in which transpositions agree

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        """Return the children of leaves that are not terminal.

        states: uint64[B, W]. keys: uint64[B, 2], the leaves' own keys, to which the children's keys
        are chained.
        """
        ...


Integers = npt.NDArray[np.int64]


class SequenceTable:
    """The infosets of one player with their sequences, in the order in which they were found.

    roots: the number of sequences at the roots. size: the number of all sequences. The sequences
    of infoset i are first[i]:first[i] + degree[i]; parent[i] is the sequence before it.
    """

    def __init__(self, roots: int) -> None:
        self.roots = roots
        self.size = roots
        self._by_key: dict[int, int] = {}
        self._first: list[int] = []
        self._degree: list[int] = []
        self._parent: list[int] = []
        self._depth: list[int] = []

    def __len__(self) -> int:
        """The number of infosets."""
        return len(self._first)

    def find(self, keys: Integers, degrees: Integers, parents: Integers, depth: int) -> Integers:
        """Return the infosets of nodes int64[B] at one depth; infosets with new keys are added.

        keys: uint64[B]. degrees: int64[B], the numbers of actions. parents: int64[B], the player's
        last sequence at each node.
        """
        by_key = self._by_key
        found = np.empty(len(keys), dtype=np.int64)
        rows = zip(keys.tolist(), degrees.tolist(), parents.tolist(), strict=True)
        for node, (key, degree, parent) in enumerate(rows):
            infoset = by_key.get(key, -1)
            if infoset < 0:
                infoset = len(self._first)
                by_key[key] = infoset
                self._first.append(self.size)
                self._degree.append(degree)
                self._parent.append(parent)
                self._depth.append(depth)
                self.size += degree
            found[node] = infoset
        return found

    @property
    def first(self) -> Integers:
        """The first sequence of each infoset, int64[I]."""
        return np.array(self._first, dtype=np.int64)

    @property
    def degree(self) -> Integers:
        """The number of actions of each infoset, int64[I]."""
        return np.array(self._degree, dtype=np.int64)

    @property
    def parent(self) -> Integers:
        """The sequence before each infoset, int64[I]."""
        return np.array(self._parent, dtype=np.int64)

    @property
    def depth(self) -> Integers:
        """The plies from the roots to each infoset, int64[I]."""
        return np.array(self._depth, dtype=np.int64)

    def infoset_of(self) -> Integers:
        """The infoset of each sequence, int64[size]; -1 for those of the roots."""
        return np.concatenate(
            (
                np.full(self.roots, -1, dtype=np.int64),
                np.repeat(np.arange(len(self)), self.degree),
            )
        )
