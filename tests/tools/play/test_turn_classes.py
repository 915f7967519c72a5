"""Classes of turns."""

from __future__ import annotations

import chess
import numpy as np

from obscuro.evaluation.material import MaterialEvaluator
from tests.tools.play.filed_games import filed
from tests.tools.play.made_up_turns import GAMES, made_up
from tools.play.turn_classes import GROUPS, by_attacked, by_belief, by_king
from tools.play.turn_values import UNKNOWN, read_turns


def test_every_turn_is_in_one_class_of_a_group() -> None:
    turns = made_up()
    for name, classes in GROUPS.items():
        found = np.sum(list(classes(turns).values()), axis=0)
        assert (found == 1).all(), name


def test_an_unknown_p_is_in_no_class() -> None:
    turns = made_up()
    belief = np.full(2 * GAMES, UNKNOWN)
    belief[:4] = 1, 16, 17, 20_000
    classes = by_belief(turns._replace(belief=belief))
    assert {name: int(mask.sum()) for name, mask in classes.items()} == {
        "P: 1-16": 2,
        "P: 17-256": 1,
        "P: 257-2,048": 0,
        "P: 2,049-16,384": 0,
        "P: 16,385 or more": 1,
    }


def test_dangers_are_classes_by_who_sees_them() -> None:
    moves = ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
    turns = read_turns([filed(moves, chess.WHITE)], MaterialEvaluator(), lambda done: None)
    assert by_king(turns)["attacked by an unseen piece"].tolist() == [0, 0, 0, 1, 0]
    assert by_attacked(turns)["none attacked"].all()
