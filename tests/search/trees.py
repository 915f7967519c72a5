"""Trees of random games, grown and played at random, and what tests ask of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.search.gadget import Gadget
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.solver import iterate
from obscuro.search.tree import EDGES, INFOSETS, LEAF, NODES, OPEN, Tree, attach

from .random_game import OUR_KEY, RandomGame

NO_LIMIT = 2**60


def open_leaves(tree: Tree) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The edges that can be expanded, and the nodes above them."""
    nodes, edges = int(tree.counts[NODES]), int(tree.counts[EDGES])
    above = np.empty(edges, np.int32)
    for node in range(nodes):
        first = tree.node_first_edge[node]
        above[first : first + tree.node_edges[node]] = node
    leaf = (tree.edge_child[:edges] == LEAF) & (tree.edge_status[:edges] == OPEN)
    found = np.flatnonzero(leaf).astype(np.int32)
    return found, above[found]


def grow_at_random(
    tree: Tree,
    game: RandomGame,
    rng: np.random.Generator,
    expansions: int,
    *,
    our_key: int = OUR_KEY,
    freeze: bool = False,
) -> None:
    """Expand `expansions` leaves, chosen at random, in batches."""
    while expansions > 0:
        edges, above = open_leaves(tree)
        if not len(edges):
            return
        chosen = rng.choice(len(edges), min(len(edges), expansions, 32), replace=False)
        edges, above = edges[chosen], above[chosen]
        expansion = game.expand(tree.edge_state[edges], tree.edge_keys[edges])
        attached, _ = attach(tree, np.uint64(our_key), freeze, edges, above, expansion)
        assert attached == len(edges)
        expansions -= len(edges)


def random_strategies(tree: Tree, rng: np.random.Generator, pure: float = 0.3) -> None:
    """Give the infosets of both players random strategies, some of them pure."""
    for infoset in np.flatnonzero(tree.infoset_key[: tree.counts[INFOSETS]]):
        first, count = tree.infoset_first[infoset], tree.infoset_actions[infoset]
        strategy = rng.dirichlet(np.ones(count))
        if rng.random() < pure:
            strategy = np.eye(count)[rng.integers(count)]
        tree.strategy[first : first + count] = strategy


def random_search(
    seed: int,
    *,
    infosets: int = 4,
    histories: int = 6,
    expansions: int = 300,
    game: RandomGame | None = None,
    parameters: SearchParameters | None = None,
) -> Search:
    """A search of a random game, its tree grown at random; nothing is solved yet."""
    rng = np.random.default_rng(seed)
    game = game or RandomGame(seed)
    parameters = parameters or SearchParameters()
    search = Search([game], parameters, 4 << 20, seed=seed)
    search.begin(OUR_KEY, game.roots(infosets, histories, rng), [])
    grow_at_random(search.tree, game, rng, expansions, freeze=not parameters.unfrozen)
    return search


def actions_of(tree: Tree, infoset: int) -> slice:
    """Where an infoset's actions are."""
    first = int(tree.infoset_first[infoset])
    return slice(first, first + int(tree.infoset_actions[infoset]))


def copied(tree: Tree) -> Tree:
    arrays: list[Any] = [array.copy() for array in tree]
    return Tree(*arrays)


def copied_gadget(gadget: Gadget) -> Gadget:
    return Gadget(*(array.copy() for array in gadget))


def run_iterations(search: Search, iterations: int) -> None:
    """Solve without expanding."""
    absent = np.zeros(16, np.int64)
    done, _ = iterate(search.tree, search.gadget, iterations, NO_LIMIT, -1, 0, absent)
    assert done == iterations
