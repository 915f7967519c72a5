"""Safety by allocating deviations: K's graph G', Theorem 5 and Algorithm 14."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL, Observation
from obscuro.research.games.game_tree import (
    NO_SLOT,
    GameTree,
    enumerate_game,
    expected_value,
    strategy_of,
)
from obscuro.research.games.infoset_hypergraph import DeviationGraph, independent_set, mixture
from obscuro.research.games.klss import SubgameSolver, guaranteed, least_exploitable
from obscuro.research.games.klss_rows import ROWS, floor_of
from obscuro.research.games.kuhn import KuhnPoker, KuhnState
from obscuro.research.games.root_rules import RootRule, SoftRoot
from obscuro.research.games.sequence_form import SequenceForm
from obscuro.research.games.subgame_program import AsSolved, AtRandom, Choice, Margins
from obscuro.search.game import CHANCE, MAX, MIN
from tests.sizes import quick_among

from .oracle import random_policy
from .test_klss import PRECISION, Secret, a_floor, mixed_policy


def ours(tree: GameTree[Any]) -> list[int]:
    return np.flatnonzero(tree.infosets.player == MAX).tolist()


def naive_edges(tree: GameTree[Any]) -> dict[int, set[int]]:
    """By ▲'s infosets, those with a node that ▼ cannot tell from one of theirs."""
    together = defaultdict(set)
    for node in np.flatnonzero(tree.player == MAX).tolist():
        together[int(tree.keys[node, MIN])].add(int(tree.infoset[node]))
    edges: dict[int, set[int]] = {infoset: set() for infoset in ours(tree)}
    for infosets in together.values():
        for infoset in infosets:
            edges[infoset] |= infosets - {infoset}
    return edges


def infoset_before(form: SequenceForm, infoset: int) -> int | None:
    slot = int(form.before[infoset])
    return None if slot == NO_SLOT else int(form.infoset_of[slot])


def test_neighbours_touch_one_infoset_of_the_opponent(small_tree: GameTree[Any]) -> None:
    graph = DeviationGraph(small_tree)
    found = {infoset: set(graph.neighbours(infoset).tolist()) for infoset in ours(small_tree)}
    assert found == naive_edges(small_tree)


@pytest.mark.parametrize("seed", range(3))
def test_drawn_set_is_independent_closed_and_as_large_as_it_can_be(
    small_tree: GameTree[Any], seed: int
) -> None:
    edges, form = naive_edges(small_tree), SequenceForm(small_tree)
    graph = DeviationGraph(small_tree)
    chosen = set(np.flatnonzero(independent_set(graph, np.random.default_rng(seed))).tolist())
    for infoset, neighbours in edges.items():
        before = infoset_before(form, infoset)
        reached = before is None or before in chosen
        assert (infoset in chosen) == (reached and not neighbours & chosen)


def test_each_infoset_is_drawn_now_and_then(kuhn: GameTree[Any]) -> None:
    """In Kuhn poker ▲'s three cards are neighbours of each other, so p(I) is 1/3."""
    graph = DeviationGraph(kuhn)
    drawn = [independent_set(graph, np.random.default_rng(seed)) for seed in range(300)]
    counts = np.sum(drawn, axis=0)[ours(kuhn)]
    assert {int(each.sum()) for each in drawn} == {2}, "a card, and the call after its bet"
    assert counts == pytest.approx(100, abs=35)


class Open(KuhnPoker):
    """Kuhn poker with open cards."""

    def observation(self, state: KuhnState, player: int) -> Observation:
        return (len(state.cards), *state.cards, *state.betting)


def test_with_perfect_information_all_infosets_are_drawn() -> None:
    tree = enumerate_game(Open())
    chosen = independent_set(DeviationGraph(tree), np.random.default_rng(1))
    assert chosen.tolist() == (tree.infosets.player == MAX).tolist()


class Untold:
    """Chance decides whether ▲ moves, and ▼ is not told."""

    name = "untold"
    scale = 1.0

    def start(self) -> tuple[int, ...]:
        return ()

    def player(self, state: tuple[int, ...]) -> int:
        if len(state) == 1:
            return CHANCE if state[0] else MAX
        return CHANCE if not state else TERMINAL

    def actions(self, state: tuple[int, ...]) -> Sequence[int]:
        return [] if self.player(state) == TERMINAL else [0, 1]

    def chances(self, state: tuple[int, ...]) -> Sequence[float]:
        return [0.5, 0.5]

    def apply(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (*state, action)

    def payoff(self, state: tuple[int, ...]) -> float:
        return float(state[1])

    def observation(self, state: tuple[int, ...], player: int) -> Observation:
        return state if player == MAX else (len(state),)


def test_game_where_the_opponent_does_not_know_who_moves_is_refused() -> None:
    with pytest.raises(ValueError, match="untold: ▼ does not always know whether ▲ is to move"):
        DeviationGraph(enumerate_game(Untold()))


# -- Theorem 5 ----------------------------------------------------------------------------------


def allocated(
    tree: GameTree[Any],
    policy: NDArray[np.float64],
    floor: NDArray[np.float64],
    rule: RootRule | Choice,
    seed: int,
) -> NDArray[np.float64]:
    where = independent_set(DeviationGraph(tree), np.random.default_rng(seed))
    nested = SubgameSolver(tree, floor, 1, rule).solve_everywhere(policy, where=where)
    assert 0 < nested.infosets <= where.sum()
    return nested.policy


@pytest.mark.parametrize("rule", [Margins(), AsSolved(), AtRandom(2), SoftRoot(0.0)])
@pytest.mark.parametrize("seed", quick_among(range(3), lambda seed: seed == 0))
def test_one_klss_at_a_drawn_set_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], rule: RootRule | Choice, seed: int
) -> None:
    policy = mixed_policy(tiny_tree, seed)
    after = allocated(tiny_tree, policy, a_floor(tiny_tree), rule, seed)
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    assert guaranteed(tiny_tree, after) >= least


@pytest.mark.parametrize("name", ["leduc_bet", "goofspiel_increasing", "matching_pennies"])
def test_row_of_the_paper_is_safe_where_one_klss_everywhere_need_not_be(name: str) -> None:
    row = ROWS[name]
    tree = enumerate_game(row.make())
    floor = floor_of(tree, row)
    policy = least_exploitable(tree, floor, AsSolved()).policy
    least = guaranteed(tree, policy) - PRECISION / tree.game.scale
    assert guaranteed(tree, allocated(tree, policy, floor, Margins(), 5)) >= least


def test_papers_counterexample_is_none_for_a_drawn_set() -> None:
    """Proposition 3: of N infosets that all make up for the same, one may."""
    numbers = 20
    tree = enumerate_game(Secret(numbers))
    policy = SequenceForm(tree).uniform()
    mine = np.repeat(tree.infosets.player == MAX, 2)
    policy[mine] = np.where(tree.infosets.action[mine] == 0, 0.6, 0.4)
    nothing = np.zeros_like(policy)
    where = independent_set(DeviationGraph(tree), np.random.default_rng(0))
    assert where.sum() == 1
    nested = SubgameSolver(tree, nothing, 1, Margins()).solve_everywhere(policy, where=where)
    # The one infoset plays tails for sure, so heads come in (19 · 0.6) / 20 of all cases.
    assert guaranteed(tree, policy) == pytest.approx(-0.2)
    assert guaranteed(tree, nested.policy) == pytest.approx(-0.14)
    everywhere = SubgameSolver(tree, nothing, 1, Margins()).solve_everywhere(policy)
    assert guaranteed(tree, everywhere.policy) == pytest.approx(-1.0)


# -- drawing before the game --------------------------------------------------------------------


def test_mixture_gets_the_mean_of_what_its_policies_get(tiny_tree: GameTree[Any]) -> None:
    rng = np.random.default_rng(3)
    opponent = random_policy(tiny_tree, rng)
    theirs = np.repeat(tiny_tree.infosets.player == MIN, np.diff(tiny_tree.infosets.offsets))
    policies = [np.where(theirs, opponent, random_policy(tiny_tree, rng)) for _ in range(3)]
    mixed = mixture(SequenceForm(tiny_tree), policies)
    assert np.array_equal(mixed[theirs], opponent[theirs])
    values = [expected_value(tiny_tree, strategy_of(tiny_tree, each)) for each in policies]
    found = expected_value(tiny_tree, strategy_of(tiny_tree, mixed))
    assert found == pytest.approx(np.mean(values), abs=1e-9)
    least = np.mean([guaranteed(tiny_tree, each) for each in policies])
    assert guaranteed(tiny_tree, mixed) >= least - 1e-9
