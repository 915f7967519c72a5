"""Where few positions explain what is seen, a rebuild finds them all; here with another search."""

from __future__ import annotations

import itertools

import chess
import numpy as np
import pytest

from obscuro.belief.placement import PAWN_KIND, QUEEN_KIND, STRICT, fewest_captures
from obscuro.belief.rebuild import KEPT, census
from obscuro.rules.layout import STATE
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, from_fen, legal_moves, to_board
from tests.belief.games import Words, as_set, row
from tests.belief.rebuilding import COSTS, assert_explains, pawns_of, rebuilt


def by_search(truth: Words, side: int, first: Words, rights: str) -> set[tuple[int, ...]]:
    """All positions with the enemy pieces of `truth` that its observer cannot tell from it.

    rights: the enemy's castling rights that there may be, in a FEN's letters.
    """
    observation = Observation.of(truth, side)
    enemy = side == 1  # as python-chess has it: True is White
    known = to_board(truth)
    hidden = []
    for square, piece in known.piece_map().items():
        if piece.color == enemy and not observation.seen >> square & 1:
            known.remove_piece_at(square)
            hidden.append(piece)
    free = [square for square in chess.SQUARES if not observation.seen >> square & 1]
    captures = (census(first, side) - census(truth, side)).sum()
    homes = pawns_of(first, 1 - side)
    found = set()
    for squares in itertools.permutations(free, len(hidden)):
        board = known.copy()
        for square, piece in zip(squares, hidden, strict=True):
            board.set_piece_at(square, piece)
        if board.pawns & (chess.BB_RANK_1 | chess.BB_RANK_8):
            continue
        for count in range(len(rights) + 1):
            for some in itertools.combinations(rights, count):
                board.castling_rights = sum(
                    {"K": chess.BB_H1, "Q": chess.BB_A1, "k": chess.BB_H8, "q": chess.BB_A8}[right]
                    for right in some
                )
                words = from_board(board)
                words[STATE] |= truth[STATE] & np.uint64(0b110 if side == 0 else 0b11000)
                if Observation.of(words, side) != observation or not len(legal_moves(words)):
                    continue
                if fewest_captures(homes, pawns_of(words, 1 - side), side == 1, COSTS) <= captures:
                    found.add(row(words))
    return found


CASES = {
    "a king": ("8/8/2k5/8/8/3P4/8/R3K3 w Q - 0 1", "4k3/8/8/8/8/3P4/8/R3K3 b Q - 0 1", 0, ""),
    "a king and a pawn that has not left its file": (
        "8/1p6/2k5/8/3Q4/2R5/1B6/4K3 b - - 0 1",
        "4k3/1p6/8/8/3Q4/2R5/1B6/4K3 w - - 0 1",
        0,
        "",
    ),
    "a king and a pawn that has captured": (
        "8/2k5/p7/8/3Q4/2R5/1B6/4K3 b - - 0 1",
        "4k3/1p6/8/8/3Q4/2R5/1B6/N3K3 w - - 0 1",
        0,
        "",
    ),
    "king and rook that may castle": (
        "r3k3/8/1N6/1N6/3B4/5Q2/8/3QK3 w q - 0 1",
        "r3k3/8/1N6/1N6/3B4/5Q2/8/3QK3 w q - 0 1",
        0,
        "q",
    ),
    "for Black, with blocked pawns": (
        "3qk3/8/1b6/2p3p1/2N3K1/8/8/8 b - - 0 1",
        "3qk3/8/1b6/2p3p1/2N3K1/8/8/8 b - - 0 1",
        1,
        "",
    ),
    "nothing": ("3k4/8/8/8/8/8/3Q4/4K3 w - - 0 1", "3k4/8/8/8/8/8/3Q4/4K3 w - - 0 1", 0, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_all_positions_are_found(name: str) -> None:
    fen, first_fen, side, rights = CASES[name]
    truth, first = from_fen(fen), from_fen(first_fen)
    expected = by_search(truth, side, first, rights)
    assert 0 < len(expected) <= KEPT
    result = rebuilt([first], truth, side, first)
    assert result.level == STRICT
    assert as_set(result.positions) == expected
    assert_explains(result.positions, side, truth, first)


def test_what_was_promoted_stays_so() -> None:
    """A pawn of Black has become a queen in one of two positions believed in; or we see that one."""
    first = from_fen("4k3/p7/8/8/8/8/R7/R3K3 w - - 0 1")
    promoted = from_fen("4k3/8/8/8/8/8/R7/R3K1q1 w - - 0 1")
    for fen, kinds in (
        ("8/2k2q2/8/8/3Q4/8/R7/1R2K3 b - - 0 1", {(1, 0), (0, 1)}),
        ("8/2k5/8/8/3Q4/q7/R7/1R2K3 b - - 0 1", {(0, 1)}),
    ):
        result = rebuilt([promoted, first], from_fen(fen), 0, first, remaining=census(first, 1))
        found = [census(words, 1) for words in result.positions]
        assert {(int(n[PAWN_KIND]), int(n[QUEEN_KIND])) for n in found} == kinds


def test_a_promotion_in_the_last_move_is_thought_of() -> None:
    earlier = from_fen("4k3/8/8/8/8/8/p7/4K2R b - - 0 1")
    truth = from_fen("4k3/8/8/8/8/8/8/n3K2R w - - 0 1")
    for moves, number in ((0, 1), (1, 6)):
        result = rebuilt([earlier], truth, 0, remaining=census(earlier, 1), enemy_moves=moves)
        kinds = {tuple(np.flatnonzero(census(words, 1)).tolist()) for words in result.positions}
        assert len(kinds) == number  # a pawn, or a piece of one of five kinds


def test_no_more_than_the_limit_is_kept() -> None:
    truth, first = from_fen(CASES["a king"][0]), from_fen(CASES["a king"][1])
    complete = as_set(rebuilt([first], truth, 0, first).positions)
    some = as_set(rebuilt([first], truth, 0, first, limit=7).positions)
    assert len(some) == 7
    assert some < complete
