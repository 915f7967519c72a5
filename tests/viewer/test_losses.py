"""What a move lost is the mover's own expectation before it, less the one at its next turn."""

from __future__ import annotations

import math

import chess
import pytest

from obscuro.viewer.document import ShownAdvice, ShownComparison
from obscuro.viewer.make_document import (
    LEAST_LOSS,
    MOST_MARKS,
    Loss,
    analysed_losses,
    expected_score,
    losses,
    worst,
)

MOVERS = [chess.WHITE, chess.BLACK] * 20


def test_an_expected_score_is_the_engines_value_in_points() -> None:
    assert expected_score(0.0) == 0.5
    assert expected_score(6.0) == pytest.approx((1 + math.tanh(1)) / 2)
    assert expected_score(6.0) + expected_score(-6.0) == pytest.approx(1.0)


def test_each_side_is_measured_by_its_own_evaluations() -> None:
    # White's are 2, 1; Black's are -1, 3 (in White's view: Black's hopes fall).
    found = losses([2.0, -1.0, 1.0, 3.0], MOVERS[:4], None)
    assert [loss.move for loss in found] == [0, 1]
    white, black = found
    assert (white.before, white.after) == (expected_score(2.0), expected_score(1.0))
    assert black.before == pytest.approx(expected_score(1.0))
    assert black.after == pytest.approx(expected_score(-3.0))
    assert white.size > 0 and black.size > 0


def test_the_last_move_of_a_side_is_measured_by_the_result() -> None:
    found = losses([0.0, 0.0, 20.0], MOVERS[:3], 1.0)
    assert {loss.move: loss.after for loss in found} == {
        0: expected_score(20.0),
        1: 0.0,  # Black's only move lost the game
        2: 1.0,
    }


def test_without_an_end_by_the_rules_the_last_moves_are_not_measured() -> None:
    assert [loss.move for loss in losses([0.0, 0.0, 0.0], MOVERS[:3], None)] == [0]


def test_where_an_evaluation_is_missing_nothing_is_said() -> None:
    assert losses([None, 0.0, 1.0, None], MOVERS[:4], 1.0) == [Loss(2, expected_score(1.0), 1.0)]


def test_the_largest_losses_of_each_side_are_marked() -> None:
    sizes = [0.9 - 0.01 * move for move in range(40)]
    found = [Loss(move, size, 0.0) for move, size in enumerate(sizes)]
    marked = [loss.move for loss in worst(found, MOVERS)]
    assert marked == list(range(2 * MOST_MARKS))


def test_small_losses_and_gains_are_not_marked() -> None:
    found = [Loss(0, LEAST_LOSS - 0.001, 0.0), Loss(1, 0.2, 0.9), Loss(2, LEAST_LOSS, 0.0)]
    assert [loss.move for loss in worst(found, MOVERS)] == [2]


def advised(played: float, better: float) -> ShownAdvice:
    """Return what an analysis says of a move worth `played`, beside one worth `better`."""
    return ShownAdvice(
        by="A",
        uci="e2e4",
        san="e4",
        pawns=0.0,
        policy=[],
        belief=1,
        belief_exact=True,
        coverage=None,
        seconds=1.0,
        nodes=1,
        depth=1.0,
        comparison=ShownComparison(
            played=played,
            played_nodes=1,
            better=better,
            better_nodes=1,
            uci="e2e4",
            san="e4",
            because=[],
        ),
    )


def test_an_analysis_takes_the_place_of_the_players_own_words() -> None:
    reported = [Loss(0, 0.9, 0.1), Loss(1, 0.9, 0.2), Loss(2, 0.9, 0.3), Loss(3, 0.9, 0.4)]
    forced = advised(0.1, 0.9)
    forced["comparison"] = None
    advice = {0: advised(0.25, 0.75), 1: advised(0.75, 0.25), 2: None, 3: forced}
    assert analysed_losses(reported, advice) == [reported[2], Loss(0, 0.75, 0.25, analysed=True)]
    assert analysed_losses(reported, {}) == reported
