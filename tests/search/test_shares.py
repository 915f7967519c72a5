"""How threads share out a tree."""

from __future__ import annotations

import numpy as np
import pytest

from obscuro.search.game import CHANCE
from obscuro.search.rows import COMPILED
from obscuro.search.search import Search
from obscuro.search.shares import (
    NO_ROW,
    PIECES,
    PLACES,
    ROWS,
    SUMS,
    VALUES,
    Shares,
    add_nodes,
    find_pieces,
    give_out,
    lend,
    weigh,
)
from obscuro.search.tree import EDGES, INFOSETS, NO_PARENT, NODES, Tree

from .random_game import RandomGame
from .trees import grow_at_random, random_search, random_strategies

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs compiled code")

GAME = RandomGame(3, plies=30)


def grown(seed: int = 0, *, infosets: int = 4, expansions: int = 600) -> Search:
    search = random_search(seed, game=GAME, infosets=infosets, expansions=expansions)
    random_strategies(search.tree, np.random.default_rng(seed))
    return search


def shared_out(search: Search, threads: int) -> Shares:
    tree = search.tree
    nodes = int(tree.counts[NODES])
    shares = lend(search.spare, threads)
    weight = np.empty(nodes, np.float32)
    work = weigh(tree, weight, np.empty((nodes, 2), np.float32))
    most = np.float32(work / (PIECES * threads))
    pieces = np.empty(nodes, np.int32)
    pieces = pieces[: find_pieces(tree, weight, most, pieces)]
    give_out(tree, shares, weight, most, pieces[np.argsort(-weight[pieces], kind="stable")])
    return shares


def assert_sound(tree: Tree, shares: Shares) -> None:
    """All that the solver needs of shares."""
    nodes, threads = int(tree.counts[NODES]), len(shares.used) - 1
    place = shares.place[:nodes]
    assert len(set(place.tolist())) == nodes
    assert np.array_equal(shares.node[place], np.arange(nodes))
    owner = shares.owner[place]
    first, end = shares.starts[owner, 0], shares.starts[owner, 0] + shares.used[owner, PLACES]
    assert ((first <= place) & (place < end)).all()
    assert shares.used[:, PLACES].sum() == nodes
    assert shares.used[:, VALUES].sum() == tree.counts[EDGES]
    taken = np.zeros(len(shares.values), bool)
    summed = np.zeros(len(shares.sums), bool)
    rows: dict[tuple[int, int], int] = {}
    for node in range(nodes):
        at, parent = int(place[node]), int(tree.node_parent[node])
        values = slice(shares.first_value[at], shares.first_value[at] + shares.width[at])
        edges = slice(tree.node_first_edge[node], tree.node_first_edge[node] + shares.width[at])
        assert not taken[values].any()
        taken[values] = True
        assert np.array_equal(shares.values[values], tree.edge_value[edges])
        if parent == NO_PARENT:
            assert shares.parent[at] == shares.parent_value[at] == NO_PARENT
        else:
            above = int(place[parent])
            assert shares.parent[at] == above
            rank = tree.node_parent_edge[node] - tree.node_first_edge[parent]
            assert shares.parent_value[at] == shares.first_value[above] + rank
            assert owner[node] == owner[parent] or owner[parent] == threads
            assert above < at or owner[node] != owner[parent]
        if tree.node_player[node] == CHANCE:
            assert shares.row[at] == NO_ROW
            continue
        infoset, row = int(tree.node_infoset[node]), int(shares.row[at])
        if rows.setdefault((infoset, int(owner[node])), row) == row:
            continue
        raise AssertionError(f"infoset {infoset} has two rows in share {owner[node]}")
    assert len(set(rows.values())) == len(rows) == shares.used[:, ROWS].sum()
    for (infoset, share), row in rows.items():
        assert shares.row_infoset[row] == infoset
        assert shares.row_owner[row] == share
        sums = slice(shares.row_first[row], shares.row_first[row] + tree.infoset_actions[infoset])
        assert not summed[sums].any()
        summed[sums] = True
        begin = shares.starts[share, 0]
        assert begin <= row < begin + shares.used[share, ROWS]
    assert shares.used[:, SUMS].sum() == summed.sum()
    assert_lists(tree, shares, rows)


def assert_lists(tree: Tree, shares: Shares, rows: dict[tuple[int, int], int]) -> None:
    """Every infoset's rows are in one list, whose head is the trunk's where it has one."""
    trunk = len(shares.used) - 1
    for infoset in range(int(tree.counts[INFOSETS])):
        expected = {row for (of, _), row in rows.items() if of == infoset}
        found, row = [], int(shares.first_row[infoset])
        while row != NO_ROW:
            found.append(row)
            row = int(shares.row_next[row])
        assert set(found) == expected and len(found) == len(expected)
        heads = [row for row in found if shares.row_head[row]]
        assert heads == found[:1]
        if (infoset, trunk) in rows:
            assert found[0] == rows[infoset, trunk]


@pytest.mark.parametrize("infosets", [1, 6])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_node_has_one_place_below_its_parent_and_every_share_its_rows(
    threads: int, infosets: int
) -> None:
    search = grown(infosets=infosets)
    shares = shared_out(search, threads)
    assert_sound(search.tree, shares)
    if infosets == 1 and threads > 1:
        assert shares.used[-1, PLACES] > 0  # a single J is cut


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("threads", [2, 4])
def test_shares_have_as_much_to_do(threads: int, seed: int) -> None:
    search = grown(seed, infosets=1, expansions=2000)
    tree = search.tree
    shares = shared_out(search, threads)
    nodes = int(tree.counts[NODES])
    weight = np.empty(nodes, np.float32)
    whole = weigh(tree, weight, np.empty((nodes, 2), np.float32))
    own = weight.copy()
    np.subtract.at(own, tree.node_parent[1:nodes], weight[1:nodes])
    work = [own[shares.owner[shares.place[:nodes]] == t].sum() for t in range(threads + 1)]
    assert sum(work) == pytest.approx(whole, rel=1e-3)
    assert max(work[:-1]) < 1.15 * whole / threads
    assert work[-1] < 0.05 * whole


def test_new_nodes_come_into_their_parents_share() -> None:
    search = grown(infosets=1, expansions=200)
    tree = search.tree
    shares = shared_out(search, 3)
    rng = np.random.default_rng(1)
    for _ in range(10):
        nodes, infosets = int(tree.counts[NODES]), int(tree.counts[INFOSETS])
        grow_at_random(tree, GAME, rng, 40)
        assert add_nodes(tree, shares, nodes, infosets) == tree.counts[NODES]
        assert_sound(tree, shares)


def test_without_room_in_a_share_the_first_node_left_out_is_told() -> None:
    search = grown(infosets=2, expansions=200)
    tree = search.tree
    shares = shared_out(search, 2)
    nodes, infosets = int(tree.counts[NODES]), int(tree.counts[INFOSETS])
    shares.starts[1:, 0] = shares.starts[:-1, 0] + shares.used[:, PLACES]  # no room beyond
    grow_at_random(tree, GAME, np.random.default_rng(1), 40)
    assert add_nodes(tree, shares, nodes, infosets) == nodes
    assert_sound(tree, shared_out(search, 2))
