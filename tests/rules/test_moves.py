"""Moves, make and perft against the plain python-chess reference."""

import random

import chess
import numpy as np
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.layout import MAX_MOVES
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves, has_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import (
    find_move,
    from_board,
    from_fen,
    legal_moves,
    move_to_uci,
    to_fen,
)
from obscuro.rules.tables import TABLES
from tests import reference
from tests.rules.perft import perft
from tests.well_formed import is_well_formed

POSITIONS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1",
    "4k3/P1P5/8/8/8/8/p1p5/4K3 b - - 0 1",
    "k7/8/8/3pP3/8/8/8/K7 w - d6 0 1",
    "4r3/8/8/8/4k3/8/4P3/4K2R w K - 0 1",  # the king attacked, castling and leaving check unasked
]


def walk(fen: str, plies: int, seed: int):
    """Boards of a random game of pseudo-legal moves."""
    rng = random.Random(seed)
    board = FogOfWarBoard(fen)
    for _ in range(plies):
        yield board
        moves = reference.fog_moves(board)
        if not moves or not reference.goes_on(board):
            return
        board.push(rng.choice(moves))


@pytest.mark.parametrize("fen", POSITIONS)
def test_moves_and_children_equal_the_reference(fen):
    for seed in range(3):
        for board in walk(fen, 60, seed):
            words = from_board(board)
            moves = legal_moves(words)
            names = [move_to_uci(move) for move in moves]
            assert sorted(names) == sorted(m.uci() for m in reference.fog_moves(board))
            assert bool(has_move(TABLES, tuple(words))) == bool(names)
            if not reference.goes_on(board):
                continue
            for move, name in zip(moves, names, strict=True):
                after = board.copy(stack=False)
                after.push(chess.Move.from_uci(name))
                assert (np.array(make_move(tuple(words), move)) == from_board(after)).all(), name


def test_action_order_depends_only_on_what_the_mover_knows():
    # Positions that look the same to the mover have the same moves in the same order.
    rng = random.Random(5)
    seen: dict[Observation, list[int]] = {}
    for seed in range(30):
        for board in walk(chess.STARTING_FEN, 12, seed):
            words = from_board(board)
            side = 0 if board.turn else 1
            observation = Observation.of(words, side)
            hidden = [
                s
                for s, p in board.piece_map().items()
                if p.color != board.turn
                and not observation.seen >> s & 1
                and p.piece_type != chess.KING
            ]
            order = legal_moves(words).tolist()
            assert seen.setdefault(observation, order) == order
            changed = board.copy(stack=False)
            for square in rng.sample(hidden, min(3, len(hidden))):
                changed.set_piece_at(square, chess.Piece(chess.KNIGHT, not board.turn))
            changed_words = from_board(changed)
            if Observation.of(changed_words, side) == observation and (
                changed.castling_rights == board.castling_rights
            ):
                assert legal_moves(changed_words).tolist() == order


def naive_perft(board: chess.Board, depth: int) -> int:
    if depth == 0 or not reference.goes_on(board):
        return 1
    count = 0
    for move in reference.fog_moves(board):
        board.push(move)
        count += naive_perft(board, depth - 1)
        board.pop()
    return count


@pytest.mark.parametrize("fen", POSITIONS)
def test_perft_equals_naive_counting(fen):
    words = from_fen(fen)
    for depth in (1, 2):
        assert perft(words, depth) == naive_perft(FogOfWarBoard(fen), depth)


def test_perft_from_the_start_counts_all_histories():
    # 197,742 histories of two moves by each side: Obscuro, footnote 22.
    counts = [perft(from_fen(chess.STARTING_FEN), depth) for depth in range(6)]
    assert counts == [1, 20, 400, 8902, 197_742, 4_897_256]


def test_en_passant_square_is_kept_only_if_a_pawn_can_capture():
    words = from_fen("4k3/8/8/8/2p5/8/1P1P4/4K3 w - - 0 1")
    for uci, square in (("b2b4", "b3"), ("d2d4", "d3"), ("b2b3", "-"), ("e1e2", "-")):
        child = np.array(make_move(tuple(words), find_move(words, uci)))
        assert to_fen(child).split()[-1] == square
    alone = from_fen("4k3/8/8/8/8/8/1P6/4K3 w - - 0 1")
    assert to_fen(np.array(make_move(tuple(alone), find_move(alone, "b2b4")))).endswith("-")


def test_rights_that_do_not_fit_are_dropped():
    assert to_fen(from_fen("4k3/8/8/8/8/8/8/3K3R w KQkq - 0 1")).split()[2] == "-"


def test_an_illegal_move_is_not_found():
    words = from_fen(chess.STARTING_FEN)
    for uci in ("e2e5", "e7e5", "e1g1", "zz", "e2e4q", ""):
        assert find_move(words, uci) is None


@pytest.mark.parametrize(
    ("fen", "good"),
    [
        (chess.STARTING_FEN, True),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", False),
        ("4k3/8/8/8/8/8/8/4KK2 w - - 0 1", False),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", False),
    ],
)
def test_well_formed_positions(fen, good):
    assert is_well_formed(from_fen(fen)) is good


def test_move_buffers_hold_more_than_any_position_has():
    most = from_fen("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1")
    moves = np.zeros(MAX_MOVES, dtype=np.uint32)
    assert 218 <= generate_moves(TABLES, tuple(most), moves) < MAX_MOVES
