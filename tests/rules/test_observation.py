"""Vision and observation kernels against the plain reference; information keys."""

import itertools
import random

import chess
import numpy as np
import pytest
from numba import njit

from obscuro.rules.key import initial_key, key_after_other_move, key_after_own_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, from_fen
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import hash_words, observation_hash, vision
from tests import reference

WHITE, BLACK = 0, 1


def squares(mask: int) -> set[str]:
    return {chess.square_name(s) for s in chess.SquareSet(mask)}


def test_vision_and_observations_equal_the_reference():
    for seed in range(25):
        for board in reference.random_game(random.Random(seed), plies=120):
            words = from_board(board)
            for side, color in ((WHITE, chess.WHITE), (BLACK, chess.BLACK)):
                seen = int(vision(TABLES, tuple(words), side))
                assert seen == int(reference.vision(board, color))
                observation = Observation.of(words, side)
                assert observation.text() == reference.observation_text(board, color)
                assert Observation.parse(observation.text()) == observation
                assert observation.key() == int(observation_hash(TABLES, tuple(words), side))


def test_blocked_pawn_does_not_see_its_blocker():
    words = from_fen("4k3/8/8/4p3/4P3/8/8/4K3 w - - 0 1")
    for side, blocker in ((WHITE, chess.E5), (BLACK, chess.E4)):
        assert Observation.of(words, side).symbols()[blocker] == "*"


def test_pawn_sees_diagonals_only_with_an_enemy_there():
    words = from_fen("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1")
    seen = squares(Observation.of(words, WHITE).seen)
    assert "d5" in seen and "f5" not in seen


@pytest.mark.parametrize(("side", "shown"), [(WHITE, {"d6", "d5"}), (BLACK, set())])
def test_en_passant_shows_the_square_and_the_pawn_to_the_capturer_only(side, shown):
    words = from_fen("7k/8/8/3pP3/8/8/8/K7 w - d6 0 1")
    observation = Observation.of(words, side)
    assert (observation.en_passant == chess.D6) == (side == WHITE)
    assert squares(observation.seen) & {"d6"} == shown & {"d6"}


def test_keys_tell_apart_moves_observations_order_and_sides():
    start = [int(initial_key(side, np.uint64(7))) for side in (WHITE, BLACK)]
    keys = set(start)
    for key in map(np.uint64, start):
        for observation in map(np.uint64, (1, 2, 3)):
            keys.add(int(key_after_other_move(key, observation)))
            keys.update(int(key_after_own_move(key, np.uint64(m), observation)) for m in range(4))
    one, two = np.uint64(1), np.uint64(2)
    first = np.uint64(start[0])
    keys.add(int(key_after_other_move(np.uint64(key_after_other_move(first, one)), two)))
    keys.add(int(key_after_other_move(np.uint64(key_after_other_move(first, two)), one)))
    assert len(keys) == 2 + 2 * 3 * 5 + 2
    assert 0 not in keys


def test_hash_depends_on_every_word_of_an_observation():
    base = Observation.of(from_fen(chess.STARTING_FEN), WHITE).words()
    hashes = {int(hash_words(tuple(base)))}
    for word in range(9):
        changed = base.copy()
        changed[word] ^= np.uint64(1 << 9)
        hashes.add(int(hash_words(tuple(changed))))
    assert len(hashes) == 10


def test_observations_that_differ_towards_h8_do_not_collide():
    pair = ["3rq1k1/8/8/8/3q4/8/8/K7", "3q2kr/8/8/8/6q1/8/8/K7"]
    one, other = (Observation.parse(text).key() for text in pair)
    assert one != other


@njit
def hash_all(rows, hashes):
    for k in range(rows.shape[0]):
        row = rows[k]
        words = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])
        hashes[k] = hash_words(words)


def test_hashes_of_observations_are_spread_as_random_words():
    # A rook and two queens, wherever they may stand: 113,460 observations of all squares. Of so many
    # random words of 32 bits one or two are equal to another.
    kings = chess.BB_A1 | chess.BB_G8
    free = [1 << square for square in range(64) if not kings >> square & 1]
    words = [0] * 9
    words[0], words[6], words[7] = chess.BB_ALL, kings, chess.BB_A1
    rows = []
    for rook in free:
        for queens in itertools.combinations(free, 2):
            if rook not in queens:
                words[4], words[5] = rook, sum(queens)
                rows.append(tuple(words))
    hashes = np.empty(len(rows), dtype=np.uint64)
    hash_all(np.array(rows, dtype=np.uint64), hashes)
    assert len(np.unique(hashes)) == len(rows) == 113_460
    for half in (hashes >> np.uint64(32), hashes & np.uint64(2**32 - 1)):
        assert len(hashes) - len(np.unique(half)) < 12
