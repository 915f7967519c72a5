"""What a player searches with: what is made when, and what a changed option makes anew."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from obscuro.engine.equipment import Equipment
from obscuro.engine.options import Options
from obscuro.evaluation.cache import CachedEvaluator
from obscuro.evaluation.factory import FallbackEvaluator, make_evaluator, unwrapped
from obscuro.evaluation.material import MaterialEvaluator
from obscuro.rules.position import from_fen
from obscuro.search.tree import NODES

from .given_options import options as quick_options


def options(**changes: object) -> Options:
    return quick_options(**{"Hash": 16, "eval_cache": 0, **changes})


@pytest.fixture
def equipment() -> Equipment:
    return Equipment(options(), pytest.fail)


def test_nothing_is_made_before_it_is_needed(equipment: Equipment) -> None:
    assert not equipment.evaluators and not equipment.games and equipment.last_value is None
    assert equipment.evaluator_name == "" and equipment.cache_use is None
    search = equipment.search
    assert search is equipment.search and search.games == equipment.games
    assert equipment.evaluator_name == "material"


def test_each_thread_has_an_evaluator_and_a_game() -> None:
    for threads, expected in (("1", 1), ("2", 2), ("4", 4)):
        made = Equipment(options(Threads=threads), pytest.fail)
        made.start()
        assert len(made.evaluators) == len(made.games) == expected
        assert len(set(map(id, made.evaluators))) == expected


def test_what_depends_on_a_changed_option_is_made_anew_and_nothing_else(
    equipment: Equipment,
) -> None:
    search, evaluators = equipment.search, list(equipment.evaluators)
    equipment.set_options(options(puct_c=0.07))
    assert equipment.search is search and search.parameters.puct_c == 0.07
    equipment.set_options(options(Hash="17"))
    assert equipment.search is not search and equipment.evaluators == evaluators
    search = equipment.search
    equipment.set_options(options(Hash="17", tau=5))
    assert not equipment.evaluators
    assert equipment.search is not search and equipment.evaluators != evaluators


def test_a_changed_rule_of_stalemate_drops_the_tree(equipment: Equipment) -> None:
    """Its values are of the other rule."""
    search = equipment.search
    equipment.set_options(options(Stalemate="loss"))
    assert equipment.search is search
    equipment.set_options(options(Stalemate="draw"))
    assert equipment.search is not search


def test_a_turn_sets_up_every_game(equipment: Equipment) -> None:
    repeated = np.array([5], dtype=np.uint64)
    search = equipment.begin_turn(1, repeated)
    white_to_move = from_fen(chess.STARTING_FEN)
    state = np.append(white_to_move, np.uint64(0)).reshape(1, -1)
    expansion = search.expand_roots(state, np.ones((1, 2), dtype=np.uint64))
    assert expansion.player.tolist() == [1]  # MIN: it is Black's search
    assert equipment.evaluations == 20


def test_a_new_game_drops_the_tree(equipment: Equipment) -> None:
    search = equipment.search
    search.tree.counts[NODES] = 3
    equipment.new_game(4)
    assert equipment.search is search and not search.tree.counts.any()


def test_an_evaluator_is_found_behind_its_fallback_and_its_cache() -> None:
    material = make_evaluator("material")
    assert unwrapped(material) is material and isinstance(material, MaterialEvaluator)
    made = Equipment(options(Evaluator="nnue", eval_cache="1"), pytest.fail)
    wrapped = (made.search, made.evaluators)[1][0]
    assert isinstance(wrapped, FallbackEvaluator)
    assert isinstance(wrapped.primary, CachedEvaluator)
    assert unwrapped(wrapped) is wrapped.primary.uncached
    assert unwrapped(wrapped).name == "nnue"
