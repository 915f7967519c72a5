"""The kernel against the naive features, and a position in which a player can count them."""

from __future__ import annotations

import chess
import numpy as np

from obscuro.evaluation.fog_values.sight_features import (
    ALL_FEATURES,
    FEATURE_COUNT,
    FEATURES,
    fill_features,
)
from obscuro.rules.tables import TABLES
from tests.evaluation.fog_values.naive_features import naive_features
from tests.evaluation.naive import game_boards, words_of


def features_of(boards: list[chess.Board]) -> np.ndarray:
    found = np.full((len(boards), ALL_FEATURES), np.nan)
    fill_features(TABLES, words_of(boards), found)
    return found


def test_features_are_the_naive_ones() -> None:
    boards = game_boards(seed=31, count=150)
    found = features_of(boards)
    for board, row in zip(boards, found, strict=True):
        assert row.tolist() == naive_features(board), board.fen()
    varied = (found != found[0]).any(axis=0).reshape(2, FEATURE_COUNT).any(axis=0)
    assert varied.all(), [name for name, seen in zip(FEATURES, varied, strict=True) if not seen]


def test_a_rook_does_not_see_the_bishop_that_attacks_it() -> None:
    row = features_of([chess.Board("4k3/8/8/8/8/5b2/8/K2R4 w - - 0 1")])[0]
    ours = dict(zip(FEATURES, row[:FEATURE_COUNT], strict=True))
    theirs = dict(zip(FEATURES, row[FEATURE_COUNT:], strict=True))
    assert ours["rooks attacked out of the fog"] == 1
    assert ours["rooks attacked in sight"] == 0
    assert ours["pieces that the enemy does not see, without pawns"] == 0
    assert theirs["pieces that the enemy does not see, without pawns"] == 1


def test_both_colours_have_the_same_features() -> None:
    boards = game_boards(seed=32, count=40)
    mirrored = [board.mirror() for board in boards]
    assert (features_of(boards) == features_of(mirrored)).all()


def test_a_position_without_kings_has_features() -> None:
    assert np.isfinite(features_of([chess.Board("8/8/8/3q4/8/8/3R4/8 w - - 0 1")])).all()
