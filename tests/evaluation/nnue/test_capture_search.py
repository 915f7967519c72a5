"""Exchanges and the search of captures, against naive versions."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from obscuro.evaluation.nnue import capture_search
from obscuro.evaluation.nnue.capture_search import MATED, PLIES, search_captures
from obscuro.evaluation.nnue.captures import captured_piece, exchange_pays, generate_captures
from obscuro.evaluation.nnue.network import FRAMES
from obscuro.rules.layout import MAX_MOVES
from obscuro.rules.position import find_move, from_board, move_to_uci
from obscuro.rules.tables import TABLES
from tests.evaluation.naive import game_boards, king_hangs
from tests.evaluation.nnue import made_up, naive_search
from tests.evaluation.nnue.naive_search import CaptureSearch, captures, exchange, static_value
from tests.reference import fog_moves


def pays(board: chess.Board, uci: str) -> bool:
    row = from_board(board)
    move = find_move(row, uci)
    assert move is not None
    return bool(exchange_pays(TABLES, tuple(row), move, captured_piece(tuple(row), move)))


@pytest.mark.parametrize(
    ("fen", "move", "expected"),
    [
        ("4k3/8/3p4/4p3/8/5N2/8/4K3 w - - 0 1", "f3e5", False),  # a knight for a defended pawn
        ("4k3/8/3p4/4n3/8/5N2/8/4K3 w - - 0 1", "f3e5", True),  # a knight for a knight
        ("4k3/8/3p4/4n3/8/6B1/8/4K3 w - - 0 1", "g3e5", False),  # a bishop is a little more
        ("4r1k1/8/8/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", True),  # the rook behind joins in
        ("4r1k1/4r3/8/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", False),
        ("8/8/3k4/4p3/8/8/4R3/4K3 w - - 0 1", "e2e5", False),  # the king takes back
        ("8/8/3k4/4p3/8/8/4R3/4QK2 w - - 0 1", "e2e5", True),  # and may not where it is defended
        ("4k3/8/8/4p3/3K4/8/8/8 w - - 0 1", "d4e5", True),
        ("4k3/8/3p4/4p3/3K4/8/8/8 w - - 0 1", "d4e5", False),  # our king may not either
        ("4k3/8/3p4/8/8/5N2/8/4K3 w - - 0 1", "f3e5", False),  # nothing is won, and it is lost
        ("4k3/8/8/8/8/5N2/8/4K3 w - - 0 1", "f3e5", True),
    ],
)
def test_known_exchanges(fen: str, move: str, expected: bool) -> None:
    board = chess.Board(fen)
    assert pays(board, move) is expected
    assert pays(board.mirror(), chess.Move.from_uci(move).uci().translate(MIRROR)) is expected


MIRROR = str.maketrans("12345678", "87654321")


def test_all_moves_of_random_games() -> None:
    found = {True: 0, False: 0}
    for board in game_boards(seed=9, count=400):
        for move in fog_moves(board):
            is_king = board.piece_type_at(move.to_square) == chess.KING
            if is_king or move.promotion or board.is_en_passant(move) or board.is_castling(move):
                continue
            expected = exchange(board, move) >= 0
            assert pays(board, move.uci()) is expected, (board.fen(), move)
            if board.piece_at(move.to_square) is not None:
                found[expected] += 1
    assert min(found.values()) > 100


def listed(board: chess.Board) -> list[chess.Move]:
    """The kernel's captures."""
    moves = np.zeros((3, MAX_MOVES), dtype=np.uint32)
    count = generate_captures(TABLES, tuple(from_board(board)), moves, 1)
    return [chess.Move.from_uci(move_to_uci(move)) for move in moves[1, :count]]


def searched(board: chess.Board, plies: int = PLIES) -> int:
    work = made_up.workspace()
    made_up.place(work, capture_search.FIRST, board)
    return int(search_captures(TABLES, made_up.weights(), work, plies))


def playable(seed: int, count: int) -> list[chess.Board]:
    """Boards where the side that is not to move isn't in check."""
    boards = game_boards(seed, 4 * count)
    return [board for board in boards if not king_hangs(board, not board.turn)][:count]


def test_the_naive_search_has_the_same_limits() -> None:
    for name in ("INFINITE", "MATED", "PLIES", "NODES", "EVASION_PLIES", "RECAPTURE_PLY", "MARGIN"):
        assert getattr(capture_search, name) == getattr(naive_search, name)
    assert capture_search.FIRST + PLIES < FRAMES


def test_captures_are_all_captures_and_promotions_to_queens() -> None:
    for board in playable(seed=10, count=200):
        moves = listed(board)
        assert len(moves) == len(set(moves))
        assert set(moves) == captures(board), board.fen()


@pytest.mark.parametrize(
    "fen",
    [
        "1n2k3/P1P5/8/8/8/8/p1p5/1N2K3 w - - 0 1",
        "1n2k3/P1P5/8/8/8/8/p1p5/1N2K3 b - - 0 1",
        "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 1",
        "rnbqkbnr/pppp1ppp/8/8/3Pp3/8/PPP1PPPP/RNBQKBNR b KQkq d3 0 1",
    ],
)
def test_rare_captures(fen: str) -> None:
    board = chess.Board(fen)
    moves = listed(board)
    assert len(moves) == len(set(moves)) > 0
    assert set(moves) == captures(board)


def test_without_plies_it_is_the_position_as_it_stands() -> None:
    for board in playable(seed=11, count=40):
        assert searched(board, plies=0) == static_value(made_up.network(), board)


@pytest.mark.parametrize("seed", range(12, 16))
def test_values_are_those_of_the_naive_search(seed: int) -> None:
    nodes = 0
    for board in playable(seed, count=30):
        naive = CaptureSearch(made_up.network())
        assert searched(board) == naive.value(board), board.fen()
        nodes += naive.nodes
    assert nodes > 100


def test_a_side_in_check_without_moves_is_mated() -> None:
    board = chess.Board("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")
    assert searched(board) == -MATED


def test_a_capture_that_mates_is_found() -> None:
    board = chess.Board("6k1/r4ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    board.push_uci("a1a7")
    board.turn = chess.WHITE
    board.set_piece_at(chess.A8, chess.Piece(chess.ROOK, chess.BLACK))
    assert searched(board) == MATED - 1


def test_nodes_are_counted() -> None:
    work = made_up.workspace()
    board = playable(seed=17, count=1)[0]
    made_up.place(work, capture_search.FIRST, board)
    search_captures(TABLES, made_up.weights(), work, PLIES)
    naive = CaptureSearch(made_up.network())
    naive.value(board)
    assert work.nodes[0] == naive.nodes
