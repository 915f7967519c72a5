"""The infoset hypergraph of a small game: what players know about each other's knowledge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import NO_INFOSET, NO_SLOT, GameTree
from obscuro.research.games.sequence_form import SequenceForm, policy_from
from obscuro.search.game import MAX, MIN

COMMON_KNOWLEDGE: Final = None
"""The infinite order of knowledge, which includes all connected nodes."""

ORDERS: Final = (1, 2, 3, 4)
"""The finite orders of Table 2."""

_NO_CLASS: Final = -1


class KnowledgeGraph:
    """Each player's classes of indistinguishable nodes, without terminal nodes.

    Source: `K, Definitions 1, 2`.
    """

    def __init__(self, tree: GameTree[Any]) -> None:
        """Group the nodes into classes by each player's information key."""
        inner = np.flatnonzero(tree.player != TERMINAL)
        self._class = np.full((len(tree.states), 2), _NO_CLASS, np.int64)
        self._members: list[list[NDArray[np.int64]]] = []
        for player in (MAX, MIN):
            _, number = np.unique(tree.keys[inner, player], return_inverse=True)
            self._class[inner, player] = number
            order = np.argsort(number, kind="stable")
            cuts = np.cumsum(np.bincount(number))[:-1]
            self._members.append(np.split(inner[order], cuts))

    def classes(self, nodes: NDArray[np.int64], player: int) -> NDArray[np.int64]:
        """Return the player's classes that contain any of `nodes`.

        nodes: int64[n], node numbers. Returns int64[c], class numbers in ascending order.
        """
        return np.unique(self._class[nodes, player])

    def members(self, number: int, player: int) -> NDArray[np.int64]:
        """Return all nodes of one of the player's classes, int64[n], in ascending order."""
        return self._members[player][number]

    def within(self, infoset: NDArray[np.int64], order: int | None) -> NDArray[np.int64]:
        """Return the order-k knowledge set I^k of a ▲-infoset I.

        infoset: int64[n], the nodes of I. order: k, or COMMON_KNOWLEDGE. Returns int64[m], the
        nodes of I^k in ascending order.
        """
        found = infoset
        for step in range(1, len(self._class) if order is COMMON_KNOWLEDGE else order):
            player = MIN if step % 2 else MAX
            numbers = self.classes(found, player).tolist()
            wider = np.unique(np.concatenate([self.members(i, player) for i in numbers]))
            if len(wider) == len(found):
                break
            found = wider
        return found


class KnowledgeSizes(NamedTuple):
    """One row of K's Table 2."""

    nodes: int  # of the game, terminal ones included
    infosets: int  # of both players, where they move
    diameter: int  # the largest distance between two connected nodes
    average: tuple[float, ...]  # mean number of nodes within 1, 2, 3 and 4 steps of a node
    connected: float  # mean number of nodes connected with a node


def knowledge_sizes(tree: GameTree[Any]) -> KnowledgeSizes:
    """Count what K's Table 2 counts.

    The function reproduces every figure of the table with this reading of K's text:

    - The averages run over the nodes where a player moves. They count those of these nodes that are
      at most k steps from the node. (By Definition 2, I^k has those at most k-1 steps from I.)
    - Two nodes are one step apart if they look the same to a player who moves there or later. A
      player who will not move any more connects nothing.
    - A node does not count if its mover has one action and no other node is connected with it. Of
      the table's games only abrupt dark hex has such nodes: 24 certain wins.
    """
    nodes = np.flatnonzero(tree.infoset != NO_INFOSET)
    labels = _labels_of_later_movers(tree)[nodes]
    rows, columns = [], []
    count = 0
    for player in (MAX, MIN):
        labelled = np.flatnonzero(labels[:, player] != _NO_CLASS)
        _, number = np.unique(labels[labelled, player], return_inverse=True)
        rows.append(labelled)
        columns.append(number + count)
        count += int(number.max(initial=-1)) + 1
    row, column = np.concatenate(rows), np.concatenate(columns)
    member = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(len(nodes), count))
    adjacent = sparse.csr_array(member @ member.T)
    _, component = csgraph.connected_components(adjacent, directed=False)
    order = np.argsort(component, kind="stable")

    counted, diameter, connected = 0, 0, 0
    totals = np.zeros(len(ORDERS))
    for part in np.split(order, np.cumsum(np.bincount(component))[:-1]):
        if len(part) == 1 and tree.degree[nodes[part[0]]] == 1:
            continue
        distance = csgraph.shortest_path(adjacent[part][:, part], unweighted=True)
        counted += len(part)
        connected += len(part) ** 2
        diameter = max(diameter, int(distance.max()))
        totals += [np.count_nonzero(distance <= k) for k in ORDERS]
    return KnowledgeSizes(
        nodes=len(tree.states),
        infosets=len(tree.infosets.key),
        diameter=diameter,
        average=tuple((totals / counted).tolist()),
        connected=connected / counted,
    )


def _labels_of_later_movers(tree: GameTree[Any]) -> NDArray[np.int64]:
    """Return each player's class, int64[N, 2]; `_NO_CLASS` if the player never moves again."""
    labels = np.full((len(tree.states), 2), _NO_CLASS, np.int64)
    for player in (MAX, MIN):
        later = tree.player == player
        for level in reversed(tree.deeper_levels()):
            np.logical_or.at(later, tree.parent[level], later[level])
        _, number = np.unique(tree.keys[:, player], return_inverse=True)
        labels[:, player] = np.where(later, number, _NO_CLASS)
    return labels


class DeviationGraph:
    """K's graph G': ▲'s infosets, with an edge between two that touch the same ▼-infoset.

    Parameters
    ----------
    tree : GameTree
        The game.

    Raises
    ------
    ValueError
        If ▼ does not always know whether ▲ is to move. The proof of Theorem 5 needs that: else two
        infosets of ▲ at different times may change what follows one J, without an edge in G'.

    """

    def __init__(self, tree: GameTree[Any]) -> None:
        """Find the edges of the whole game."""
        self.tree = tree
        inner = np.flatnonzero(tree.player != TERMINAL)
        keys, number = np.unique(tree.keys[inner, MIN], return_inverse=True)
        moves = tree.player[inner] == MAX
        if np.intersect1d(number[moves], number[~moves]).size:
            raise ValueError(f"{tree.game.name}: ▼ does not always know whether ▲ is to move")
        row, column = tree.infoset[inner[moves]], number[moves]
        shape = (len(tree.infosets.key), len(keys))
        touches = sparse.csr_array((np.ones(len(row)), (row, column)), shape=shape)
        self._adjacent = sparse.csr_array(touches @ touches.T)

    def neighbours(self, infoset: int) -> NDArray[np.int64]:
        """Return the infosets that share an edge with one of ▲'s, int64[n]."""
        begin, end = self._adjacent.indptr[infoset : infoset + 2]
        found = self._adjacent.indices[begin:end].astype(np.int64)
        others: NDArray[np.int64] = found[found != infoset]
        return others


def independent_set(graph: DeviationGraph, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the infosets at which 1-KLSS is safe (`K, Theorem 5`), bool[I].

    No two of them are neighbours, ▲'s infosets on the way to each of them are among them, and none
    can be added. Infosets are tried in random order, those nearer to the start of the game first.
    """
    tree = graph.tree
    form = SequenceForm(tree)
    mine = np.flatnonzero(tree.infosets.player == MAX)
    moves = np.flatnonzero(tree.player == MAX)
    depth = np.zeros(len(tree.infosets.key), np.int64)
    depth[tree.infoset[moves]] = np.searchsorted(tree.levels, moves, side="right")
    tried = rng.permutation(mine)
    tried = tried[np.argsort(depth[tried], kind="stable")]
    chosen = np.zeros(len(tree.infosets.key), np.bool_)
    for infoset in tried.tolist():
        before = int(form.before[infoset])
        allowed = before == NO_SLOT or chosen[form.infoset_of[before]]
        chosen[infoset] = allowed and not chosen[graph.neighbours(infoset)].any()
    return chosen


def mixture(form: SequenceForm, policies: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return what ▲ plays if it draws one of `policies` before the game, each as likely.

    policies: float64[S] each. Returns float64[S]; the slots of ▼ are those of the first policy.
    """
    infosets = np.flatnonzero(form.tree.infosets.player == MAX)
    plan = np.zeros_like(policies[0])
    for policy in policies:
        plan += _plan(form, policy, infosets) / len(policies)
    slots = np.flatnonzero(form.tree.infosets.player[form.infoset_of] == MAX)
    return policy_from(form, infosets, slots, plan[slots], policies[0])


def _plan(
    form: SequenceForm, policy: NDArray[np.float64], infosets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return how likely ▲ plays each of its sequences, float64[S]; infosets: ▲'s, int64[U]."""
    offsets = form.tree.infosets.offsets
    plan = policy.copy()
    for infoset in infosets.tolist():  # those on the way to an infoset have smaller numbers
        before = int(form.before[infoset])
        if before != NO_SLOT:
            plan[offsets[infoset] : offsets[infoset + 1]] *= plan[before]
    return plan
