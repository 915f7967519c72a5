"""Real searches with several threads, against the same ones with one."""

from __future__ import annotations

from threading import Event

import pytest

from obscuro.engine.player import Player
from obscuro.rules.observation import Observation
from obscuro.search import joint
from obscuro.search.search import Search
from obscuro.search.tree import EDGES, IN_FLIGHT
from tests.search.invariants import check

from .test_player import after, go, options, tell


def searched(threads: int) -> tuple[Player, Search]:
    """A player of Black after two searches, the second with what the first one kept."""
    player = Player(options(Threads=threads, edges_per_expansion=2000), lambda text: None)
    words = tell(player, 1, "e2e4")
    player.search(go(nodes=24_000), Event())
    words = after(words, "d7d5")
    player.own_move("d7d5", Observation.of(words, 1))
    player.opponent_move(Observation.of(after(words, "e4d5"), 1))
    player.search(go(nodes=24_000), Event())
    return player, player.equipment.search


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_search_from_the_same_root_and_keep_the_tree_sound(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joint, "EDGES_PER_THREAD", 1000)
    (one, alone), (many, together) = searched(1), searched(threads)
    for search in (alone, together):
        check(search.tree)
        used = int(search.tree.counts[EDGES])
        assert not (search.tree.edge_status[:used] == IN_FLIGHT).any()
        assert search.progress.nodes >= 24_000 and search.progress.expansions > 100
        assert search.progress.policy.sum() == pytest.approx(1, abs=1e-5)
    assert together.progress.roots == alone.progress.roots
    assert together.progress.policy.shape == alone.progress.policy.shape
    assert together.progress.value == pytest.approx(alone.progress.value, abs=0.2)
    one.close()
    many.close()
