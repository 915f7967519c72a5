"""FEN, conversion from and to chess.Board, and the hash."""

import random

import chess
import numpy as np

from obscuro.board.position import from_board, hash_positions, position_hash, to_board, to_fen
from obscuro.fog.board import FogOfWarBoard
from tests import reference


def random_words(games: int) -> np.ndarray:
    rows = []
    for seed in range(games):
        rng = random.Random(seed)
        board = FogOfWarBoard()
        while (
            reference.goes_on(board) and board.ply() < 80 and (moves := reference.fog_moves(board))
        ):
            rows.append(from_board(board))
            board.push(rng.choice(moves))
    return np.stack(rows)


def test_conversion_to_a_board_and_back_keeps_every_word():
    for words in random_words(10):
        board = to_board(words)
        assert (from_board(board) == words).all()
        fen = to_fen(words)
        assert (from_board(chess.Board(fen + " 0 1")) == words).all()


def test_hashes_differ_exactly_where_positions_do():
    positions = random_words(40)
    hashes = np.empty(len(positions), dtype=np.uint64)
    hash_positions(positions, hashes)
    assert len(np.unique(hashes)) == len(np.unique(positions, axis=0))
    assert (hashes != 0).all()
    assert int(position_hash(tuple(positions[5]))) == int(hashes[5])


def test_every_bit_of_a_position_changes_its_hash():
    base = from_board(chess.Board())
    hashes = {int(position_hash(tuple(base)))}
    for word in range(8):
        for bit in range(64):
            changed = base.copy()
            changed[word] ^= np.uint64(1 << bit)
            hashes.add(int(position_hash(tuple(changed))))
    assert len(hashes) == 8 * 64 + 1
