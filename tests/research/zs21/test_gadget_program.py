"""The linear programs against exact solvers of small games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.klss import SubgameSolver
from obscuro.research.games.sequence_form import (
    SequenceForm,
    answer_values,
    played_from_roots,
    subgame_form,
)
from obscuro.research.games.subgame_program import AsSolved, solve_maxmargin
from obscuro.research.zs21.blueprint import SolvedTrunk, bound, guaranteed, keep, margins
from obscuro.research.zs21.chess_trunk import plant
from obscuro.research.zs21.gadget_program import Gadget, GadgetProgram, LateError
from obscuro.research.zs21.trunk import Trunk
from obscuro.search.game import MAX

from ..games.conftest import tree_of
from .small_games import blueprint, expand_level, mixed_policy, whole_game

NO_STATES = np.zeros((0, 1), dtype=np.uint64), np.zeros((0, 2), dtype=np.uint64)


def subgame_at(tree: GameTree[Any], infoset: int, policy: np.ndarray) -> Trunk:
    """The 1-KLSS subgame of one of ▲'s infosets, wholly expanded."""
    solution = blueprint(tree, policy)
    key = int(tree.infosets.key[infoset])
    kept = keep(solution, key, np.random.default_rng(1), reach=False)
    trunk = plant(solution.trunk.game, solution, kept, *NO_STATES, lambda: False)
    while expand_level(trunk):
        pass
    return trunk


def cases() -> list[tuple[str, int]]:
    """Five of ▲'s infosets of each of four games, spread over the depths."""
    found = []
    for name in ("kuhn", "leduc", "goofspiel_random", "matching_pennies"):
        mine = np.flatnonzero(tree_of(name).infosets.player == MAX)
        found += [(name, int(at)) for at in mine[np.linspace(0, len(mine) - 1, 5).astype(int)]]
    return found


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel_increasing", "matching_pennies"])
def test_value_of_whole_games(name: str) -> None:
    trunk = whole_game(tree_of(name))
    profile = GadgetProgram(trunk, np.zeros(0)).solve("maxmargin")
    assert profile.margin == pytest.approx(CATALOG[name].value, abs=1e-7)


@pytest.mark.parametrize(("name", "infoset"), cases())
def test_maxmargin_is_the_exact_solvers(name: str, infoset: int) -> None:
    tree = tree_of(name)
    policy = mixed_policy(tree, infoset)
    form = SequenceForm(tree)
    floor = np.zeros(len(policy))
    roots = SubgameSolver(tree, floor, 1, AsSolved()).roots(infoset, policy)
    sub = subgame_form(form, roots, policy)
    alternate = answer_values(form, sub, played_from_roots(form, sub, policy))
    exact = solve_maxmargin(form, sub, floor, alternate, AsSolved())
    trunk = subgame_at(tree, infoset, policy)
    profile = GadgetProgram(trunk, np.zeros(0)).solve("maxmargin")
    assert trunk.groups == sub.groups
    assert np.sort(trunk.alternate) == pytest.approx(np.sort(alternate / sub.alive))
    assert profile.margin == pytest.approx(exact.margin, abs=1e-7)
    assert margins(SolvedTrunk(trunk, profile, len(trunk))).min() == pytest.approx(
        exact.margin, abs=1e-7
    )


@pytest.mark.parametrize("gadget", ["maxmargin", "resolve"])
@pytest.mark.parametrize(("name", "infoset"), cases()[::2])
def test_no_strategy_is_better_and_no_answer_worse(name: str, infoset: int, gadget: Gadget) -> None:
    tree = tree_of(name)
    random = np.random.default_rng(infoset)
    trunk = subgame_at(tree, infoset, mixed_policy(tree, infoset))
    # Some J become worth more than they are, so that Resolve has something to resolve.
    trunk.alternate += random.uniform(-0.2, 0.4, trunk.groups)
    price = random.uniform(0.0, 0.2, int(trunk.tables[MAX].degree[0]))
    profile = GadgetProgram(trunk, price).solve(gadget)
    solution = SolvedTrunk(trunk, profile, len(trunk))
    assert guaranteed(solution, price) == pytest.approx(profile.value, abs=1e-7)
    assert bound(solution, price) == pytest.approx(profile.value, abs=1e-7)


def test_resolve_enters_no_infoset_more_often_than_it_is_dealt() -> None:
    tree = tree_of("matching_pennies")
    infoset = int(np.flatnonzero(tree.infosets.player == MAX)[20])
    trunk = subgame_at(tree, infoset, mixed_policy(tree, 3))
    assert trunk.groups > 1
    trunk.alternate += 100.0
    profile = GadgetProgram(trunk, np.zeros(0)).solve("resolve")
    entered = profile.y[: trunk.groups]
    assert entered.max() <= 1.0 / trunk.groups + 1e-9
    assert profile.margin < 0.0


def test_both_gadgets_can_be_solved_by_turns() -> None:
    tree = tree_of("goofspiel_random")
    infoset = int(np.flatnonzero(tree.infosets.player == MAX)[40])
    trunk = subgame_at(tree, infoset, mixed_policy(tree, 5))
    program = GadgetProgram(trunk, np.zeros(0))
    first = program.solve("maxmargin")
    assert program.solve("resolve").margin <= 0.0
    assert program.solve("maxmargin").value == pytest.approx(first.value, abs=1e-9)


def test_a_program_without_time_is_late() -> None:
    program = GadgetProgram(whole_game(tree_of("kuhn")), np.zeros(0))
    with pytest.raises(LateError):
        program.solve("maxmargin", deadline=0.0)


@pytest.mark.parametrize("gadget", ["maxmargin", "resolve"])
def test_the_guess_changes_no_value(gadget: Gadget) -> None:
    tree = tree_of("goofspiel_random")
    infoset = int(np.flatnonzero(tree.infosets.player == MAX)[40])
    trunk = subgame_at(tree, infoset, mixed_policy(tree, 5))
    trunk.alternate += 0.3
    plain = GadgetProgram(trunk, np.zeros(0)).solve(gadget)
    for guess in (plain.x, plain.x[: len(plain.x) // 2], np.zeros(1)):
        program = GadgetProgram(trunk, np.zeros(0), guess)
        assert program.solve(gadget).value == pytest.approx(plain.value, abs=1e-9)


def test_a_lost_simplex_method_gives_way_to_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    program = GadgetProgram(whole_game(tree_of("kuhn")), np.zeros(0))
    run, lost = GadgetProgram._run, [True]

    def at_first_lost(self: GadgetProgram, deadline: float | None) -> object:
        return None if lost.pop() else run(self, deadline)

    with monkeypatch.context() as patch:
        patch.setattr(
            GadgetProgram, "_run", lambda s, d: at_first_lost(s, d) if lost else run(s, d)
        )
        assert program.solve("maxmargin").margin == pytest.approx(-1 / 18, abs=1e-7)
    assert not lost
