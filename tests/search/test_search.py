from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.search.game import MAX, Expansion
from obscuro.search.pace import Limits, Progress
from obscuro.search.parameters import BATCH, EXHAUSTED_AFTER, SearchParameters
from obscuro.search.search import Search
from obscuro.search.tree import EDGES, IN_FLIGHT, LEAF, NODES, OPEN, ROOTS, Tree, find_infoset
from tests.search.invariants import check

from .random_game import OUR_KEY, RandomGame
from .trees import actions_of, random_search, run_iterations

REPOSITORY = Path(__file__).resolve().parents[2]
FOREVER = Limits()


def new_search(
    seed: int = 1,
    *,
    game: RandomGame | None = None,
    threads: int = 1,
    hash_bytes: int = 4 << 20,
    parameters: SearchParameters | None = None,
) -> Search:
    game = game or RandomGame(9, plies=30)
    games = [game] * threads
    search = Search(games, parameters or SearchParameters(), hash_bytes, threads, seed)
    search.begin(OUR_KEY, game.roots(4, 5, np.random.default_rng(0)), [])
    return search


def go(search: Search, nodes: int | None = None) -> Progress:
    return search.run(Limits(nodes=nodes), threading.Event())


def contents(tree: Tree) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in tree._asdict().items()}


class Stopper(RandomGame):
    """Asks for the end of the search after some expansions; calls: the leaves of each."""

    def __init__(self, seed: int, stops_at: int) -> None:
        super().__init__(seed, plies=30)
        self.stops_at = stops_at
        self.stop = threading.Event()
        self.calls: list[int] = []

    def expand(self, states: NDArray[np.uint64], keys: NDArray[np.uint64]) -> Expansion:
        self.calls.append(len(states))
        if sum(self.calls) >= self.stops_at:
            self.stop.set()
        return super().expand(states, keys)


# -- in one thread ---------------------------------------------------------------------------------


def test_same_seed_same_tree_bit_for_bit() -> None:
    one, same = new_search(3), new_search(3)
    first, second = go(one, 1000), go(same, 1000)
    assert contents(one.tree) == contents(same.tree)
    assert first.value == second.value and first.policy.tolist() == second.policy.tolist()
    assert first.iterations == second.iterations


def test_forgetting_starts_the_same_search_again() -> None:
    search = new_search(3)
    go(search, 1000)
    before = contents(search.tree)
    game = search.games[0]
    assert isinstance(game, RandomGame)
    search.forget()
    assert search.tree.counts[ROOTS] == 0 and search.last_value is None
    search.begin(OUR_KEY, game.roots(4, 5, np.random.default_rng(0)), [])
    go(search, 1000)
    used = int(search.tree.counts[EDGES])
    again = new_search(3)
    go(again, 1000)
    assert contents(again.tree) == before
    assert np.array_equal(search.tree.edge_keys[:used], again.tree.edge_keys[:used])
    assert np.array_equal(search.tree.edge_value[:used], again.tree.edge_value[:used])


def test_another_seed_another_tree() -> None:
    one, other = new_search(3), new_search(4)
    go(one, 1000)
    go(other, 1000)
    assert contents(one.tree)["edge_state"] != contents(other.tree)["edge_state"]


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("nodes", [1, 500, 3000])
def test_a_search_by_nodes_ends_soon_after_so_many(nodes: int, one_sided: bool) -> None:
    search = new_search(parameters=SearchParameters(one_sided=one_sided))
    roots = search.tree.nodes
    progress = go(search, nodes)
    check(search.tree)
    assert nodes <= progress.nodes == search.tree.nodes - roots < nodes + 16 * 3
    assert progress.expansions == search.tree.counts[NODES] - search.tree.counts[ROOTS]
    assert progress.infosets == search.tree.infosets
    assert progress.iterations > 0
    assert 1 <= progress.depth <= progress.seldepth <= 30
    assert not (search.tree.edge_status == IN_FLIGHT).any()


def test_a_deadline_that_is_over_leaves_time_for_one_slice() -> None:
    search = new_search()
    progress = search.run(Limits(deadline=0.0), threading.Event())
    assert progress.iterations > 0
    check(search.tree)


def test_a_search_that_is_stopped_at_once_solves_a_little_all_the_same() -> None:
    search, stop = new_search(), threading.Event()
    stop.set()
    progress = search.run(FOREVER, stop)
    assert progress.iterations > 0 and progress.nodes == 0


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_without_limits_a_search_runs_until_it_is_stopped(threads: int) -> None:
    game = Stopper(9, 200)
    search = new_search(game=game, threads=threads)
    progress = search.run(FOREVER, game.stop)
    check(search.tree)
    assert progress.expansions == sum(game.calls)
    assert 200 <= progress.expansions < 200 + 3 * BATCH  # which may be ahead of the solver


def test_what_is_reported_is_the_strategy_at_our_infoset() -> None:
    search = new_search()
    progress = go(search, 2000)
    tree = search.tree
    own = int(find_infoset(tree, np.uint64(OUR_KEY)))
    actions = actions_of(tree, own)
    assert np.array_equal(progress.policy, tree.strategy[actions])
    assert progress.policy.sum() == pytest.approx(1, abs=1e-5)
    assert len(progress.stable) == len(progress.policy)
    assert (progress.policy[progress.stable] > 0).all()
    values = tree.cfv[actions] / tree.infoset_reach[own]
    assert progress.value == pytest.approx(float(progress.policy @ values), abs=1e-6)
    assert progress.value == search.last_value
    assert progress.resolve == bool(search.gadget.p_max[0] > 0)


def test_progress_is_reported_while_it_is_made() -> None:
    search = new_search()
    seen: list[tuple[int, int]] = []
    search.run(
        Limits(nodes=500),
        threading.Event(),
        lambda progress: seen.append((progress.nodes, progress.iterations)),
        interval=0.0,
    )
    assert len(seen) > 5
    assert seen == sorted(seen)


def test_the_line_follows_the_likeliest_actions() -> None:
    search = new_search()
    progress = go(search, 2000)
    found = search.line(4)
    assert found is not None
    state, line = found
    assert 1 <= len(line) <= 4
    assert line[0] == int(np.argmax(progress.policy))
    roots = int(search.tree.node_edges[: search.tree.counts[ROOTS]].sum())
    assert state.tolist() in search.tree.edge_state[:roots].tolist()
    shorter = search.line(1)
    assert shorter is not None and len(shorter[1]) == 1


def test_before_our_infoset_is_expanded_there_is_no_line() -> None:
    search = new_search()
    assert search.line() is None


def test_a_game_expanded_to_its_end_is_exhausted_and_solved_on() -> None:
    everything = SearchParameters(puct_c=100, puct_least_variance=1)
    search = new_search(game=RandomGame(9, plies=2), parameters=everything)
    progress = go(search, 10**9)
    assert progress.exhausted and not progress.full
    assert progress.iterations > EXHAUSTED_AFTER
    open_edges = search.tree.edge_status[: search.tree.counts[EDGES]] == OPEN
    leaves = search.tree.edge_child[: search.tree.counts[EDGES]] == LEAF
    assert not (open_edges & leaves).any()


def test_a_full_tree_ends_growth_not_solving_and_the_next_subgame_fits() -> None:
    search = new_search(hash_bytes=1)
    before = search.tree.nodes
    progress = go(search, 10**6)
    check(search.tree)
    assert progress.full
    assert before < search.tree.nodes <= 4096
    again = go(search, 10**6)
    assert again.iterations > progress.nodes / 16 and again.full
    search.keep(OUR_KEY, 0)
    game = search.games[0]
    assert isinstance(game, RandomGame)
    search.begin(OUR_KEY, game.roots(100, 1, np.random.default_rng(1)), [])
    check(search.tree)
    assert go(search, 10).iterations > 0
    check(search.tree)


def test_new_roots_can_come_expanded() -> None:
    search, game = random_search(1), RandomGame(1)
    new = game.roots(6, 3, np.random.default_rng(2))
    half = len(new.states) // 2
    pieces = [
        search.expand_roots(new.states[part], new.keys[part])
        for part in (slice(0, half), slice(half, None))
    ]
    search.begin(OUR_KEY, new, pieces)
    check(search.tree)
    assert (search.tree.edge_child[: len(new.states)] != LEAF).all()
    assert search.progress.expansions == search.progress.sampled == len(new.states)
    whole = search.expand_roots(new.states, new.keys)
    children = slice(len(new.states), search.tree.nodes)
    assert np.array_equal(search.tree.edge_state[children], whole.states)


# -- without the compiler --------------------------------------------------------------------------

PLAIN = """
import json, threading
from obscuro.search.pace import Limits
from tests.search.invariants import check
from tests.search.trees import random_search, run_iterations
search = random_search(0, expansions=60)
run_iterations(search, 5)
strategy = search.tree.strategy[: search.tree.counts[3]].astype(float).tolist()
progress = search.run(Limits(nodes=30), threading.Event())
check(search.tree)
search.keep(int(search.tree.edge_keys[0, 0]), 0)
print(json.dumps([strategy, progress.nodes]))
"""


def test_plain_python_gives_the_same_strategies() -> None:
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(REPOSITORY)}
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PLAIN],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    strategy, nodes = json.loads(result.stdout)
    search = random_search(0, expansions=60)
    run_iterations(search, 5)
    compiled = search.tree.strategy[: len(strategy)]
    np.testing.assert_allclose(strategy, compiled.astype(float), 0, 5e-5)
    assert nodes >= 30


def test_kept_states_are_of_the_side_that_searches() -> None:
    search = random_search(2)
    run_iterations(search, 2)
    states = search.keep(OUR_KEY, 0).tolist()
    edges = [search.tree.edge_state[: search.tree.counts[EDGES]].tolist().index(s) for s in states]
    assert (search.tree.edge_keys[edges, MAX] == OUR_KEY).all()


def test_the_roots_are_the_same_whoever_expands_them() -> None:
    game = RandomGame(1)
    new = game.roots(45, 1, np.random.default_rng(2))
    one = Search([game], SearchParameters(), 1 << 20).expand_roots(new.states, new.keys)
    three = Search([RandomGame(1) for _ in range(3)], SearchParameters(), 1 << 20, threads=3)
    parts, _ = three.expand_parts(new.states, new.keys, 10)
    assert len(parts) == 4
    for name, array in three.expand_roots(new.states, new.keys)._asdict().items():
        assert np.array_equal(array, getattr(one, name)), name
