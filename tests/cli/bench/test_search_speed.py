"""`obscuro bench search`: what it measures, and what it prints."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console

from obscuro.cli.arguments import parse
from obscuro.cli.bench import search_speed as search
from obscuro.cli.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.cli.bench.search_speed import GROWTH, Stopwatch, building, growth, summary
from obscuro.cli.bench.synthetic import (
    FEWEST_ACTIONS,
    MOST_ACTIONS,
    SUPPORT,
    play_dense,
    play_sparse,
    synthetic_tree,
)
from obscuro.engine.report import SearchInfo
from obscuro.search.game import CHANCE
from obscuro.search.solver import iterate
from obscuro.search.tree import INFOSETS, NODES, ROOTS, Tree
from tests.cli.conftest import written
from tests.search.invariants import check

KEYS = {
    "solver_full_ips", "solver_sparse_ips", "solver_full_meps", "kept_ips", "kept_meps",
    "select_us", "attach_us", "expand_us", "subgame_ms", "tree_nodes", "tree_infosets",
    "tree_depth", "tree_carried", "cpu_share", "machine",
}  # fmt: skip
SMALL = 20_000  # edges
# Two rook pawns each are pushed; whatever is played next, the game goes on.
CALM = StudyPosition("calm", "a2a3 h7h6 h2h3 a7a6")
TINY = search.Plan((CALM,), SMALL, 3, 600, (900, 1200), 3, 2, 60, 2)


# -- the made-up tree -----------------------------------------------------------------------


def support(tree: Tree) -> float:
    """The mean number of actions in the support, over the players' infosets."""
    infosets = int(tree.counts[INFOSETS])
    sizes = tree.infoset_actions[:infosets]
    played = np.repeat(tree.infoset_player[:infosets] != CHANCE, sizes)
    played[: int(tree.counts[ROOTS])] = False
    strategy = tree.strategy[: len(played)][played]
    return float(np.count_nonzero(strategy)) / max(tree.infosets, 1)


def test_the_made_up_tree_is_sound_and_always_the_same() -> None:
    tree, _ = synthetic_tree(SMALL)
    check(tree)
    again, _ = synthetic_tree(SMALL)
    for one, other in zip(tree, again, strict=True):
        assert np.array_equal(one, other)
    assert SMALL <= tree.nodes < SMALL + MOST_ACTIONS
    sizes = tree.infoset_actions[: tree.counts[INFOSETS]]
    players = tree.infoset_player[: tree.counts[INFOSETS]]
    deciding = sizes[1:][players[1:] != CHANCE]
    assert deciding.min() >= FEWEST_ACTIONS and deciding.max() <= MOST_ACTIONS
    assert deciding.mean() == pytest.approx(31, abs=2)
    inner = tree.node_player[: tree.counts[NODES]] != CHANCE
    per_infoset = np.count_nonzero(inner) / tree.infosets
    assert 1.5 < per_infoset < 4  # as in trees of the engine


def iterations(tree: Tree, play: object, times: int) -> int:
    """Edges visited; the strategies must stay."""
    gadget = play(tree)  # type: ignore[operator]
    check(tree)
    before = tree.strategy.copy()
    done, edges = iterate(tree, gadget, times, 2**60, -1, 0, np.zeros(64, dtype=np.int64))
    assert done == times
    np.testing.assert_allclose(tree.strategy, before, atol=1e-6)
    check(tree)
    return int(edges)


def test_strategies_keep_their_support_and_the_edges_of_sparse_ones_are_pruned() -> None:
    tree, _ = synthetic_tree(SMALL)
    assert iterations(tree, play_dense, 5) == 5 * 2 * tree.nodes
    assert support(tree) > FEWEST_ACTIONS
    once = iterations(tree, play_sparse, 1)
    assert once < 0.8 * 2 * tree.nodes  # at the top of a small tree few are
    assert iterations(tree, play_sparse, 5) == 5 * once
    assert support(tree) == SUPPORT


# -- the engine's trees ---------------------------------------------------------------------


def test_positions_can_be_followed() -> None:
    assert len({position.name for position in POSITIONS}) == len(POSITIONS)
    for position in POSITIONS:
        follower = Follower(position, hash_mib=16)
        assert follower.player.belief_exact
        assert len(follower.board.move_stack) == len(position.moves.split())
        follower.close()


def test_an_illegal_move_is_an_error() -> None:
    with pytest.raises(search.BenchmarkError, match=r"^wrong: illegal uci: 'e2e5'"):
        Follower(StudyPosition("wrong", "e2e5"), hash_mib=16)


def test_following_repeats_itself() -> None:
    found = []
    for _ in range(2):
        follower = Follower(CALM, hash_mib=16)
        follower.think(nodes=900)
        assert follower.play_on()
        info = follower.think(nodes=900)
        found.append((follower.board.move_stack, info.iterations, info.nodes, info.policy))
        follower.close()
    assert found[0] == found[1]


def test_growth_grows_a_sound_tree() -> None:
    follower = Follower(CALM, hash_mib=16)
    follower.think(nodes=900)
    tree = follower.search.tree
    before, evaluator = tree.nodes, follower.games[0].evaluator
    watch = Stopwatch()
    found = growth(follower, 4, watch)
    check(tree)
    assert tree.nodes > before
    assert follower.games[0].evaluator is evaluator
    assert len(found["kept_ips"]) == 4
    assert found.keys() == set(GROWTH)
    assert all(min(samples) > 0 for samples in found.values())
    assert watch.worked > 0
    follower.close()


def test_building_leaves_the_search_as_it_is() -> None:
    follower = Follower(CALM, hash_mib=16)
    follower.think(nodes=30_000)
    assert follower.play_on()
    tree, nodes = follower.search.tree, follower.search.tree.nodes
    found = building(follower, 3, Stopwatch())
    assert follower.search.tree is tree and tree.nodes == nodes
    check(tree)
    check(follower.search.spare)
    assert len(found["subgame_ms"]) == 3
    assert found["subgame_nodes"] == [nodes]
    assert 0 < found["subgame_carried"][0] <= nodes
    follower.close()


# -- numbers --------------------------------------------------------------------------------


def info(nodes: int, carried: int, depth: float) -> SearchInfo:
    return SearchInfo(
        depth, 20, nodes, 5000, 0.1, 10, [], 9, True, 5, carried, 70, 800, 33, 990, "resolve"
    )


def test_numbers_are_medians_over_the_largest_trees() -> None:
    trees: list[dict[str, object]] = [
        {"size": size, **dict.fromkeys((*GROWTH, *search.BUILDING)), **numbers}
        for size, numbers in (
            (1000, {"kept_ips": 9000.0, "select_us": 1.0}),
            (5000, {"kept_ips": 700.0, "select_us": 4.0, "subgame_ms": 50.0}),
            (5000, {"kept_ips": 500.0, "select_us": 6.0}),
        )
    ]
    numbers = summary(trees, [info(100, 20, 5.0), info(300, 40, 7.0)])
    assert numbers["kept_ips"] == 600
    assert numbers["select_us"] == 5
    assert numbers["subgame_ms"] == 50
    assert numbers["store_us"] is None
    assert numbers["tree_nodes"] == (125 + 345) / 2  # kept, sampled and added
    assert numbers["tree_added"] == 200
    assert numbers["tree_depth"] == 6


def test_nothing_measured_is_no_number() -> None:
    assert set(summary([], []).values()) == {None}


# -- all of it ------------------------------------------------------------------------------


def test_the_json_has_all_keys_and_the_table_a_row_for_each_tree(console: Console) -> None:
    arguments = parse(["bench", "search", "--json"])
    assert search.run(arguments, plan=TINY, console=console) == 0
    numbers = json.loads(written(console))
    assert numbers.keys() >= KEYS
    for key in KEYS - {"machine", "subgame_ms", "tree_carried"}:
        assert numbers[key] > 0, key
    assert numbers["solver_full_edges"] == 2 * numbers["synthetic"]["edges"]
    assert [tree["position"] for tree in numbers["trees"]] == ["calm", "calm"]
    assert numbers["trees"][0]["subgame_ms"] is None  # only built from the last one
    search.print_report(console, numbers)
    text = written(console).partition("\n")[2]
    assert text.isascii()
    assert text.count(" calm ") == 2
    for line in ("solver, dense", "solver, sparse", "select a leaf", "60 ms, 2 threads"):
        assert line in text
