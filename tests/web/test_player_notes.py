"""What a side is told of the other side's moves is true, and follows from what it saw."""

from __future__ import annotations

import random

import chess
import pytest

from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.web.play.player_notes import PlayerNotes, SeenMove, seen_move


def after(fen: str, uci: str) -> SeenMove:
    """Return what the side that does not move knows of a move."""
    board = FogOfWarBoard(fen)
    side = not board.turn
    before = board.observation(side)
    board.push(board.parse_uci(uci))
    return seen_move(side, before, board.observation(side))


def touched(board: FogOfWarBoard, move: chess.Move) -> set[chess.Square]:
    """Return the squares that a move changes."""
    squares = {move.from_square, move.to_square}
    rank = chess.square_rank(move.to_square)
    if board.is_en_passant(move):
        squares.add(
            chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
        )
    if board.is_kingside_castling(move):
        squares |= {chess.square(7, rank), chess.square(5, rank)}
    if board.is_queenside_castling(move):
        squares |= {chess.square(0, rank), chess.square(3, rank)}
    return squares


@pytest.mark.parametrize("seed", range(60))
def test_all_that_is_said_of_a_move_is_true(seed: int) -> None:
    chance = random.Random(seed)
    board = FogOfWarBoard()
    told = 0
    while board.outcome() is None and len(board.move_stack) < 150:
        moves = list(board.legal_moves)
        rare = [m for m in moves if board.is_castling(m) or board.is_en_passant(m) or m.promotion]
        move = chance.choice(rare or moves)
        side, changed = not board.turn, touched(board, move)
        before, captures, san = board.observation(side), board.is_capture(move), board.san(move)
        moved = board.piece_type_at(move.from_square)
        castles = board.is_castling(move)
        board.push(move)
        seen = seen_move(side, before, board.observation(side))
        assert set(seen.squares) <= changed
        assert (seen.lost is not None) == captures
        if seen.uci is not None:
            told += 1
            assert seen.uci == move.uci()
        if seen.san is not None:
            plain = san.rstrip("#")
            assert seen.san == plain or (seen.san[0], seen.san[-2:]) == (plain[0], plain[-2:])
        if seen.note is not None and not castles:
            became = board.piece_type_at(move.to_square)
            names = {chess.piece_name(kind) for kind in (moved, became) if kind is not None}
            assert seen.note.split()[0] in names | {"something"}
    assert told or len(board.move_stack) < 20


@pytest.mark.parametrize(
    ("fen", "uci", "expected"),
    [
        # Both squares are seen, before the move and after it.
        (
            "4k3/8/8/3r3R/8/8/8/3RK3 b - - 0 1",
            "d5e5",
            SeenMove("d5e5", "Re5", None, (chess.D5, chess.E5)),
        ),
        # Only where the piece was is seen, or only where it went.
        (
            "4k3/7n/8/8/8/8/8/1Q2K3 b - - 0 1",
            "h7g5",
            SeenMove(note="knight left h7", squares=(chess.H7,)),
        ),
        (
            "3rk3/8/8/8/8/8/8/3RK3 b - - 0 1",
            "d8d5",
            SeenMove(note="rook to d5", squares=(chess.D5,)),
        ),
        # A pawn that the player can take en passant tells its whole move.
        (
            "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1",
            "d7d5",
            SeenMove("d7d5", "d5", None, (chess.D7, chess.D5)),
        ),
        # Something stands in a pawn's way: it is not known what.
        (
            "4k3/8/5n2/8/4P3/8/8/4K3 b - - 0 1",
            "f6d5",
            SeenMove(note="knight to d5", squares=(chess.D5,)),
        ),
        (
            "4k3/8/2n5/8/4P3/8/8/4K3 b - - 0 1",
            "c6e5",
            SeenMove(note="something to e5", squares=(chess.E5,)),
        ),
        # A capture by something unseen.
        (
            "4k3/8/5n2/8/4P3/8/8/K7 b - - 0 1",
            "f6e4",
            SeenMove(
                note="something took your pawn on e4",
                squares=(chess.E4,),
                lost=chess.Piece(chess.PAWN, chess.WHITE),
            ),
        ),
        # The king's two steps can be castling only.
        (
            "4k2r/8/8/8/8/8/8/4R1RK b k - 0 1",
            "e8g8",
            SeenMove("e8g8", "O-O", None, (chess.E8, chess.G8, chess.H8, chess.F8)),
        ),
        # The rook beside where the king would be: it may have castled or not.
        (
            "4k2r/8/8/8/8/8/8/5R1K b k - 0 1",
            "e8g8",
            SeenMove(note="rook to f8", squares=(chess.F8,)),
        ),
        # Nothing at all was seen.
        ("4k3/p7/8/8/8/8/8/6RK b - - 0 1", "a7a6", SeenMove()),
    ],
)
def test_what_is_known_of_a_move(fen: str, uci: str, expected: SeenMove) -> None:
    assert after(fen, uci) == expected


def test_a_capture_en_passant_is_named_where_the_empty_square_is_seen() -> None:
    seen = after("4k3/8/8/8/3pP3/8/8/4R1K1 b - e3 0 1", "d4e3")
    assert seen.note == "pawn took your pawn on e4 en passant"
    assert seen.lost == chess.Piece(chess.PAWN, chess.WHITE)


def test_a_promotion_is_known_where_both_squares_are() -> None:
    seen = after("4k3/8/8/8/8/8/R5p1/R4N1K b - - 0 1", "g2f1q")
    assert (seen.uci, seen.san) == ("g2f1q", "gxf1=Q")


def test_castling_of_chess960_is_named_as_it_is_played() -> None:
    start = FogOfWarBoard("1k1r4/8/8/8/8/8/8/RRRRKRRR b d - 0 1", chess960=True)
    notes = PlayerNotes(chess.WHITE, start)
    start.push_uci("b8d8")
    notes.take(last_ply(start, chess.WHITE))
    (line,) = notes.sheet
    assert line["san"] in ("O-O", None)
