"""Pawn structures: how many captures they take, against a search through all assignments."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.belief.placement import IMPOSSIBLE, MOST_HOMES, fewest_captures

COSTS = np.empty(1 << MOST_HOMES, dtype=np.int8)


def captures(homes: int, pawns: int, white: bool) -> int:
    return int(fewest_captures(np.uint64(homes), np.uint64(pawns), white, COSTS))


def captures_by_search(homes: int, pawns: int, white: bool) -> int:
    best = IMPOSSIBLE
    standing = list(chess.SquareSet(pawns))
    for starts in itertools.permutations(chess.SquareSet(homes), len(standing)):
        total = 0
        for start, end in zip(starts, standing, strict=True):
            files = abs(chess.square_file(end) - chess.square_file(start))
            ranks = chess.square_rank(end) - chess.square_rank(start)
            if (ranks if white else -ranks) < files:
                break
            total += files
        else:
            best = min(best, total)
    return best


def squares(text: str) -> int:
    return sum(chess.BB_SQUARES[chess.parse_square(name)] for name in text.split())


BOARD = st.sets(st.integers(8, 55), max_size=5).map(lambda found: sum(1 << s for s in found))


@given(homes=BOARD, pawns=BOARD, white=st.booleans())
def test_captures_are_those_of_the_best_assignment(homes: int, pawns: int, white: bool) -> None:
    assert captures(homes, pawns, white) == captures_by_search(homes, pawns, white)


@pytest.mark.parametrize(
    ("pawns", "needed"),
    [
        ("", 0),
        ("a7 b7 c7 d7 e7 f7 g7 h7", 0),
        ("a6 b5 c4 d3 e2 f7 g7 h7", 0),
        ("e6 e5", 1),
        ("e6 e5 e4", 2),
        ("e6 e5 d7 f7", 2),
        ("e6 e5 c7 d7 f7 g7", IMPOSSIBLE),  # nothing is left from where e5 can have come
        ("a6 a5 a4 a3 a2", 10),
        ("a6 a5 a4 a3 b7", 9),
        ("e7 e6", 1),
    ],
)
def test_black_pawns_from_their_second_rank(pawns: str, needed: int) -> None:
    homes = chess.BB_RANK_7
    assert captures_by_search(homes, squares(pawns), False) == needed
    assert captures(homes, squares(pawns), False) == needed


def test_a_pawn_does_not_stand_behind_its_home() -> None:
    assert captures(squares("e4"), squares("e3"), True) == IMPOSSIBLE
    assert captures(squares("e4"), squares("e5"), False) == IMPOSSIBLE


def test_with_more_homes_than_there_can_be_nothing_is_ruled_out() -> None:
    assert captures(chess.BB_RANK_7 | chess.BB_A6, squares("a6 a5 a4"), False) == 0
