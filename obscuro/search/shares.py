"""How a tree is shared out among threads that sweep it together.

Each thread has whole subtrees, chosen so that all have as much to do. The nodes above them, few and
near the root, are the trunk, and one thread's besides. A thread finds its nodes side by side, parent
first, in arrays of its own, with the values of their edges. So no thread writes to a cache line
that another one uses all the time.

An infoset may have nodes in several shares. Each of these shares has a row of sums for it. One of
the rows is the head of a list; its thread adds the others to it and updates the infoset.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX, MIN
from obscuro.search.tree import INFOSETS, NO_PARENT, NODES, ROOT_INFOSET, Tree

NO_ROW = -1
MOST_THREADS = 64
PIECES = 6  # a subtree with more than 1 / PIECES of a thread's work is cut
# What a node costs, in visits of an edge.
ASLEEP = 6  # with reach 0, in both sweeps
AWAKE = 30  # in a sweep, beside its edges

_ONE = np.float32(1)

Places = npt.NDArray[np.int32]


class Shares(NamedTuple):
    """A tree in the order of its shares. Share t < threads is thread t's; the last is the trunk.

    n, e: capacities of nodes and edges. A place is where a share has a node.
    """

    node: Places  # [n]
    parent: Places  # [n] its place, NO_PARENT for the chance nodes of the root
    parent_action: Places  # [n] index into the tree's action arrays
    parent_value: Places  # [n] where the node's value goes, NO_PARENT: to the gadget
    first_action: Places  # [n]
    first_value: Places  # [n] of the node's edges, in `values`
    width: Places  # [n] number of edges
    row: Places  # [n] NO_ROW at chance nodes
    player: npt.NDArray[np.int8]  # [n]
    owner: npt.NDArray[np.uint8]  # [n] the share
    new: npt.NDArray[np.uint8]  # [n] as the tree's node_new
    reach: npt.NDArray[np.float32]  # [n] π_{-player} in the present sweep
    values: npt.NDArray[np.float32]  # [e] of edges, ▲'s view

    row_infoset: Places  # [n]
    row_first: Places  # [n] in `sums`
    row_next: Places  # [n] the infoset's next row, NO_ROW: none
    row_owner: npt.NDArray[np.uint8]  # [n] the share
    row_head: npt.NDArray[np.uint8]  # [n] 1: the first one of its infoset
    row_touched: npt.NDArray[np.uint8]  # [n] 1 between the sweep and the update
    row_stale: npt.NDArray[np.uint8]  # [n] 1 where the tree's cfv is older than the sums
    row_reach: npt.NDArray[np.float32]  # [n] Σ π_{-i}
    sums: npt.NDArray[np.float32]  # [e] counterfactual values

    place: Places  # [n] of a node
    first_row: Places  # [n] of an infoset, NO_ROW: none
    starts: npt.NDArray[np.int64]  # [shares + 1, 2] first place and row; first value and sum
    used: npt.NDArray[np.int64]  # [shares, 4] places, rows, values, sums


PLACES, ROWS, VALUES, SUMS = range(4)  # columns of `used`


def lend(spare: Tree, threads: int) -> Shares:
    """Shares for `threads` threads in the arrays of a tree that is not in use otherwise."""
    n = len(spare.node_player)
    return Shares(
        node=spare.node_infoset,
        parent=spare.node_parent,
        parent_action=spare.node_parent_action,
        parent_value=spare.node_parent_edge,
        first_action=spare.node_first_action,
        first_value=spare.node_first_edge,
        width=spare.node_edges,
        row=spare.node_depth,
        player=spare.node_player,
        owner=spare.node_ours,
        new=spare.node_new,
        reach=spare.node_reach,
        values=spare.edge_value,
        row_infoset=spare.infoset_actions,
        row_first=spare.infoset_first,
        row_next=spare.infoset_visits,
        row_owner=spare.edge_status[:n],
        row_head=spare.infoset_player.view(np.uint8),
        row_touched=spare.infoset_touched,
        row_stale=spare.infoset_frozen,
        row_reach=spare.infoset_reach,
        sums=spare.cfv,
        place=spare.edge_child[:n],
        first_row=spare.picks[:n],
        starts=np.zeros((threads + 2, 2), dtype=np.int64),
        used=np.zeros((threads + 1, 4), dtype=np.int64),
    )


@kernel
def weigh(tree, weight, reach):
    """Write the work in each node's subtree to weight, float32[nodes], in visits of edges.

    It is that of one iteration under the present strategies. reach: float32[nodes, 2], scratch.
    Returns the work in the whole tree.
    """
    nodes = tree.counts[NODES]
    root = tree.infoset_first[ROOT_INFOSET]
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            reach[node, MAX] = tree.strategy[root + node]
            reach[node, MIN] = _ONE
        else:
            probability = tree.strategy[tree.node_parent_action[node]]
            mover = tree.node_player[parent]
            reach[node, MAX] = reach[parent, MAX] * (_ONE if mover == MAX else probability)
            reach[node, MIN] = reach[parent, MIN] * (_ONE if mover == MIN else probability)
        work = np.float32(ASLEEP)
        for side in range(2):
            if reach[node, side] > 0:
                work += np.float32(AWAKE + tree.node_edges[node])
        weight[node] = work
    total = np.float64(0)
    for node in range(nodes - 1, -1, -1):
        parent = tree.node_parent[node]
        if parent == NO_PARENT:
            total += weight[node]
        else:
            weight[parent] += weight[node]
    return total


@kernel
def find_pieces(tree, weight, most, pieces):
    """List the topmost nodes with a work of at most `most`; returns how many.

    weight: float32[nodes], of subtrees. pieces: int32[nodes], written.
    """
    count = 0
    for node in range(tree.counts[NODES]):
        parent = tree.node_parent[node]
        if weight[node] <= most and (parent == NO_PARENT or weight[parent] > most):
            pieces[count] = node
            count += 1
    return count


@kernel
def give_out(tree, shares, weight, most, pieces):
    """Give pieces to the threads, each to the one with the least work, and all nodes a place.

    pieces: int32[k], the heaviest first; weight, most: see `find_pieces`.
    """
    threads = shares.used.shape[0] - 1
    nodes = tree.counts[NODES]
    owner = np.full(nodes, threads, dtype=np.uint8)
    load = np.zeros(threads, dtype=np.float64)
    for piece in pieces:
        least = 0
        for thread in range(1, threads):
            if load[thread] < load[least]:
                least = thread
        owner[piece] = least
        load[least] += weight[piece]
    shares.used[:] = 0
    for node in range(nodes):
        parent = tree.node_parent[node]
        if parent != NO_PARENT and weight[parent] <= most:
            owner[node] = owner[parent]
        shares.used[owner[node], PLACES] += 1
        shares.used[owner[node], VALUES] += tree.node_edges[node]
    _set_starts(shares)
    for infoset in range(tree.counts[INFOSETS]):
        shares.first_row[infoset] = NO_ROW
    for of_trunk in (True, False):  # the trunk's rows become the heads of their lists
        for node in range(nodes):
            if (owner[node] == threads) == of_trunk:
                _add_place(tree, shares, node, owner[node])


@kernel
def _set_starts(shares):
    """Set where shares begin, from the room that each needs, with the rest divided evenly."""
    threads = shares.used.shape[0] - 1
    for kind, column, capacity in (
        (0, PLACES, shares.node.shape[0]),
        (1, VALUES, shares.values.shape[0]),
    ):
        needed = 0
        for share in range(threads + 1):
            needed += shares.used[share, column]
        spare = (capacity - needed) // threads
        start = 0
        for share in range(threads + 1):
            shares.starts[share, kind] = start
            start += shares.used[share, column]
            if share < threads:
                start += spare
        shares.starts[threads + 1, kind] = start
    shares.used[:] = 0


@kernel(forceinline=True)
def _row_for(tree, shares, infoset, owner):
    """The row of a share for an infoset; it is made if there is none."""
    last = NO_ROW
    row = shares.first_row[infoset]
    while row != NO_ROW:
        if shares.row_owner[row] == owner:
            return row
        last = row
        row = shares.row_next[row]
    row = shares.starts[owner, 0] + shares.used[owner, ROWS]
    first = shares.starts[owner, 1] + shares.used[owner, SUMS]
    shares.used[owner, ROWS] += 1
    shares.used[owner, SUMS] += tree.infoset_actions[infoset]
    shares.row_infoset[row] = infoset
    shares.row_first[row] = first
    shares.row_next[row] = NO_ROW
    shares.row_owner[row] = owner
    shares.row_head[row] = last == NO_ROW
    shares.row_touched[row] = 0
    shares.row_stale[row] = 0
    shares.row_reach[row] = 0
    if last == NO_ROW:
        shares.first_row[infoset] = row
    else:
        shares.row_next[last] = row
    return row


@kernel(forceinline=True)
def _add_place(tree, shares, node, owner):
    """Append a node to a share that has room for it."""
    count = tree.node_edges[node]
    place = shares.starts[owner, 0] + shares.used[owner, PLACES]
    value = shares.starts[owner, 1] + shares.used[owner, VALUES]
    shares.used[owner, PLACES] += 1
    shares.used[owner, VALUES] += count
    parent = tree.node_parent[node]
    shares.place[node] = place
    shares.node[place] = node
    shares.player[place] = tree.node_player[node]
    shares.owner[place] = owner
    shares.new[place] = tree.node_new[node]
    shares.reach[place] = tree.node_reach[node]
    shares.first_action[place] = tree.node_first_action[node]
    shares.first_value[place] = value
    shares.width[place] = count
    if parent == NO_PARENT:
        shares.parent[place] = NO_PARENT
        shares.parent_action[place] = NO_PARENT
        shares.parent_value[place] = NO_PARENT
    else:
        above = shares.place[parent]
        rank = tree.node_parent_edge[node] - tree.node_first_edge[parent]
        shares.parent[place] = above
        shares.parent_action[place] = tree.node_parent_action[node]
        shares.parent_value[place] = shares.first_value[above] + rank
    if tree.node_player[node] == CHANCE:
        shares.row[place] = NO_ROW
    else:
        shares.row[place] = _row_for(tree, shares, tree.node_infoset[node], owner)
    first = tree.node_first_edge[node]
    values, edge_value = shares.values, tree.edge_value
    for k in range(count):
        values[value + k] = edge_value[first + k]


@kernel
def add_nodes(tree, shares, first_node, first_infoset):
    """Give the nodes and infosets from these on a place; returns the first node without one.

    That is the number of nodes if the shares have room for all. A node is in its parent's share, or
    below the trunk in the smallest one.
    """
    threads = shares.used.shape[0] - 1
    for infoset in range(first_infoset, tree.counts[INFOSETS]):
        shares.first_row[infoset] = NO_ROW
    for node in range(first_node, tree.counts[NODES]):
        owner = shares.owner[shares.place[tree.node_parent[node]]]
        if owner == threads:
            owner = np.uint8(0)
            for thread in range(1, threads):
                if shares.used[thread, VALUES] < shares.used[owner, VALUES]:
                    owner = np.uint8(thread)
        if (
            shares.starts[owner, 0] + shares.used[owner, PLACES] >= shares.starts[owner + 1, 0]
            or shares.starts[owner, 1] + shares.used[owner, VALUES] + tree.node_edges[node]
            > shares.starts[owner + 1, 1]
        ):
            return node
        _add_place(tree, shares, node, owner)
    return tree.counts[NODES]
