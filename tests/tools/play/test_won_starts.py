"""Starts that one side ought to win."""

from __future__ import annotations

import chess
import pytest

from obscuro.rules.position import Words, to_board
from tests.tools.play.filed_games import filed
from tools.play.pawn_ending import is_won
from tools.play.won_starts import AHEAD, WonStart, bare_starts, material, rich_starts

# Twenty plies, then Black gives a queen and a rook.
SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8") * 5
QUIET = ("e2e3", "d7d5", "f1e2", "d8d6", "a2a3", "d6a3", "a1a3", "h7h6", "b2b3", "a7a6", "c2c3")


class Fixed:
    """Says that White is so much better, and counts how often."""

    def __init__(self, white: float) -> None:
        self._white = white
        self.asked = 0

    def value(self, words: Words) -> float:
        self.asked += 1
        return self._white if to_board(words).turn == chess.WHITE else -self._white


def check_quiet(start: WonStart) -> None:
    plain = chess.Board(start.board.fen())
    assert plain.is_valid() and not plain.is_check() and any(plain.legal_moves)
    assert not start.board.is_game_over()


@pytest.mark.parametrize(
    ("kind", "piece"), [("KQK", chess.QUEEN), ("KRK", chess.ROOK), ("KPK", chess.PAWN)]
)
def test_bare_endings_are_won_and_quiet(kind: str, piece: chess.PieceType) -> None:
    starts = bare_starts(kind, 60, seed=5)
    for start in starts:
        check_quiet(start)
        (square,) = start.board.pieces(piece, start.strong)
        assert chess.popcount(start.board.occupied) == 3
        assert kind != "KPK" or is_won(start.board)
        if start.board.turn != start.strong:
            replies = chess.Board(start.board.fen()).legal_moves
            assert square not in {move.to_square for move in replies}
    assert [start.strong for start in starts] == [chess.WHITE, chess.BLACK] * 30
    assert {start.board.turn == start.strong for start in starts} == {True, False}
    assert len({start.board.fen() for start in starts}) > 55


def test_the_seed_decides_the_starts() -> None:
    fens = [[start.board.fen() for start in bare_starts("KRK", 5, seed)] for seed in (1, 1, 2)]
    assert fens[0] == fens[1] != fens[2]


def test_two_pieces_up_comes_from_recorded_games_where_the_evaluator_agrees() -> None:
    game = filed(SHUFFLE + QUIET, chess.WHITE)
    judge = Fixed(0.9)
    (start,) = rich_starts(1, 1, [game], judge)
    check_quiet(start)
    assert start.strong == chess.WHITE and judge.asked == 1
    assert material(start.board, chess.WHITE) - material(start.board, chess.BLACK) >= AHEAD
    assert start.board.halfmove_clock == 0 and not start.board.move_stack


@pytest.mark.parametrize(("moves", "white"), [(SHUFFLE + QUIET, 0.5), (SHUFFLE, 0.9)])
def test_too_few_positions_are_an_error(moves: tuple[str, ...], white: float) -> None:
    with pytest.raises(ValueError, match="have 0 positions two pieces up, not 1"):
        rich_starts(1, 1, [filed(moves, None)], Fixed(white))
