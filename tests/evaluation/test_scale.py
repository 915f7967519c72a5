"""Pawns to values and back."""

import math

from hypothesis import given
from hypothesis import strategies as st

from obscuro.evaluation.scale import (
    EVALUATION_LIMIT,
    TAU,
    centipawns_of_value,
    value_of_mate,
    value_of_pawns,
)


def test_six_pawns_are_tanh_1() -> None:
    assert value_of_pawns(6.0, TAU) == math.tanh(1)
    assert value_of_pawns(-3.0, 3.0) == -math.tanh(1)


@given(st.integers(-2900, 2900))
def test_centipawns_come_back(centipawns: int) -> None:
    assert centipawns_of_value(value_of_pawns(centipawns / 100, TAU)) == centipawns


def test_centipawns_of_certain_wins_are_finite() -> None:
    assert centipawns_of_value(1.0) == centipawns_of_value(EVALUATION_LIMIT) == 2971
    assert centipawns_of_value(-1.0) == -2971


def test_mates_lie_between_evaluations_and_captured_kings() -> None:
    most = value_of_pawns(1000.0, TAU)
    assert most < value_of_mate(200) <= value_of_mate(50) < value_of_mate(2) < value_of_mate(1) < 1
    assert -1 < value_of_mate(0) < value_of_mate(-1) < value_of_mate(-2) < -most
