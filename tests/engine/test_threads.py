"""Real searches with several threads, against the same ones with one."""

from __future__ import annotations

from threading import Event

import numpy as np
import pytest

from obscuro.engine.player import Player
from obscuro.fog.observation import Observation
from obscuro.search import joint
from obscuro.search.invariants import check
from obscuro.search.search import Search
from obscuro.search.tree import ACTIONS, EDGES

from .test_player import after, go, options, tell


def searched(threads: int) -> tuple[Player, Search]:
    """A player of Black after two searches, the second with what the first one kept."""
    player = Player(options(Threads=threads, Edges_Per_Expansion=2000), lambda text: None)
    words = tell(player, 1, "e2e4")
    player.search(go(nodes=6000), Event())
    words = after(words, "d7d5")
    player.own_move("d7d5", Observation.of(words, 1))
    player.opponent_move(Observation.of(after(words, "e4d5"), 1))
    player.search(go(nodes=6000), Event())
    return player, player.equipment.search


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_search_as_one_thread_does(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 1000)
    (one, alone), (many, together) = searched(1), searched(threads)
    check(together.tree)
    assert together.progress.expansions == alone.progress.expansions > 100
    assert together.progress.iterations == alone.progress.iterations
    edges, actions = (int(alone.tree.counts[count]) for count in (EDGES, ACTIONS))
    assert np.array_equal(together.tree.counts, alone.tree.counts)
    for name in ("edge_state", "edge_keys", "edge_child"):
        ours, theirs = (getattr(each.tree, name)[:edges] for each in (together, alone))
        assert np.array_equal(ours, theirs), name
    for name in ("strategy", "cfv", "regret"):
        ours, theirs = (getattr(each.tree, name)[:actions] for each in (together, alone))
        np.testing.assert_allclose(ours, theirs, 0, 1e-3, err_msg=name)
    one.close()
    many.close()
