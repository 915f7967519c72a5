"""Subgame solving at every infoset: K's theorems, its counterexample, and its Table 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import Observation
from obscuro.research.games.game_tree import (
    NO_SLOT,
    GameTree,
    enumerate_game,
    expected_value,
    strategy_of,
)
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import (
    WHOLE_GAME,
    SubgameSolver,
    guaranteed,
    least_exploitable,
)
from obscuro.research.games.klss_rows import EPSILON, ROWS, FigurePennies, floor_of, normalisation
from obscuro.research.games.kuhn import BET, KuhnState
from obscuro.research.games.matching_pennies import HEADS, MatchingPennies, PenniesState
from obscuro.research.games.root_rules import MaxmarginRoot
from obscuro.research.games.sequence_form import (
    SequenceForm,
    answer_values,
    played_from_roots,
    subgame_form,
)
from obscuro.research.games.subgame_program import AsSolved, AtRandom, Choice, Margins
from obscuro.search.game import MAX, MIN
from tests.sizes import quick_among
from tools.proofs.klss_table import agrees

from .conftest import tree_of
from .naive_subgames import groups, knowledge_set, reach
from .oracle import random_policy

PRECISION = 1e-6  # what a chain of linear programs may lose, for payoffs in [-1, 1]


def mixed_policy(tree: GameTree[Any], seed: int) -> NDArray[np.float64]:
    """A random policy that keeps to `a_floor`."""
    mixed = random_policy(tree, np.random.default_rng(seed))
    return 0.7 * mixed + 0.3 * SequenceForm(tree).uniform()


def a_floor(tree: GameTree[Any]) -> NDArray[np.float64]:
    """A quarter of an even share for all of ▲'s actions."""
    degrees = np.diff(tree.infosets.offsets)
    return np.repeat(np.where(tree.infosets.player == MAX, 0.25, 0.0) / degrees, degrees)


def choices() -> list[Choice]:
    return [Margins(), AsSolved(), AtRandom(3)]


every_choice = pytest.mark.parametrize("choice", choices(), ids=lambda each: type(each).__name__)


# -- the roots ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, COMMON_KNOWLEDGE])
def test_roots_are_what_the_opponent_holds_possible(
    tiny_tree: GameTree[Any], order: int | None
) -> None:
    policy = random_policy(tiny_tree, np.random.default_rng(4))
    solver = SubgameSolver(tiny_tree, a_floor(tiny_tree), order, Margins())
    within = SequenceForm(tiny_tree).reach(policy)
    for infoset in np.flatnonzero(tiny_tree.infosets.player == MAX).tolist():
        nodes = np.flatnonzero(tiny_tree.infoset == infoset)
        if not within[nodes].any():
            continue
        inside = knowledge_set(tiny_tree, nodes.tolist(), order)
        expected = {
            tuple(members)
            for members in groups(tiny_tree, inside)
            if any(reach(tiny_tree, policy, node) for node in members if node in inside)
        }
        roots = solver.roots(infoset, policy)
        found = {tuple(roots.node[roots.group == g].tolist()) for g in set(roots.group.tolist())}
        assert found == expected
        assert roots.live.tolist() == [node in inside for node in roots.node.tolist()]


@pytest.mark.parametrize("order", [1, 2])
def test_every_subgame_starts_from_the_one_before(tiny_tree: GameTree[Any], order: int) -> None:
    blueprint = mixed_policy(tiny_tree, 6)
    form = SequenceForm(tiny_tree)
    solver = SubgameSolver(tiny_tree, a_floor(tiny_tree), order, Margins())
    offsets = tiny_tree.infosets.offsets
    expected, solved = blueprint.copy(), {}
    for infoset in np.flatnonzero(tiny_tree.infosets.player == MAX).tolist():
        slot = int(form.before[infoset])
        last = -1 if slot == NO_SLOT else int(form.infoset_of[slot])
        if slot != NO_SLOT and (last not in solved or expected[slot] == 0.0):
            continue  # ▲ does not get there
        solved[infoset] = solver.solve(infoset, solved.get(last, blueprint))
        choices = slice(offsets[infoset], offsets[infoset + 1])
        expected[choices] = solved[infoset][choices]
    nested = solver.solve_everywhere(blueprint)
    assert nested.infosets == len(solved)
    assert np.array_equal(nested.policy, expected)


# -- safety -------------------------------------------------------------------------------------


@every_choice
@pytest.mark.parametrize("seed", quick_among(range(2), lambda seed: seed == 0))
def test_common_knowledge_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], choice: Choice, seed: int
) -> None:
    """K, Section 3, at every infoset, nested."""
    policy = mixed_policy(tiny_tree, seed)
    solver = SubgameSolver(tiny_tree, a_floor(tiny_tree), COMMON_KNOWLEDGE, choice)
    nested = solver.solve_everywhere(policy)
    before, after = guaranteed(tiny_tree, policy), guaranteed(tiny_tree, nested.policy)
    assert after >= before - PRECISION / tiny_tree.game.scale


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("seed", range(2))
def test_solving_at_one_infoset_never_makes_us_more_exploitable(
    tiny_tree: GameTree[Any], order: int, seed: int
) -> None:
    """K, Lemma 11."""
    policy = mixed_policy(tiny_tree, seed)
    solver = SubgameSolver(tiny_tree, a_floor(tiny_tree), order, Margins())
    least = guaranteed(tiny_tree, policy) - PRECISION / tiny_tree.game.scale
    infosets = np.flatnonzero(tiny_tree.infosets.player == MAX)
    for infoset in np.random.default_rng(seed).choice(infosets, 6).tolist():
        assert guaranteed(tiny_tree, solver.solve(infoset, policy)) >= least


def test_updating_the_blueprint_at_once_is_safe(tiny_tree: GameTree[Any]) -> None:
    """K, Theorem 4: 1-KLSS again and again, each time from the blueprint that the last one left."""
    policy = mixed_policy(tiny_tree, 8)
    solver = SubgameSolver(tiny_tree, np.zeros_like(policy), 1, Margins())
    rng = np.random.default_rng(8)
    value = start = guaranteed(tiny_tree, policy)
    infosets = np.flatnonzero(tiny_tree.infosets.player == MAX)
    for infoset in rng.choice(infosets, 12).tolist():
        reached = SequenceForm(tiny_tree).reach(policy)[tiny_tree.infoset == infoset]
        if not reached.any():
            continue
        policy = solver.solve(infoset, policy)
        assert guaranteed(tiny_tree, policy) >= value - PRECISION / tiny_tree.game.scale
        value = guaranteed(tiny_tree, policy)
    assert value > start


def lost_to_one(
    tree: GameTree[Any], before: NDArray[np.float64], after: NDArray[np.float64]
) -> float:
    """What ▲ gets less by `after` than by `before` against the strategy of ▼ that likes it most."""
    form = SequenceForm(tree)
    sub = subgame_form(form, WHOLE_GAME, form.uniform())
    sub = sub._replace(fixed=np.zeros_like(sub.fixed))  # the same for both
    x, old = (played_from_roots(form, sub, policy) for policy in (after, before))
    return -float(answer_values(form, sub, x - old)[0])


@every_choice
@pytest.mark.parametrize("seed", range(2))
def test_safe_klss_gets_no_less_against_any_strategy(
    tiny_tree: GameTree[Any], choice: Choice, seed: int
) -> None:
    """O, C.6.5, at every infoset, nested."""
    policy, nothing = mixed_policy(tiny_tree, seed), np.zeros(len(tiny_tree.infosets.action))
    rule = MaxmarginRoot(choice, safe=True)
    nested = SubgameSolver(tiny_tree, nothing, 1, rule).solve_everywhere(policy)
    assert lost_to_one(tiny_tree, policy, nested.policy) <= PRECISION / tiny_tree.game.scale


def test_safe_klss_gains_without_the_losses_of_klss(kuhn: GameTree[Any]) -> None:
    policy, nothing = mixed_policy(kuhn, 1), np.zeros(len(kuhn.infosets.action))
    for safe in (False, True):
        rule = MaxmarginRoot(Margins(), safe=safe)
        nested = SubgameSolver(kuhn, nothing, 1, rule).solve_everywhere(policy)
        assert guaranteed(kuhn, nested.policy) > guaranteed(kuhn, policy) + 0.02 / kuhn.game.scale
        lost = lost_to_one(kuhn, policy, nested.policy) * kuhn.game.scale
        assert lost <= PRECISION if safe else lost > 0.1


@every_choice
def test_equilibrium_stays_one_against_equilibria(tiny_tree: GameTree[Any], choice: Choice) -> None:
    """K, Theorem 9 and Proposition 8: 1-KLSS makes an affine equilibrium of an equilibrium."""
    nothing = np.zeros(len(tiny_tree.infosets.action))
    solved = least_exploitable(tiny_tree, nothing, AsSolved())
    nested = SubgameSolver(tiny_tree, nothing, 1, choice).solve_everywhere(solved.policy)
    theirs = np.repeat(tiny_tree.infosets.player == MIN, np.diff(tiny_tree.infosets.offsets))
    both = np.where(theirs, solved.policy, nested.policy)
    value = expected_value(tiny_tree, strategy_of(tiny_tree, both))
    assert value == pytest.approx(solved.value, abs=PRECISION / tiny_tree.game.scale)


class Secret(MatchingPennies):
    """The game of K's Proposition 3: ▲ alone is told the number, which doesn't count."""

    def payoff(self, state: PenniesState) -> float:
        mine, theirs = state.pennies
        return -1.0 if mine == theirs else 1.0

    def observation(self, state: PenniesState, player: int) -> Observation:
        told = state.number if player == MAX else 0
        return (len(state.pennies), told, int(state.number > 0))


def test_papers_counterexample() -> None:
    """Each infoset makes up alone for what all do: heads a little too often become all tails."""
    numbers = 20
    tree = enumerate_game(Secret(numbers))
    policy = SequenceForm(tree).uniform()
    heads = 1 / 2 + 2 / numbers
    mine = np.repeat(tree.infosets.player == MAX, 2)
    policy[mine] = np.where(tree.infosets.action[mine] == HEADS, heads, 1 - heads)
    assert guaranteed(tree, policy) == pytest.approx(-4 / numbers, abs=1e-12)
    nothing = np.zeros_like(policy)

    nested = SubgameSolver(tree, nothing, 1, Margins()).solve_everywhere(policy)
    assert guaranteed(tree, nested.policy) == pytest.approx(-1.0, abs=1e-9)
    assert (nested.infosets, nested.programs) == (numbers, numbers)

    # Here I^2 is the whole game, so 2-KLUSS is as safe as common knowledge.
    for order in (2, COMMON_KNOWLEDGE):
        nested = SubgameSolver(tree, nothing, order, Margins()).solve_everywhere(policy)
        assert guaranteed(tree, nested.policy) == pytest.approx(0.0, abs=PRECISION)
        assert nested.programs == 1


# -- Table 1 ------------------------------------------------------------------------------------


class Measured:
    """A row's blueprint, and what subgame solving makes of it; exploitability as in the table."""

    def __init__(self, name: str, epsilon: float = EPSILON) -> None:
        row = ROWS[name]
        self.tree = enumerate_game(row.make())
        self.floor = floor_of(self.tree, row, epsilon)
        self.value = least_exploitable(self.tree, np.zeros_like(self.floor), AsSolved()).value
        self.policy = least_exploitable(self.tree, self.floor, AsSolved()).policy

    def exploitability(self, policy: NDArray[np.float64]) -> float:
        return (self.value - guaranteed(self.tree, policy)) * normalisation(self.tree)

    def after(self, order: int | None, choice: Choice) -> float:
        solver = SubgameSolver(self.tree, self.floor, order, choice)
        return self.exploitability(solver.solve_everywhere(self.policy).policy)


REPRODUCED = ["dark_hex", "goofspiel_increasing", "kuhn", "kuhn_bet", "matching_pennies"]
SLOW = ["goofspiel_random", "leduc", "leduc_fold", "leduc_bet", "liars_dice"]


@pytest.mark.parametrize("name", REPRODUCED)
def test_row_of_table_one_is_the_papers(name: str) -> None:
    measured, printed = Measured(name), ROWS[name].one
    assert agrees(measured.exploitability(measured.policy), printed.blueprint)
    # Goofspiel's figure hangs on which of the optimal strategies the solver takes.
    after = [measured.after(1, choice) for choice in (Margins(), AsSolved())]
    assert any(agrees(value, printed.after) for value in after)
    safe = measured.after(COMMON_KNOWLEDGE, Margins())
    assert safe <= measured.exploitability(measured.policy) + PRECISION


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_blueprint_of_a_large_row_is_the_papers(name: str) -> None:
    measured, printed = Measured(name), ROWS[name].one
    before = measured.exploitability(measured.policy)
    assert agrees(before, printed.blueprint)
    # Which of a subgame's many optimal strategies is taken decides by how much.
    assert measured.after(1, AsSolved()) < before
    assert measured.after(COMMON_KNOWLEDGE, AsSolved()) <= before + PRECISION


@pytest.mark.parametrize("name", REPRODUCED)
def test_equilibrium_is_not_ruined(name: str) -> None:
    """K, Section 6: with ε = 0 exploitability remained 0."""
    measured = Measured(name, epsilon=0.0)
    assert measured.after(1, Margins()) == pytest.approx(0.0, abs=PRECISION)


@pytest.mark.slow
def test_equilibrium_of_liars_dice_stays_one_against_equilibria_only() -> None:
    """`Margins` at all first infosets uses what ▼ loses elsewhere twice; at any of them once."""
    measured = Measured("liars_dice", epsilon=0.0)
    tree, form = measured.tree, SequenceForm(measured.tree)
    solver = SubgameSolver(tree, measured.floor, 1, Margins())
    first = (tree.infosets.player == MAX) & (form.before == NO_SLOT)
    alone = []
    for infoset in np.flatnonzero(first).tolist():
        where = np.arange(len(first)) == infoset
        policy = solver.solve_everywhere(measured.policy, where=where).policy
        alone.append(measured.exploitability(policy))
    assert alone == pytest.approx([0.0] * 5, abs=PRECISION)
    policy = solver.solve_everywhere(measured.policy, where=first).policy
    assert measured.exploitability(policy) == pytest.approx(0.0107, abs=0.0001)
    equilibrium = least_exploitable(tree, measured.floor, AsSolved()).policy
    theirs = np.repeat(tree.infosets.player == MIN, np.diff(tree.infosets.offsets))
    value = expected_value(tree, strategy_of(tree, np.where(theirs, equilibrium, policy)))
    assert value == pytest.approx(measured.value, abs=PRECISION)


def test_order_two_can_undo_a_good_blueprint_in_kuhn_poker() -> None:
    """▲'s other hands are weighed there as if they were played as solved for, and they aren't."""
    measured = Measured("kuhn")
    assert measured.after(2, Margins()) > 3 * measured.exploitability(measured.policy)


# -- how the rows are read ----------------------------------------------------------------------


def test_every_action_of_an_infoset_gets_its_share_of_epsilon() -> None:
    tree = tree_of("leduc")
    floor = floor_of(tree, ROWS["leduc"])
    degrees = np.diff(tree.infosets.offsets)
    mine = np.repeat(tree.infosets.player == MAX, degrees)
    assert floor[mine] == pytest.approx(0.25 / np.repeat(degrees, degrees)[mine])
    assert not floor[~mine].any()


def test_weak_player_bets_but_needs_not_call() -> None:
    tree = tree_of("kuhn")
    floor = floor_of(tree, ROWS["kuhn_bet"])
    for node in np.flatnonzero(tree.player == MAX).tolist():
        state: KuhnState = tree.states[node]
        expected = 0.0 if BET in state.betting else 0.125
        assert floor[tree.slot[tree.first[node] + BET]] == expected
        assert floor[tree.slot[tree.first[node]]] == 0.0


def test_pennies_of_the_figure_have_a_sum_of_one_more_than_those_of_the_text() -> None:
    game = FigurePennies(4)
    payoffs = [[game.payoff(PenniesState(n, (p, p))) for p in (0, 1)] for n in (1, 2, 3, 4)]
    assert payoffs == [[1.0, 4.0], [2.0, 3.0], [3.0, 2.0], [4.0, 1.0]]
    told = [[game.observation(PenniesState(n), p)[1] for p in (MAX, MIN)] for n in (1, 2, 3, 4)]
    assert told == [[1, 0], [1, 1], [2, 1], [2, 2]]


def test_normalised_payoffs_span_two() -> None:
    assert normalisation(tree_of("kuhn")) == 1 / 2
    assert normalisation(tree_of("matching_pennies")) == 2 / 100
