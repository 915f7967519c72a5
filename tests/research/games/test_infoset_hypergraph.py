from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree, enumerate_game
from obscuro.research.games.infoset_hypergraph import (
    COMMON_KNOWLEDGE,
    KnowledgeGraph,
    knowledge_sizes,
)
from obscuro.research.games.klss_rows import ROWS, FigurePennies
from obscuro.research.games.matching_pennies import PenniesState
from obscuro.search.game import MAX, MIN

from .naive_subgames import knowledge_set

BIG = ["leduc", "goofspiel_random", "liars_dice"]
QUICK = ["dark_hex", "goofspiel_increasing", "kuhn", "matching_pennies"]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(n, marks=pytest.mark.slow) for n in BIG)])
def test_table_two_is_the_papers(name: str) -> None:
    row = ROWS[name]
    printed = row.two
    found = knowledge_sizes(enumerate_game(row.make()))
    assert (found.nodes, found.infosets, found.diameter) == printed[:3]
    average = [f"{value:.2f}" for value in found.average]
    assert average[: len(printed.average)] == list(printed.average)
    assert set(average[len(printed.average) :]) <= {printed.average[-1]}
    assert f"{found.connected:.2f}" == printed.connected


@pytest.mark.parametrize("order", [1, 2, 3, 4, 7, COMMON_KNOWLEDGE])
def test_knowledge_sets_are_those_of_the_definition(
    tiny_tree: GameTree[Any], order: int | None
) -> None:
    graph = KnowledgeGraph(tiny_tree)
    infosets = np.flatnonzero(tiny_tree.infosets.player == MAX)
    for infoset in np.random.default_rng(1).choice(infosets, 5):
        nodes = np.flatnonzero(tiny_tree.infoset == infoset)
        found = graph.within(nodes, order).tolist()
        assert found == sorted(knowledge_set(tiny_tree, nodes.tolist(), order))


@pytest.mark.parametrize("player", [MAX, MIN])
def test_classes_share_out_all_nodes_but_the_ends(tiny_tree: GameTree[Any], player: int) -> None:
    graph = KnowledgeGraph(tiny_tree)
    inner = np.flatnonzero(tiny_tree.player != TERMINAL)
    classes = graph.classes(inner, player)
    members = [graph.members(number, player) for number in classes.tolist()]
    assert np.array_equal(np.sort(np.concatenate(members)), inner)
    for nodes in members:
        assert len(np.unique(tiny_tree.keys[nodes, player])) == 1


def test_everything_is_connected_in_matching_pennies() -> None:
    """One step further is one more number at both ends, as K's Section 4 says."""
    tree = enumerate_game(FigurePennies(20))
    graph = KnowledgeGraph(tree)
    middle = tree.states.index(PenniesState(9))
    infoset = np.flatnonzero(tree.infoset == tree.infoset[middle])
    numbers = [
        [tree.states[node].number for node in graph.within(infoset, order)]
        for order in (1, 2, 3, COMMON_KNOWLEDGE)
    ]
    assert numbers == [[9, 10], [8, 9, 10, 11], [7, 8, 9, 10, 11, 12], [*range(1, 21)]]
