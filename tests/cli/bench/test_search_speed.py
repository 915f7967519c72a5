"""`obscuro bench search`: what it measures, and what it prints."""

from __future__ import annotations

import json

import numpy as np
import pytest
from rich.console import Console

from obscuro.cli.arguments import parse
from obscuro.cli.bench import search_speed as search
from obscuro.cli.bench.following import POSITIONS, Follower, StudyPosition
from obscuro.cli.bench.search_results import Kept, SearchFigures, Synthetic, print_report, summary
from obscuro.cli.bench.search_stages import Building, Growth, Speed, Stopwatch, building, growth
from obscuro.cli.bench.synthetic import (
    FEWEST_ACTIONS,
    MOST_ACTIONS,
    SUPPORT,
    play_dense,
    play_sparse,
    support,
    synthetic_tree,
)
from obscuro.cli.bench.thread_speed import Together
from obscuro.engine.report import SearchInfo
from obscuro.search.game import CHANCE
from obscuro.search.solver import iterate
from obscuro.search.tree import INFOSETS, NODES, Tree
from tests.cli.conftest import written
from tests.search.invariants import check

pytestmark = pytest.mark.xdist_group("timing")

KEYS = {
    "solver_full_ips",
    "solver_sparse_ips",
    "solver_full_meps",
    "joint_ips",
    "joint_ratio",
    "kept_ips",
    "kept_meps",
    "select_us",
    "attach_us",
    "expand_us",
    "subgame_ms",
    "tree_nodes",
    "tree_infosets",
    "tree_depth",
    "tree_carried",
    "cpu_share",
    "machine",
}
SMALL = 20_000  # edges
# Two rook pawns each are pushed; whatever is played next, the game goes on.
CALM = StudyPosition("calm", "a2a3 h7h6 h2h3 a7a6")
TINY = search.Plan((CALM,), SMALL, 3, 600, (900, 1200), 3, 2, 60, 2)


# -- the made-up tree -----------------------------------------------------------------------


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


def test_dense_strategies_stay_dense_and_every_edge_is_visited_for_both() -> None:
    tree, _ = synthetic_tree(SMALL)
    assert iterations(tree, play_dense, 5) == 5 * 2 * tree.nodes
    assert support(tree) > FEWEST_ACTIONS


def test_sparse_strategies_stay_sparse_and_edges_are_pruned() -> None:
    tree, _ = synthetic_tree(SMALL)
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
    assert len(found.solver.ips) == 4
    assert len(found.select_us) == len(found.expand_us) == len(found.store_us) > 0
    assert min(found.select_us + found.attach_us) > 0
    assert all(whole > part for whole, part in zip(found.attach_us, found.store_us, strict=True))
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
    assert len(found.subgame_ms) == 3
    assert 0 < found.carried <= found.nodes == nodes
    follower.close()


# -- numbers --------------------------------------------------------------------------------


def speed(*ips: float) -> Speed:
    return Speed(list(ips), [x / 10 for x in ips], [1e6 for _ in ips])


def kept(size: int, ips: float, select: float, subgame: Building | None) -> Kept:
    grown = Growth(speed(ips), [select, select, 99.0], [5.0], [6.0], [31.0])
    return Kept("a position", size, size + 7, 50, 4.5, 3, 40, grown, subgame)


def info(nodes: int, carried: int, depth: float) -> SearchInfo:
    return SearchInfo(
        depth, 20, nodes, 5000, 0.1, 10, [], 9, True, 5, carried, 70, 800, 33, 990, "resolve"
    )


TOGETHER = Together(2, alone=[400.0, 410.0], joint=[500.0, 540.0], apart=[500.0, 600.0])


def made_up() -> SearchFigures:
    return SearchFigures(
        Synthetic(10**6, 10_000, 5.0, speed(500, 400, 10), speed(2000, 1600, 1), TOGETHER),
        [
            kept(1000, 9000, 1.0, None),
            kept(5000, 700, 4.0, Building(5007, 900, [10.0, 20.0, 60.0], [30.0, 30.0, 30.0])),
            kept(5000, 500, 6.0, None),
        ],
        [info(100, 20, 5.0), info(300, 40, 7.0)],
        0.5,
    )


def test_numbers_are_medians_over_the_largest_trees() -> None:
    numbers = summary(made_up())
    assert numbers["solver_full_ips"] == 400
    assert numbers["solver_sparse_ips"] == 1600
    assert numbers["solver_full_meps"] == 40
    assert numbers["joint_ips"] == 520
    assert numbers["joint_ratio"] == pytest.approx(0.95)
    assert numbers["kept_ips"] == 600
    assert numbers["select_us"] == 5
    assert (numbers["expand_us"], numbers["store_us"], numbers["attach_us"]) == (5, 6, 11)
    assert numbers["subgame_ms"] == 50
    assert (numbers["keep_ms"], numbers["build_ms"]) == (20, 30)
    assert (numbers["subgame_nodes"], numbers["subgame_carried"]) == (5007, 900)
    assert numbers["tree_nodes"] == (125 + 345) / 2  # kept, sampled and added
    assert numbers["tree_added"] == 200
    assert numbers["tree_depth"] == 6
    trees = numbers["trees"]
    assert isinstance(trees, list)
    assert [tree["kept_ips"] for tree in trees] == [9000, 700, 500]


def test_nothing_measured_is_no_number() -> None:
    numbers = summary(made_up()._replace(kept=[], played=[]))
    for key in ("kept_ips", "select_us", "attach_us", "subgame_ms", "tree_nodes", "tree_depth"):
        assert numbers[key] is None


def test_a_busy_machine_is_told(console: Console) -> None:
    measured = made_up()
    print_report(console, measured, summary(measured))
    assert "The machine was busy: the timed work had 50% of a core" in written(console)


# -- all of it ------------------------------------------------------------------------------


def test_json_is_one_object_with_all_keys(console: Console) -> None:
    arguments = parse(["bench", "search", "--json"])
    assert search.run(arguments, plan=TINY, console=console) == 0
    numbers = json.loads(written(console))
    assert numbers.keys() >= KEYS
    for key in KEYS - {"machine", "subgame_ms", "tree_carried"}:
        assert numbers[key] > 0, key
    assert numbers["solver_full_edges"] == 2 * numbers["synthetic"]["edges"]
    assert [tree["position"] for tree in numbers["trees"]] == ["calm", "calm"]
    assert numbers["trees"][0]["subgame_ms"] is None  # only built from the last one


def test_the_table_has_a_row_for_each_tree(console: Console) -> None:
    arguments = parse(["bench", "search", "--quick"])
    assert search.run(arguments, plan=TINY, console=console) == 0
    text = written(console)
    assert text.isascii()
    assert text.count(" calm ") == 2
    for line in (
        "solver, dense",
        "solver, sparse",
        "2 threads on one tree",
        "select a leaf",
        "60 ms, 2 threads",
    ):
        assert line in text
