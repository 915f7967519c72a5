"""FEN, conversion from and to chess.Board, and the hash."""

import itertools
import random

import chess
import numpy as np

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, hash_positions, position_hash, to_board, to_fen
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


def test_positions_that_differ_in_high_bits_of_two_boards_do_not_collide():
    pair = ["3N1brr/5kb1/4K3/8/8/7p/8/8 w - - 0 1", "3N1r2/5kb1/4K3/r7/6r1/7p/8/8 w - - 0 1"]
    one, other = (int(position_hash(tuple(from_board(chess.Board(fen))))) for fen in pair)
    assert one != other


def test_hashes_are_spread_as_random_ones():
    # A bishop, a rook and a queen, wherever they may stand beside two kings: 226,920 positions that
    # differ in few bits. Of n random words of 32 bits, about n² / 2^33 = 6 are equal to another.
    kings = np.uint64(chess.BB_A1 | chess.BB_H8)
    squares = [np.uint64(1 << square) for square in range(64) if not int(kings) >> square & 1]
    triples = list(itertools.permutations(squares, 3))
    positions = np.zeros((len(triples), 8), dtype=np.uint64)
    positions[:, 2:5] = triples
    positions[:, 5] = kings
    positions[:, 6] = np.uint64(chess.BB_A1)
    hashes = np.empty(len(positions), dtype=np.uint64)
    hash_positions(positions, hashes)
    assert len(np.unique(hashes)) == len(hashes) == 226_920
    for half in (hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)):
        assert len(hashes) - len(np.unique(half)) < 20
    for shift in range(0, 44, 4):
        buckets = np.bincount((hashes >> np.uint64(shift) & np.uint64(0xFFF)).astype(np.int64))
        assert len(buckets) == 4096
        chi_squared = ((buckets - buckets.mean()) ** 2 / buckets.mean()).sum()
        assert abs(chi_squared - 4095) < 6 * (2 * 4095) ** 0.5


def test_every_bit_of_a_position_changes_half_of_its_hash():
    base = from_board(chess.Board())
    hashed = int(position_hash(tuple(base)))
    flips = []
    for word in range(8):
        for bit in range(64):
            changed = base.copy()
            changed[word] ^= np.uint64(1 << bit)
            flips.append((hashed ^ int(position_hash(tuple(changed)))).bit_count())
    assert min(flips) >= 12
    assert 31 < sum(flips) / len(flips) < 33


def test_every_bit_of_a_position_changes_its_hash():
    base = from_board(chess.Board())
    hashes = {int(position_hash(tuple(base)))}
    for word in range(8):
        for bit in range(64):
            changed = base.copy()
            changed[word] ^= np.uint64(1 << bit)
            hashes.add(int(position_hash(tuple(changed))))
    assert len(hashes) == 8 * 64 + 1
