"""A leaf's value by itself is the one that its parent's children have."""

from __future__ import annotations

import chess
import numpy as np

from obscuro.evaluation.nnue.leaf_values import LeafValuer
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator
from obscuro.rules.position import move_to_uci
from tests.evaluation.naive import after, game_boards, words_of
from tests.evaluation.nnue import made_up

BOARDS = game_boards(seed=12, count=20)
BOARDS += [chess.Board(f"8/8/8/3k4/8/8/1K6/R7 {side} - - 0 1") for side in "wb"]
BOARDS += [chess.Board(f"8/5r2/8/3k4/8/8/1K6/8 {side} - - 0 1") for side in "wb"]


def test_a_leaf_has_the_value_of_the_child_that_it_is() -> None:
    network = made_up.network()
    children = NnueEvaluator(network=network).evaluate(words_of(BOARDS))
    leaves = [
        after(board, chess.Move.from_uci(move_to_uci(move)))
        for index, board in enumerate(BOARDS)
        for move in children.moves[children.offsets[index] : children.offsets[index + 1]]
    ]
    values = LeafValuer(network)(words_of(leaves))
    assert (values == -children.values).all()
    assert (np.abs(values) == 1).any() and (np.abs(values) < 0.99).any() and len(values) > 300
