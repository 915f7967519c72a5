"""What ZS21 expands after each solution of the trunk (K, Alg. 15, lines 31-38, and D.3)."""

import numpy as np

from obscuro.research.zs21.gadget_program import Profile
from obscuro.research.zs21.sequence_table import Integers
from obscuro.research.zs21.trunk import LEAF, Trunk
from obscuro.research.zs21.trunk_game import MAX, MIN


def leaves_to_expand(trunk: Trunk, profile: Profile, depth: int) -> Integers:
    """Return the leaves that a round expands, int64[B], the most promising first.

    A leaf qualifies if it is not terminal, at least one player plays to it, and it lies at most at
    `depth`, or both players play to it. Where both play to its parent all such children are
    expanded, elsewhere the most interesting one: forcing moves first, then by the mover's value.
    """
    nodes = trunk.nodes
    leaves = np.flatnonzero(
        (nodes.first == LEAF) & ~nodes.terminal & nodes.live & (nodes.parent >= 0)
    )
    x = profile.x[nodes.sequence[:, MAX]] > 0.0
    y = profile.y[nodes.sequence[:, MIN]] > 0.0
    both = x & y
    parent = nodes.parent[leaves]
    open_ = (x[leaves] | y[leaves]) & (both[leaves] | (nodes.depth[leaves] <= depth))
    leaves, parent = leaves[open_], parent[open_]
    value = nodes.value[leaves]
    value = np.where(nodes.player[parent] == MAX, value, -value)
    # By parent, forcing moves first, then the best for the mover.
    order = np.lexsort((-value, ~nodes.forcing[leaves], parent))
    leaves, parent = leaves[order], parent[order]
    first = np.ones(len(leaves), dtype=np.bool_)
    first[1:] = parent[1:] != parent[:-1]
    chosen = both[parent] | first
    leaves, first = leaves[chosen], first[chosen]
    return leaves[np.lexsort((~first, ~both[leaves]))]
