"""Which kept infosets of ▼ become roots again, where there are more than the budget has room for.

A large tree holds thousands of ▼'s infosets that touch ours. Most differ only in the order of moves
or were hardly looked at, and together they take the search's time from the few that matter.
"""

import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.search.game import MAX
from obscuro.search.keeping import KeptRoots
from obscuro.search.tree import LEAF, Tree

Words = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float32]

GIFT_SCALE = 0.1  # a gift of so much value makes a move of ▼ e times less plausible
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_ROUND = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)
_START = np.uint64(1)


@kernel
def _hash_states(states, words):
    """A hash of the first `words` words of each state, uint64[n]."""
    hashes = np.empty(states.shape[0], dtype=np.uint64)
    for i in range(states.shape[0]):
        value = _START
        for k in range(words):
            value = (value ^ states[i, k]) * _FACTOR
            value = (value ^ (value >> _SHIFT)) * _ROUND
            value ^= value >> _SHIFT
        hashes[i] = value
    return hashes


def position_hashes(states: Words, words: int) -> Hashes:
    """Hash what tells positions apart, the first `words` words of states uint64[n, W]: uint64[n]."""
    return np.asarray(_hash_states(np.ascontiguousarray(states), words))


def thinned(tree: Tree, kept: KeptRoots, our_key: int, words: int, most: int) -> KeptRoots:
    """Merge the kept J with equal sets of positions, and leave out all but the `most` likeliest.

    tree: that `kept` was chosen from. our_key: our information key now. words: how many words of a
    state tell positions apart.

    Of J with equal sets the likeliest stays, and ▼'s reach of all counts as its own. How likely a J
    is, is half what ▼'s strategy says, y(J), and half how little ▼ gave away on the way to it,
    exp(−ĝ(J) / GIFT_SCALE), both times the reach of ▲ and chance. J in which ▼ does not play and
    none of our histories was expanded come last.
    """
    count = len(kept.offsets) - 1
    if count == 0:
        return kept
    states = tree.edge_state[kept.edges]
    sets = np.add.reduceat(position_hashes(states, words), kept.offsets[:-1])
    sets ^= np.diff(kept.offsets).astype(np.uint64)
    ours = tree.edge_keys[kept.edges, MAX] == np.uint64(our_key)
    known = ours & (tree.edge_child[kept.edges] != LEAF)
    looked_at = np.logical_or.reduceat(known, kept.offsets[:-1])
    played = kept.reach * kept.ours
    likely = _shares(played) + _shares(kept.ours * np.exp(-kept.gift / np.float32(GIFT_SCALE)))
    order = np.lexsort((-likely, ~(looked_at | (played > 0))))
    _, first, group = np.unique(sets[order], return_index=True, return_inverse=True)
    reach = np.bincount(group, weights=kept.reach[order]).astype(np.float32)
    rank = np.argsort(first)[:most]  # the first of each group, the likeliest group first
    return _chosen(kept, order[first[rank]], reach[rank])


def _shares(masses: Reals) -> Reals:
    """Masses as shares of their sum; all 0 if that is 0."""
    total = masses.sum()
    return masses / total if total > 0 else masses


def _chosen(kept: KeptRoots, infosets: npt.NDArray[np.intp], reach: Reals) -> KeptRoots:
    """The infosets with these numbers, in the order of `kept`. reach: theirs, as numbered."""
    order = np.argsort(infosets)
    infosets, reach = infosets[order], reach[order]
    sizes = np.diff(kept.offsets)[infosets]
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    histories = np.repeat(kept.offsets[infosets], sizes) + within
    return KeptRoots(
        offsets,
        kept.edges[histories],
        kept.weights[histories],
        reach,
        kept.alternate[infosets],
        kept.gift[infosets],
        kept.ours[infosets],
    )
