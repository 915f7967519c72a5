"""Small games as ZS21 sees them, in full precision and in the games' own units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL, mix
from obscuro.research.games.game_tree import GameTree, join_ranges
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.zs21.blueprint import SolvedTrunk
from obscuro.research.zs21.gadget_program import Profile
from obscuro.research.zs21.trunk import LEAF, MAX, MIN, GrownLeaves, Trunk, TrunkRoots, Words

from ..games.conftest import tree_of
from ..games.oracle import random_policy


class SmallTrunkGame:
    """An enumerated game. A state is the number of its node."""

    state_words = 1
    identity_words = 1

    def __init__(self, tree: GameTree[Any]) -> None:
        self.tree = tree

    def first_state(self) -> Words:
        return np.zeros((1, self.state_words), dtype=np.uint64)

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        tree = self.tree
        leaves = states[:, 0].astype(np.int64)
        degree = tree.degree[leaves]
        assert degree.all()
        children = join_ranges(tree.first[leaves], degree)
        return GrownLeaves(
            player=tree.player[leaves],
            offsets=np.concatenate(([0], np.cumsum(degree))),
            states=children.astype(np.uint64)[:, np.newaxis],
            keys=mix(np.repeat(keys, degree, axis=0), tree.events[children]),
            values=tree.payoff[children].astype(np.float64),
            terminal=tree.player[children] == TERMINAL,
            forcing=np.zeros(len(children), dtype=np.bool_),
            chance=tree.chance[children].astype(np.float64),
        )


def mixed_policy(tree: GameTree[Any], seed: int) -> NDArray[np.float64]:
    """A random policy that takes every action now and then."""
    uniform = SequenceForm(tree).uniform()
    return 0.7 * random_policy(tree, np.random.default_rng(seed)) + 0.3 * uniform


def whole_game(
    tree: GameTree[Any], plies: int = 1000, kind: type[SmallTrunkGame] = SmallTrunkGame
) -> Trunk:
    """A trunk of the whole game, or of its first plies, under the one J in which it starts."""
    one, game = np.ones(1), kind(tree)
    trunk = Trunk(
        game,
        TrunkRoots(
            states=game.first_state(),
            keys=tree.keys[:1],
            group=np.zeros(1, dtype=np.int64),
            weight=one,
            values=np.zeros(1),
            live=one.astype(np.bool_),
            alternate=np.zeros(1),
        ),
    )
    for _ in range(plies):
        if not expand_level(trunk):
            break
    return trunk


def expand_level(trunk: Trunk) -> int:
    """Expand all live leaves; return how many."""
    nodes = trunk.nodes
    leaves = np.flatnonzero((nodes.first == LEAF) & ~nodes.terminal & nodes.live)
    if len(leaves):
        trunk.expand(leaves)
    return len(leaves)


def x_of(trunk: Trunk, tree: GameTree[Any], policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """▲'s policy, float64[S], as probabilities of the trunk's sequences."""
    form = SequenceForm(tree)
    mine = form.reach(policy) / form.chance
    nodes = trunk.nodes
    x = np.zeros(trunk.tables[MAX].size)
    x[nodes.sequence[:, MAX]] = mine[nodes.state[:, -1].astype(np.int64)]
    return x


def blueprint(
    tree: GameTree[Any], policy: NDArray[np.float64], kind: type[SmallTrunkGame] = SmallTrunkGame
) -> SolvedTrunk:
    """The whole game with a policy of ▲'s in the place of a solution."""
    trunk = whole_game(tree, kind=kind)
    y = np.zeros(trunk.tables[1].size)
    profile = Profile(x_of(trunk, tree, policy), y, 0.0, 0.0, "maxmargin")
    return SolvedTrunk(trunk, profile, len(trunk))


def random_trunk(seed: int) -> tuple[Trunk, Profile]:
    """A trunk that is expanded here and there, and a profile with few actions in support."""
    random = np.random.default_rng(seed)
    trunk = whole_game(tree_of("goofspiel_random"), plies=3)
    for _ in range(4):
        nodes = trunk.nodes
        leaves = np.flatnonzero((nodes.first == LEAF) & ~nodes.terminal)
        trunk.expand(random.choice(leaves, min(12, len(leaves)), replace=False))
    nodes = trunk.nodes
    nodes.forcing[:] = random.random(len(nodes.forcing)) < 0.2
    nodes.value[:] = random.uniform(-1.0, 1.0, len(nodes.value))
    nodes.live[:] = random.random(len(nodes.live)) < 0.9
    plans = [(random.random(trunk.tables[p].size) < 0.3).astype(float) for p in (MAX, MIN)]
    return trunk, Profile(plans[0], plans[1], 0.0, 0.0, "maxmargin")
