"""The pairs of games that the tests of leaks use: alike to one side, and not the same."""

from __future__ import annotations

from itertools import product

import chess
import pytest

from tests.leaks.twins import NAMED, STARTS, Twins, check, hidden_kinds, named_twins, twins
from tests.sizes import quick_among


@pytest.mark.parametrize(
    ("seed", "side", "start"),
    quick_among(product(range(12), chess.COLORS, STARTS), lambda case: case[0] == 0),
)
def test_random_twins_look_the_same_and_differ_in_the_fog(
    seed: int, side: chess.Color, start: str
) -> None:
    pair = twins(seed, side, start, plies=40)
    check(pair)
    assert pair.differences


@pytest.mark.parametrize(("name", "pair"), named_twins())
def test_named_twins_look_the_same_and_differ_in_the_fog(name: str, pair: Twins) -> None:
    check(pair)
    assert pair.differences
    one, other = pair.boards()
    assert one.turn != pair.side  # the pair ends with a move of the side's own
    assert name == "the count of moves without a capture or a pawn's move" or one != other


def test_every_kind_of_move_is_made_in_the_fog() -> None:
    pairs = [
        twins(seed, side, start, 40) for seed, side, start in product((0, 1), (True, False), STARTS)
    ]
    kinds = frozenset().union(*map(hidden_kinds, pairs))
    assert kinds == {"promotion", "capture", "en passant", "castling", "double step"}
    assert len(NAMED) == 5
