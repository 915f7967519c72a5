"""Merge the nodes of ▲'s infoset that have the same future (`K, Sections 2 and 4`).

▲ can never tell such nodes h and h' apart. ▼ may know which it is, so that they are in two of its
infosets J, but it has the same choices and learns the same in both. A 1-KLSS subgame that has both
J's thus has two equal parts but for their constants: the alternate values, and what ▼ gets at J's
other nodes. K leaves out one of them, at random, "without losing too much".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.game_tree import GameTree, join_ranges
from obscuro.research.games.root_rules import RootBudget, RootView
from obscuro.search.game import MAX, MIN


def future_of(tree: GameTree[Any], node: int) -> bytes:
    """Return a description of what may follow a node, equal for transpositions of an infoset of ▲.

    Two nodes of one ▲-infoset are transpositions if the same sequences of actions lead from both to
    the same movers, chances and payoffs, to the same ▲-infosets, and if ▼ can tell the same
    sequences apart below both. What ▼ observes may have other names below the one than below the
    other: K's definition asks for equal observations, but equal names say nothing more to ▼.
    """
    level = np.array([node])
    parts: list[bytes] = []
    while len(level):
        _, first, told = np.unique(tree.keys[level, MIN], return_index=True, return_inverse=True)
        parts += [
            tree.player[level].tobytes(),
            tree.degree[level].tobytes(),
            tree.action[level].tobytes() if parts else b"",
            tree.chance[level].tobytes() if parts else b"",
            tree.payoff[level].tobytes(),
            tree.keys[level, MAX].tobytes(),
            first[told].tobytes(),  # each node's first fellow in its ▼-infoset
        ]
        level = join_ranges(tree.first[level], tree.degree[level])
    return b"|".join(parts)


def transpositions(tree: GameTree[Any], nodes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number the futures of the nodes of an infoset of ▲, int64[n]; equal numbers may be merged.

    nodes: int64[n].
    """
    numbers: dict[bytes, int] = {}
    found = [numbers.setdefault(future_of(tree, node), len(numbers)) for node in nodes.tolist()]
    return np.array(found, np.int64)


@dataclass(frozen=True)
class MergedTranspositions(RootBudget):
    """Keep one ▼-infoset for each future that ▲'s infoset has (`K, Algorithm 12`).

    Of several with the same future one is drawn, and the same one again for the same game, subgame
    and seed. It is a budget of the root for 1-KLSS; with other orders `kept` raises ValueError.
    """

    seed: int

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which groups stay, bool[G]. here: int64[G], each group's nodes in ▲'s infoset."""
        roots = view.roots
        if np.any(here != 1) or np.count_nonzero(roots.live) != len(here):
            raise ValueError("transpositions can be merged in 1-KLSS only")
        live = np.flatnonzero(roots.live)
        nodes = roots.node[live][np.argsort(roots.group[live])]
        words = [self.seed, *nodes.tolist()]
        order = np.random.default_rng(words).permutation(len(nodes))
        _, first = np.unique(transpositions(view.form.tree, nodes[order]), return_index=True)
        kept = np.zeros(len(nodes), np.bool_)
        kept[order[first]] = True
        return kept
