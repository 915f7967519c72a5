"""The masks of sight are those of the plain reference."""

from __future__ import annotations

import chess

from obscuro.evaluation.fog_values.sight_masks import sight_masks
from tests.evaluation.naive import game_boards, words_of
from tests.reference import vision


def test_masks_are_what_the_side_to_move_and_the_other_see() -> None:
    boards = game_boards(seed=3, count=30)
    masks = sight_masks(words_of(boards))
    for board, (own, other) in zip(boards, masks.tolist(), strict=True):
        assert chess.SquareSet(own) == vision(board, board.turn)
        assert chess.SquareSet(other) == vision(board, not board.turn)
