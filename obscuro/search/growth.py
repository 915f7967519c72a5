"""Attaching expansions to the tree (Obscuro, C.5 and the end of Fig. 12).

Only the solver's thread calls these kernels.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.search.game import CHANCE, MAX
from obscuro.search.tree import ACTIONS as ACTION_COUNT
from obscuro.search.tree import (
    EDGES,
    FULL,
    LEAF,
    NODES,
    OPEN,
    TERMINAL,
    find_infoset,
    new_infoset,
)
from obscuro.search.tree import INFOSETS as INFOSET_COUNT

ROOM_FOR_ROOTS = 512  # nodes, edges, infosets and actions that are never used by expansions


@kernel
def has_room(tree, children):
    """Whether one more node with so many children fits into the tree; a margin stays free."""
    return (
        tree.counts[NODES] + 1 < tree.node_player.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[INFOSET_COUNT] + 1 < tree.infoset_key.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[EDGES] + children <= tree.edge_value.shape[0] - ROOM_FOR_ROOTS
        and tree.counts[ACTION_COUNT] + children <= tree.strategy.shape[0] - ROOM_FOR_ROOTS
    )


@kernel
def infoset_for(tree, key, player, values, chance, ours, freeze):
    """The infoset of a node that is about to be added; it is made if there is none.

    A new infoset starts pure on the child that is best for its player by `values` (float32[k], ▲'s
    view); at a chance node it holds the probabilities. freeze: 1-KLSS, ▲'s infosets outside our own
    keep their strategy.
    """
    count = values.shape[0]
    if player != CHANCE:
        known = find_infoset(tree, key)
        fits = known >= 0 and tree.infoset_actions[known] == count
        if fits and tree.infoset_player[known] == player:
            return known
        if known >= 0:
            key = np.uint64(0)  # two infosets with one 64-bit key: keep the newcomer apart
    infoset = new_infoset(tree, np.uint64(0) if player == CHANCE else key, player, count)
    first = tree.infoset_first[infoset]
    if player == CHANCE:
        tree.strategy[first : first + count] = chance
        return infoset
    best = 0
    for k in range(1, count):
        better = values[k] > values[best] if player == MAX else values[k] < values[best]
        if better:
            best = k
    tree.strategy[first + best] = 1
    if freeze and player == MAX and not ours:
        tree.infoset_frozen[infoset] = 1
    return infoset


@kernel
def add_node(tree, edge, above, player, infoset, ours, states, keys, values, terminal):
    """Append the node below `edge` of node `above`, with its children as leaves.

    states: uint64[k, W]; keys: uint64[k, 2]; values: float32[k]; terminal: uint8[k].
    """
    node = tree.counts[NODES]
    first = tree.counts[EDGES]
    count = values.shape[0]
    tree.counts[NODES] += 1
    tree.counts[EDGES] += count
    tree.node_player[node] = player
    tree.node_infoset[node] = infoset
    tree.node_first_edge[node] = first
    tree.node_first_action[node] = tree.infoset_first[infoset]
    tree.node_edges[node] = count
    tree.node_parent[node] = above
    tree.node_parent_edge[node] = edge
    tree.node_parent_action[node] = (
        tree.node_first_action[above] + edge - tree.node_first_edge[above]
    )
    tree.node_depth[node] = tree.node_depth[above] + 1
    tree.node_new[node] = 1
    tree.node_ours[node] = ours
    tree.node_reach[node] = 0
    for k in range(count):
        tree.edge_value[first + k] = values[k]
        tree.edge_child[first + k] = LEAF
        tree.edge_status[first + k] = TERMINAL if terminal[k] else OPEN
        tree.edge_keys[first + k] = keys[k]
        tree.edge_state[first + k] = states[k]
    tree.edge_child[edge] = node
    tree.edge_status[edge] = OPEN
    return node


@kernel
def attach(tree, our_key, freeze, edges, nodes, expansion):
    """Attach a batch of expansions; returns how many fitted and the sum of their depths.

    edges, nodes: int32[B], the expanded leaves' edges and the nodes above them. expansion: an
    `Expansion`. our_key: ▲'s key at the root; the subtrees of root states with that key are ours.
    Leaves that do not fit stay marked, and counts[FULL] is set.
    """
    attached = 0
    depth = 0
    for b in range(edges.shape[0]):
        begin = expansion.offsets[b]
        end = expansion.offsets[b + 1]
        edge = edges[b]
        if end == begin or tree.edge_child[edge] != LEAF:
            continue
        if not has_room(tree, end - begin):
            tree.counts[FULL] = 1
            break
        player = expansion.player[b]
        above = nodes[b]
        ours = tree.node_ours[above]
        if tree.node_parent[above] < 0:
            ours = np.uint8(tree.edge_keys[edge, MAX] == our_key)
        key = tree.edge_keys[edge, player] if player != CHANCE else np.uint64(0)
        infoset = infoset_for(
            tree,
            key,
            player,
            expansion.values[begin:end],
            expansion.chance[begin:end],
            ours,
            freeze,
        )
        node = add_node(
            tree,
            edge,
            above,
            player,
            infoset,
            ours,
            expansion.states[begin:end],
            expansion.keys[begin:end],
            expansion.values[begin:end],
            expansion.terminal[begin:end],
        )
        depth += tree.node_depth[node] + 1
        attached += 1
    return attached, depth
