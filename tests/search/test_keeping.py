"""Which kept infosets become roots again."""

import numpy as np
import pytest

from obscuro.search.keeping import (
    GIFT_SCALE,
    KeptRoots,
    keep_likeliest,
    keep_roots,
    nothing_kept,
    position_hashes,
)
from obscuro.search.tree import LEAF

from .test_subgame import Turn, a_turn

WORDS = 2


def kept_of(turn: Turn) -> KeptRoots:
    return keep_roots(turn.search.tree, turn.search.gadget, turn.our_key, turn.depth)


def infosets(turn: Turn, kept: KeptRoots) -> dict[tuple[int, ...], int]:
    """The infosets by the edges of their histories."""
    pairs = zip(kept.offsets, kept.offsets[1:], strict=False)
    return {tuple(kept.edges[begin:end].tolist()): j for j, (begin, end) in enumerate(pairs)}


def likely(kept: KeptRoots) -> np.ndarray:
    played = kept.reach * kept.ours
    given = kept.ours * np.exp(-kept.gift / GIFT_SCALE)
    return played / max(played.sum(), 1e-30) + given / max(given.sum(), 1e-30)


@pytest.mark.parametrize("seed", range(4))
def test_the_likeliest_infosets_stay_as_they_are(seed: int) -> None:
    turn = a_turn(seed, 2)
    kept = kept_of(turn)
    tree = turn.search.tree
    before = infosets(turn, kept)
    assert len(before) > 4
    after = keep_likeliest(tree, kept, turn.our_key, WORDS, 3)
    chosen = infosets(turn, after)
    assert len(chosen) == 3
    for edges, j in chosen.items():
        old = before[edges]
        begin, end = kept.offsets[old], kept.offsets[old + 1]
        there = slice(after.offsets[j], after.offsets[j + 1])
        assert after.weights[there].tolist() == kept.weights[begin:end].tolist()
        assert after.alternate[j] == kept.alternate[old]
        assert after.reach[j] == pytest.approx(kept.reach[old])
        assert after.ours[j] == kept.ours[old] and after.gift[j] == kept.gift[old]
    played = {before[e] for e in before if (kept.reach * kept.ours)[before[e]] > 0}
    looked_at = {
        j
        for edges, j in before.items()
        if any(
            tree.edge_child[e] != LEAF and tree.edge_keys[e, 0] == np.uint64(turn.our_key)
            for e in edges
        )
    }
    score = likely(kept)
    first = sorted(before.values(), key=lambda j: (j not in played | looked_at, -score[j]))[:3]
    assert sorted(before[edges] for edges in chosen) == sorted(first)


def test_infosets_over_the_same_positions_become_one_with_the_reach_of_both() -> None:
    turn = a_turn(1, 2)
    tree = turn.search.tree
    kept = kept_of(turn)
    sizes = np.diff(kept.offsets)
    pair = next(
        (a, b)
        for a in range(len(sizes))
        for b in range(a + 1, len(sizes))
        if sizes[a] == sizes[b] and kept.reach[a] + kept.reach[b] > 0
    )
    of = [kept.edges[kept.offsets[j] : kept.offsets[j + 1]] for j in pair]
    tree.edge_state[of[1][::-1]] = tree.edge_state[of[0]]
    after = keep_likeliest(tree, kept, turn.our_key, WORDS, 1_000)
    assert len(after.offsets) == len(kept.offsets) - 1
    chosen = infosets(turn, after)
    stays = [tuple(edges.tolist()) in chosen for edges in of]
    assert stays.count(True) == 1
    merged = chosen[tuple(of[stays.index(True)].tolist())]
    assert after.reach[merged] == pytest.approx(kept.reach[pair[0]] + kept.reach[pair[1]])
    assert after.reach.sum() == pytest.approx(kept.reach.sum())


def test_counters_do_not_tell_positions_apart() -> None:
    states = np.array([[1, 2, 3], [1, 2, 4], [2, 1, 3]], np.uint64)
    hashes = position_hashes(states, 2).tolist()
    assert hashes[0] == hashes[1] != hashes[2]
    assert len(set(position_hashes(states, 3).tolist())) == 3


def test_of_nothing_nothing_stays() -> None:
    turn = a_turn(0, 2)
    assert len(keep_likeliest(turn.search.tree, nothing_kept(), 1, WORDS, 5).edges) == 0
