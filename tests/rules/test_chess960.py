"""Chess960: moves, positions, sight and FENs from any start, against plain python-chess."""

import random

import chess
import numpy as np
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.make import make_move
from obscuro.rules.moves import has_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import (
    find_move,
    from_board,
    from_fen,
    legal_moves,
    move_to_uci,
    to_board,
    to_fen,
)
from obscuro.rules.side_view import SideView
from obscuro.rules.tables import TABLES
from tests import reference
from tests.sizes import quick_among

STARTS = range(960)
STRANGE = [
    "4k3/8/8/8/8/8/8/RK6 w A - 0 1",  # the d-file is seen by castling alone
    "4k3/8/8/8/8/8/8/RK1n4 w A - 0 1",
    "rk6/8/8/8/8/8/8/4K3 b a - 0 1",
    "4k3/8/8/8/8/8/PPPPPPPP/1NBBNKRQ w G - 0 1",  # king and rook change places, the only move there
    "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w BGbg - 0 1",  # a standard king, other rooks
    "2rkr3/8/8/8/8/8/8/RR1K2RR w HBce - 0 1",  # not the outermost rook
    "r3k2r/8/8/8/8/8/8/2RKR3 w ECha - 0 1",  # one side as in ordinary chess
    "5kr1/8/8/8/8/8/8/1KR5 b Cg - 0 1",  # a rook that does not move, a king that does not
    "r1k4r/8/8/8/8/8/8/R5KR w HAha - 0 1",
]


def random_start(seed: int) -> chess.Board:
    """A start of Chess960; in a third of them both sides have one of their own."""
    rng = random.Random(seed)
    board = FogOfWarBoard.from_chess960_pos(rng.randrange(960))
    if seed % 3 == 0:
        other = FogOfWarBoard.from_chess960_pos(rng.randrange(960)).board_fen().split("/")[0]
        rights = other.index("r"), other.rindex("r")
        ranks = [other, *board.board_fen().split("/")[1:]]
        white = board.castling_shredder_fen()[:2]
        files = "".join("abcdefgh"[file] for file in reversed(rights))
        board = FogOfWarBoard(f"{'/'.join(ranks)} w {white}{files} - 0 1", chess960=True)
    if seed % 2:  # without pawns castling comes soon
        for square in chess.scan_forward(board.pawns | board.knights | board.bishops):
            board.remove_piece_at(square)
    return board


def check(board: chess.Board) -> None:
    """Compare everything about a position that the rules say."""
    words = from_board(board)
    moves = legal_moves(words)
    names = [move_to_uci(move, chess960=True) for move in moves]
    assert sorted(names) == sorted(m.uci() for m in reference.fog_moves(board)), board.fen()
    assert sorted(names) == sorted(m.uci() for m in board.generate_pseudo_legal_moves())
    assert bool(has_move(TABLES, tuple(words))) == bool(names)
    for color in chess.COLORS:
        seen = int(reference.vision(board, color))
        assert board.vision_mask(color) == seen, board.fen()
        assert Observation.of(words, 0 if color else 1).seen == seen, board.fen()
    assert (from_board(to_board(words)) == words).all()
    assert (from_fen(to_fen(words)) == words).all()
    assert (from_fen(board.fen(shredder=True)) == words).all()
    assert (from_fen(board.fen(), chess960=True) == words).all()
    for move, name in zip(moves, names, strict=True):
        assert find_move(words, name) == find_move(words, move_to_uci(move)) == move
        after = board.copy(stack=False)
        after.push(chess.Move.from_uci(name))
        if reference.goes_on(after):
            assert (np.array(make_move(tuple(words), move)) == from_board(after)).all(), name


@pytest.mark.parametrize("batch", quick_among(range(8), lambda batch: batch < 2))
def test_random_games_equal_the_reference(batch: int) -> None:
    castlings = 0
    for seed in range(batch, 240, 8):
        board = random_start(seed)
        rng = random.Random(seed)
        for _ in range(40):
            check(board)
            if not reference.goes_on(board):
                break
            moves = reference.fog_moves(board)
            castling = [move for move in moves if board.is_castling(move)]
            castlings += bool(castling)
            board.push(rng.choice(castling if castling and rng.random() < 0.3 else moves))
    assert castlings > 50


@pytest.mark.parametrize("fen", STRANGE)
def test_strange_positions_equal_the_reference(fen: str) -> None:
    for seed in range(5):
        board = FogOfWarBoard(fen, chess960=True)
        rng = random.Random(seed)
        for _ in range(12):
            check(board)
            if not reference.goes_on(board):
                break
            board.push(rng.choice(reference.fog_moves(board)))


def test_ordinary_chess_has_the_words_it_always_had() -> None:
    for fen in (chess.STARTING_FEN, "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1"):
        for board in (chess.Board(fen), chess.Board(fen, chess960=True)):
            assert int(from_board(board)[7]) < 1 << 11
    words = from_fen("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert {"e1g1", "e1c1"} <= set(map(move_to_uci, legal_moves(words)))
    assert {"e1h1", "e1a1"} <= {move_to_uci(m, chess960=True) for m in legal_moves(words)}


def test_files_are_forgotten_with_the_rights() -> None:
    words = from_fen("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w BGbg - 0 1")
    for uci, castling in (("b1b8", "Gg"), ("g8g1", "-"), ("b8a8", "-")):
        words = np.array(make_move(tuple(words), find_move(words, uci)), dtype=np.uint64)
        assert to_fen(words).split()[2] == castling
    assert int(words[7]) == 1


def test_castling_shows_the_square_on_the_d_file() -> None:
    open_way = FogOfWarBoard("4k3/8/8/8/8/8/8/RK6 w A - 0 1", chess960=True)
    blocked = FogOfWarBoard("4k3/8/8/8/8/8/8/RK1n4 w A - 0 1", chess960=True)
    no_right = FogOfWarBoard("4k3/8/8/8/8/8/8/RK6 w - - 0 1", chess960=True)
    assert [chess.D1 in b.vision(chess.WHITE) for b in (open_way, blocked, no_right)] == [
        True,
        False,
        False,
    ]
    for board in (open_way, blocked, no_right):
        view = SideView(chess.WHITE, board)
        assert sorted(view.moves()) == sorted(move.uci() for move in board.legal_moves)


@pytest.mark.parametrize("number", quick_among(STARTS, lambda number: number % 40 == 0))
def test_all_starts_are_read_in_all_forms(number: int) -> None:
    board = FogOfWarBoard.from_chess960_pos(number)
    words = from_board(board)
    xfen, shredder = board.fen(), board.fen(shredder=True)
    assert xfen.split()[2] == "KQkq"
    assert (from_fen(xfen, chess960=True) == words).all()
    assert (from_fen(shredder) == words).all()
    assert to_board(words).chess960_pos() == number
