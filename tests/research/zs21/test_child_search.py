"""Children that are searched one ply, against the same said with python-chess."""

from __future__ import annotations

import pytest

from obscuro.engine.options import Options
from obscuro.evaluation.factory import make_evaluator
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.players.roster import ZS21_OPTIONS
from obscuro.research.zs21.child_search import ChildSearch
from obscuro.research.zs21.zs21_player import Zs21Player
from tests.evaluation.naive import by_move, game_boards, naive_children, words_of


def test_a_child_is_worth_its_best_reply() -> None:
    boards = game_boards(seed=8, count=12)
    inner = MaterialEvaluator()
    values = ChildSearch(inner).evaluate(words_of(boards))
    searched = 0
    for index, board in enumerate(boards):
        found = by_move(values, index)
        for move, child in naive_children(board, find_mates=True).items():
            if child.value is None:
                replies = by_move(inner.evaluate(words_of([child.board])), 0)
                best = max(value for value, _ in replies.values())
                value, terminal = found[move]
                assert value == pytest.approx(-best, abs=1e-3)
                assert terminal == child.terminal
                searched += 1
    assert searched > 100


def test_what_the_rules_decide_stays() -> None:
    boards = game_boards(seed=9, count=60)
    values = ChildSearch(MaterialEvaluator()).evaluate(words_of(boards))
    decided = 0
    for index, board in enumerate(boards):
        found = by_move(values, index)
        for move, child in naive_children(board, find_mates=True).items():
            if child.value is not None:
                value, terminal = found[move]
                assert value == pytest.approx(child.value, abs=1e-6)
                assert terminal == child.terminal
                decided += 1
    assert decided > 10


@pytest.mark.parametrize(("depth", "searched"), [("0", False), ("1", True)])
def test_the_key_decides_whether_children_are_searched(depth: str, searched: bool) -> None:
    options = Options(ZS21_OPTIONS)
    options.set("Evaluator", "material")
    player = Zs21Player(options, lambda text: None)
    assert not isinstance(player.game.evaluator, ChildSearch)
    changed = Options(ZS21_OPTIONS)
    changed.set("Evaluator", "material")
    changed.set("Search", f"child_depth={depth}")
    player.set_options(changed)
    assert isinstance(player.game.evaluator, ChildSearch) == searched


def test_it_has_the_name_of_the_evaluator_that_it_asks() -> None:
    inner = make_evaluator("material")
    assert ChildSearch(inner).name == "material"
    assert ChildSearch(inner).engine_name is None
