"""Generative subgame solving: blocks, and what leaving infosets out may cost."""

from __future__ import annotations

from itertools import combinations, islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from obscuro.research.games.cfr import CounterfactualRegret
from obscuro.research.games.extensive_form import Mirrored
from obscuro.research.games.game_tree import GameTree, best_response, enumerate_game, strategy_of
from obscuro.research.games.generative import DiverseBlock, RandomBlock, both_have_acted
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.infoset_hypergraph import COMMON_KNOWLEDGE
from obscuro.research.games.klss import SubgameSolver, guaranteed
from obscuro.research.games.limited_maxmargin import regret_maxmargin
from obscuro.research.games.root_rules import RootBudget, RootView, margins
from obscuro.research.games.sequence_form import answer_values, played_from_roots
from obscuro.research.games.subgame_program import AsSolved, Margins, solve_maxmargin
from obscuro.search.game import MAX, MIN

Floats = NDArray[np.float64]


class ChosenBlock(RootBudget):
    """Keeps the groups that a test names."""

    def __init__(self, groups: tuple[int, ...]) -> None:
        self.groups = groups

    def kept(self, view: RootView, here: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isin(np.arange(view.sub.groups), self.groups)


def blueprint(tree: GameTree[Any], iterations: int = 10) -> Floats:
    solver = CounterfactualRegret(tree)
    solver.run(iterations)
    return solver.average()


def solver_of(tree: GameTree[Any], policy: Floats, budget: Any = None) -> SubgameSolver:
    return SubgameSolver(tree, np.zeros_like(policy), 1, Margins(), budget)


def our_infosets(tree: GameTree[Any]) -> list[int]:
    return np.flatnonzero(tree.infosets.player == MAX).tolist()


# -- blocks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [DiverseBlock(99), RandomBlock(10**6, 3)])
def test_a_block_of_all_is_1_klss_bit_for_bit(tiny_tree: GameTree[Any], block: Any) -> None:
    policy = blueprint(tiny_tree)
    whole = solver_of(tiny_tree, policy).solve_everywhere(policy)
    blocks = solver_of(tiny_tree, policy, block).solve_everywhere(policy)
    assert np.array_equal(whole.policy, blocks.policy)


def view_of(tree: GameTree[Any], infoset: int, policy: Floats) -> tuple[RootView, Any]:
    solver = solver_of(tree, policy)
    roots = solver.roots(infoset, policy)
    view = solver.view(roots, policy)
    inside = tree.infoset[roots.node] == infoset
    return view, np.bincount(roots.group[inside], minlength=view.sub.groups)


def test_diverse_block_has_the_wanted_size_and_spans_the_values(leduc: GameTree[Any]) -> None:
    policy = blueprint(leduc, 3)
    views = (view_of(leduc, infoset, policy) for infoset in our_infosets(leduc)[::2])
    wide = list(islice((each for each in views if each[0].sub.groups >= 5), 5))
    assert len(wide) >= 3
    for view, here in wide:
        for size in range(1, view.sub.groups + 1):
            kept = DiverseBlock(size).kept(view, here)
            assert kept.sum() == size
        all_but_one = np.flatnonzero(DiverseBlock(view.sub.groups - 1).kept(view, here))
        gaps = np.abs(view.alternate[:, np.newaxis] - view.alternate[all_but_one]).min(axis=1)
        pairs = np.sort(view.alternate)
        assert gaps.max() == pytest.approx(np.diff(pairs).min())


def test_a_block_with_ends_holds_the_least_and_the_greatest_value(leduc: GameTree[Any]) -> None:
    policy = blueprint(leduc, 3)
    views = (view_of(leduc, infoset, policy) for infoset in our_infosets(leduc)[::7])
    for view, here in views:
        for size in range(2, view.sub.groups + 1):
            kept = DiverseBlock(size, ends=True).kept(view, here)
            assert kept.sum() == size
            assert {view.alternate.min(), view.alternate.max()} <= set(view.alternate[kept])


# -- roots before the opponent's move ----------------------------------------------------------


@pytest.fixture(scope="module")
def second_seat() -> GameTree[Any]:
    """Goofspiel in which ▼ has made a hidden bid when ▲ bids."""
    return enumerate_game(Mirrored(Goofspiel(4, "increasing", 3)))


def test_roots_before_the_bid_do_not_tell_bids_apart(second_seat: GameTree[Any]) -> None:
    policy = blueprint(second_seat)
    after = solver_of(second_seat, policy)
    before = SubgameSolver(second_seat, np.zeros_like(policy), 1, Margins(), before=True)
    fewer = 0
    for infoset in our_infosets(second_seat):
        late, early = after.roots(infoset, policy), before.roots(infoset, policy)
        assert np.all(second_seat.player[early.node[early.live]] == MIN)
        assert set(second_seat.parent[late.node[late.live]]) == set(early.node[early.live])
        fewer += len(np.unique(early.group)) < len(np.unique(late.group))
    assert fewer > 5


def test_roots_before_the_bid_are_safe_with_common_knowledge(second_seat: GameTree[Any]) -> None:
    policy = blueprint(second_seat)
    solver = SubgameSolver(
        second_seat, np.zeros_like(policy), COMMON_KNOWLEDGE, Margins(), before=True
    )
    solved = solver.solve_everywhere(policy).policy
    assert guaranteed(second_seat, solved) > guaranteed(second_seat, policy)


def test_a_small_block_before_the_bid_loses_no_more_than_all(second_seat: GameTree[Any]) -> None:
    """Of three infosets after the bid most bids are left out."""
    policy = blueprint(second_seat)
    block = DiverseBlock(1)
    early = SubgameSolver(second_seat, np.zeros_like(policy), 1, Margins(), block, before=True)
    late = solver_of(second_seat, policy, block)
    values = [
        guaranteed(second_seat, each.solve_everywhere(policy).policy) for each in (early, late)
    ]
    assert values[0] > values[1]


def test_ties_by_seed_keep_equal_values(leduc: GameTree[Any]) -> None:
    policy = CounterfactualRegret(leduc).average()
    drawn = set()
    for infoset in our_infosets(leduc)[::40]:
        view, here = view_of(leduc, infoset, policy)
        usual = np.sort(view.alternate[DiverseBlock(2).kept(view, here)])
        for seed in range(8):
            kept = DiverseBlock(2, seed=seed).kept(view, here)
            assert np.sort(view.alternate[kept]) == pytest.approx(usual, abs=1e-12)
            assert np.array_equal(kept, DiverseBlock(2, seed=seed).kept(view, here))
            drawn.add((infoset, kept.tobytes()))
    assert len(drawn) > len({infoset for infoset, _ in drawn}), "some values are equal"


def test_random_block_draws_states_and_not_infosets(kuhn: GameTree[Any]) -> None:
    policy = blueprint(kuhn)
    infoset = our_infosets(kuhn)[0]
    view, _ = view_of(kuhn, infoset, policy)
    here = np.array([9, 1])[: view.sub.groups]
    drawn = [RandomBlock(1, seed).kept(view, here)[0] for seed in range(400)]
    assert 0.84 < np.mean(drawn) < 0.95
    again = RandomBlock(1, 7).kept(view, here)
    assert np.array_equal(again, RandomBlock(1, 7).kept(view, here))


def test_a_reweighted_block_stands_for_the_reach_of_what_is_left_out(leduc: GameTree[Any]) -> None:
    policy = blueprint(leduc, 3)
    smallest = 1.0
    for infoset in our_infosets(leduc)[::30]:
        view, here = view_of(leduc, infoset, policy)
        block = DiverseBlock(2, reweight=True)
        kept = block.kept(view, here)
        assert np.array_equal(kept, DiverseBlock(2).kept(view, here))
        assert DiverseBlock(2).mass(view, kept) is None
        expected = dict.fromkeys(np.flatnonzero(kept).tolist(), 0.0)
        for group in range(len(kept)):
            distance = {
                stays: abs(view.alternate[stays] - view.alternate[group]) for stays in expected
            }
            expected[min(distance, key=lambda stays: (distance[stays], view.alternate[stays]))] += (
                view.reach[group] / view.reach.sum()
            )
        mass = block.mass(view, kept)
        assert mass == pytest.approx(np.maximum(list(expected.values()), 1e-6))
        smallest = min(smallest, float(np.min(mass)))
    assert smallest < 0.4, "else all count alike"


def test_maxmargin_maximises_the_least_margin_times_its_mass(leduc: GameTree[Any]) -> None:
    policy = blueprint(leduc, 3)
    rng = np.random.default_rng(5)
    floor = np.zeros_like(policy)
    better = 0
    for infoset in our_infosets(leduc)[7::60]:
        view, _ = view_of(leduc, infoset, policy)
        mass = rng.uniform(0.1, 1.0, view.sub.groups)
        one = view.form, view.sub
        weighed = solve_maxmargin(*one, floor, view.alternate, AsSolved(), mass=mass)
        found = (mass * margins(view, weighed.x, view.alternate)).min()
        assert found == pytest.approx(weighed.margin, abs=1e-7)
        plain = solve_maxmargin(*one, floor, view.alternate, AsSolved())
        other = (mass * margins(view, plain.x, view.alternate)).min()
        assert other <= found + 1e-7
        better += other < found - 1e-3
        x = regret_maxmargin(*one, view.alternate, 2000, mass)
        assert (mass * margins(view, x, view.alternate)).min() == pytest.approx(found, abs=0.01)
        even = np.full(view.sub.groups, 0.5)
        same = solve_maxmargin(*one, floor, view.alternate, AsSolved(), mass=even)
        assert same.margin == pytest.approx(plain.margin / 2, abs=1e-7)
    assert better


def test_where_both_have_acted() -> None:
    tree = enumerate_game(Goofspiel(4, "increasing", 3))
    found = both_have_acted(tree)
    moves = np.flatnonzero(tree.player == MAX)
    for node in moves.tolist():
        mine, theirs = tree.states[node].bids
        assert found[tree.infoset[node]] == (len(mine) > 0 and len(theirs) > 0)


@pytest.mark.slow
def test_elsewhere_the_blueprint_is_played(leduc: GameTree[Any]) -> None:
    policy = blueprint(leduc)
    nowhere = np.zeros(len(leduc.infosets.key), np.bool_)
    nested = solver_of(leduc, policy).solve_everywhere(policy, where=nowhere)
    mine = np.repeat(leduc.infosets.player == MAX, np.diff(leduc.infosets.offsets))
    assert nested.infosets == nested.programs == 0
    assert np.array_equal(nested.policy, policy)
    later = solver_of(leduc, policy).solve_everywhere(policy, where=both_have_acted(leduc))
    first = np.repeat(~both_have_acted(leduc), np.diff(leduc.infosets.offsets)) & mine
    assert np.array_equal(later.policy[first], policy[first])
    assert not np.array_equal(later.policy, policy)


# -- what a block may cost ----------------------------------------------------------------------


def plan_of(tree: GameTree[Any], policy: Floats) -> Floats:
    """▲'s realisation plan [S]: the probability of each of its sequences."""
    plan = policy.copy()
    offsets = tree.infosets.offsets
    last: dict[int, int] = {}
    for node in range(1, len(tree.states)):
        above = int(tree.parent[node])
        mine = tree.player[above] == MAX
        last[node] = int(tree.slot[node]) if mine else last.get(above, -1)
    for infoset in our_infosets(tree):
        node = int(np.flatnonzero(tree.infoset == infoset)[0])
        before = last.get(node, -1)
        if before >= 0:
            plan[offsets[infoset] : offsets[infoset + 1]] *= plan[before]
    return plan


def policy_of_plan(tree: GameTree[Any], plan: Floats) -> Floats:
    policy = plan.copy()
    for begin, end in zip(tree.infosets.offsets[:-1], tree.infosets.offsets[1:], strict=True):
        total = plan[begin:end].sum()
        policy[begin:end] = plan[begin:end] / total if total > 0 else 1 / (end - begin)
    return policy


@pytest.mark.parametrize("name", ["kuhn", pytest.param("leduc", marks=pytest.mark.slow)])
def test_mean_strategy_is_no_more_exploitable_than_the_summed_bound(
    name: str, request: pytest.FixtureRequest
) -> None:
    """Proposition 4.1 with a sum over ▼'s infosets in place of its maximum.

    All blocks of a size are equally likely. What the opponent gains in the mean is at most the sum,
    over its infosets that a block leaves out, of their reach times what it gains there.
    """
    tree: GameTree[Any] = request.getfixturevalue(name)
    policy = blueprint(tree, 4)
    before = guaranteed(tree, policy)
    infosets = our_infosets(tree)[:: 1 if name == "kuhn" else 29]
    checked = 0
    for infoset in infosets:
        solver = solver_of(tree, policy)
        roots = solver.roots(infoset, policy)
        view = solver.view(roots, policy)
        groups = view.sub.groups
        for size in range(1, groups):
            blocks = list(combinations(range(groups), size))
            plans, bound = np.zeros_like(policy), 0.0
            for block in blocks:
                changed = solver_of(tree, policy, ChosenBlock(block)).solve(infoset, policy)
                plans += plan_of(tree, changed) / len(blocks)
                after = answer_values(
                    view.form, view.sub, played_from_roots(view.form, view.sub, changed)
                )
                lost = np.maximum(view.alternate - after, 0.0) * view.sub.weight
                assert lost[list(block)].max() < 1e-6, "a block's own infosets lose nothing"
                bound += float(lost.sum()) / len(blocks)
            mean = policy_of_plan(tree, plans)
            assert before - guaranteed(tree, mean) <= bound + 1e-6
            checked += 1
    assert checked >= 6


def test_left_out_infosets_are_where_it_loses(kuhn: GameTree[Any]) -> None:
    """With one of ▼'s two cards left out, ▲ plays as if it knew the other: it can be exploited."""
    policy = blueprint(kuhn, 300)
    before = guaranteed(kuhn, policy)
    losses = []
    for infoset in our_infosets(kuhn):
        changed = solver_of(kuhn, policy, ChosenBlock((0,))).solve(infoset, policy)
        losses.append(before - guaranteed(kuhn, changed))
    assert max(losses) > 0.05
    assert best_response(kuhn, strategy_of(kuhn, policy), MIN)[0] == pytest.approx(-before)
