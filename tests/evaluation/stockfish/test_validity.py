"""What Stockfish may be given."""

import chess
import numpy as np
import pytest

from obscuro.evaluation.stockfish.requests import safe_en_passant_square, stockfish_can_take
from obscuro.rules.layout import CASTLING_SHIFT, EN_PASSANT_SHIFT, STATE
from obscuro.rules.position import Words, from_fen
from obscuro.rules.tables import TABLES
from tests.evaluation.naive import game_boards, king_hangs, words_of


def can_take(words: Words) -> bool:
    return bool(stockfish_can_take(TABLES, tuple(words)))


def told_square(fen: str) -> str:
    square = int(safe_en_passant_square(TABLES, tuple(from_fen(fen))))
    return chess.square_name(square) if square else "-"


def test_in_play_the_capturable_king_decides() -> None:
    boards = game_boards(seed=3, count=400)
    answers = [can_take(words) for words in words_of(boards)]
    assert answers == [not king_hangs(board, not board.turn) for board in boards]
    assert True in answers
    assert False in answers


@pytest.mark.parametrize(
    "fen",
    [
        "8/8/8/8/8/8/8/K7 w - - 0 1",  # a king missing
        "k7/8/8/8/8/8/8/8 w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",  # one too many
        "P6k/8/8/8/8/8/8/K7 w - - 0 1",  # a pawn on a back rank
        "7k/8/8/8/8/PP6/PPPPPPPP/K7 w - - 0 1",  # ten pawns
        "7k/8/8/8/8/RRRRRRRR/RRRRRRRR/K7 w - - 0 1",  # seventeen pieces
        "k7/1K6/8/8/8/8/8/8 w - - 0 1",  # kings side by side
    ],
)
def test_no_position_of_chess(fen: str) -> None:
    assert not can_take(from_fen(fen))


def test_castling_rights_must_fit() -> None:
    home = from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert can_take(home)
    for right, fen in enumerate(
        [
            "r3k2r/8/8/8/8/8/8/R3K3 w Qkq - 0 1",
            "r3k2r/8/8/8/8/8/8/4K2R w Kkq - 0 1",
            "r3k3/8/8/8/8/8/8/R3K2R w KQq - 0 1",
            "4k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",
        ]
    ):
        without = from_fen(fen)
        assert can_take(without)
        without[STATE] |= np.uint64(1 << right) << CASTLING_SHIFT
        assert not can_take(without)
    moved = from_fen("r3k2r/8/8/8/8/8/4K3/R6R w kq - 0 1")
    moved[STATE] |= np.uint64(1) << CASTLING_SHIFT
    assert not can_take(moved)


def test_en_passant_square_must_fit() -> None:
    pushed = from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    assert can_take(pushed)
    for fen in (
        "4k3/8/8/4P3/8/8/8/4K3 w - - 0 1",  # no pawn to capture
        "4k3/3p4/8/3pP3/8/8/8/4K3 w - - 0 1",  # it can't have come from there
        "4k3/8/8/3p4/8/8/8/4K3 w - - 0 1",  # nothing to capture with
        "4k3/8/8/3pP3/8/8/8/4K3 b - - 0 1",  # the wrong side
    ):
        words = from_fen(fen)
        words[STATE] |= np.uint64(chess.D6) << EN_PASSANT_SHIFT
        assert not can_take(words)


def test_en_passant_is_told_only_where_it_leaves_the_king_safe() -> None:
    assert told_square("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1") == "d6"
    assert told_square("4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1") == "-"
    # In check by a knight before the push: capturing does not help.
    assert told_square("4k3/8/8/3pP3/8/3n4/8/4K3 w - d6 0 1") == "-"
    # Pinned; but the other pawn is free.
    assert told_square("4k2b/8/8/3pP3/8/8/1K6/8 w - d6 0 1") == "-"
    assert told_square("4k2b/8/8/2PpP3/8/8/1K6/8 w - d6 0 1") == "d6"
