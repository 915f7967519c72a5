"""Where 1-KLSS may leave the blueprint without a loss of safety (`K, Section 4.2`).

1-KLSS at one infoset is safe, and 1-KLSS at all of them is not: two infosets of ▲ that ▼ cannot
tell apart may both make up for the same weakness. Theorem 5 allows 1-KLSS at a set of infosets of
which no two touch the same ▼-infoset. Algorithm 14 draws such a set before the game, and plays the
last strategy on at all other infosets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import NO_SLOT, GameTree
from obscuro.research.games.sequence_form import SequenceForm, policy_from
from obscuro.search.game import MAX, MIN


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
