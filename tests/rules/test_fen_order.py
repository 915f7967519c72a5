"""Positions are listed in the order of their FENs."""

from __future__ import annotations

import random

import numpy as np

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.fen_order import fen_order
from obscuro.rules.position import from_board, from_fen, to_fen


def test_the_order_is_that_of_the_fens() -> None:
    dice = random.Random(4)
    boards = []
    for _ in range(40):
        board = FogOfWarBoard()
        while board.outcome() is None and len(board.move_stack) < 60:
            board.push(dice.choice(list(board.legal_moves)))
            if not board.is_variant_end():
                boards.append(from_board(board))
    positions = np.array(boards)
    fens = [to_fen(position) for position in positions]
    assert len(set(fens)) > 1500
    assert [fens[index] for index in fen_order(positions)] == sorted(fens)


def test_castling_rights_and_en_passant_decide_between_equal_placements() -> None:
    places = "4k2r/8/8/8/pP1pPp2/8/8/R3K2R"
    tails = ("b KQk b3", "b KQk e3", "b KQk -", "b Qk -", "b - -", "b k e3")
    fens = [f"{place} {tail}" for place in (places, places.replace("p1", "1p")) for tail in tails]
    positions = np.array([from_fen(fen) for fen in fens])
    written = [to_fen(position) for position in positions]
    assert [written[index] for index in fen_order(positions)] == sorted(written)


def test_no_positions_have_no_order() -> None:
    assert len(fen_order(np.zeros((0, 8), dtype=np.uint64))) == 0
