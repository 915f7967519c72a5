"""What the next subgame keeps in a game whose players do not know how many plies were made.

Our infoset I and ▼'s J that touch it may lie in several plies, and a history of J may be below
another one. Then the first histories in J on every path are kept, and I may lie below them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from obscuro.search.game import MAX, MIN
from obscuro.search.keeping import MAX_ROOT_SHARE, KeptRoots, describe_roots, most_roots
from obscuro.search.search import Search
from obscuro.search.tree import LEAF, NODES, ROOTS, TERMINAL, Tree


def keep_at_any_depth(search: Search, our_key: int) -> NDArray[np.uint64]:
    """Have the next subgame keep all that touches our infoset.

    Return the states of all histories in the tree that go on and have our key, uint64[n, W].
    """
    tree = search.tree
    if tree.counts[ROOTS] == 0:
        return np.zeros((0, search.state_words), np.uint64)
    search.keep_chosen(untimed_roots(search, our_key))
    return np.array(tree.edge_state[_own_edges(tree, our_key)])


def untimed_roots(search: Search, our_key: int) -> KeptRoots:
    """Choose what to keep, as `keeping.keep_roots` does where all of I lies in one ply."""
    tree = search.tree
    own = _own_edges(tree, our_key)
    keys = list(dict.fromkeys(tree.edge_keys[own, MIN].tolist()))[: most_roots(tree)]
    number_of = {key: number for number, key in enumerate(keys)}
    most = len(tree.edge_value) // MAX_ROOT_SHARE
    found: list[tuple[int, int, int]] = []
    below = np.zeros(int(tree.counts[NODES]), np.bool_)  # nodes under a kept history
    for node in range(int(tree.counts[NODES])):
        first = int(tree.node_first_edge[node])
        edges = np.arange(first, first + int(tree.node_edges[node]))
        children = tree.edge_child[edges]
        if below[node]:
            below[children[children != LEAF]] = True
            continue
        for edge, child in zip(edges.tolist(), children.tolist(), strict=True):
            number = number_of.get(int(tree.edge_keys[edge, MIN]))
            if number is None or tree.edge_status[edge] == TERMINAL or len(found) == most:
                continue
            if child != LEAF:
                below[child] = True
            found.append((edge, node, number))
    chosen = np.array(found, np.int32).reshape(-1, 3)
    return describe_roots(tree, search.gadget, our_key, *np.ascontiguousarray(chosen.T))


def _own_edges(tree: Tree, our_key: int) -> NDArray[np.int64]:
    """The edges to histories with our key that go on, ascending."""
    count = tree.nodes
    own = tree.edge_keys[:count, MAX] == np.uint64(our_key)
    return np.flatnonzero(own & (tree.edge_status[:count] != TERMINAL))
