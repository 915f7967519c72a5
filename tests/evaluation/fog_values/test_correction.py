"""What fog values change about a leaf, and what they leave alone."""

from __future__ import annotations

import functools
import math
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.factory import make_evaluator
from obscuro.evaluation.fog_values.correction import (
    CONSTANT,
    FIRST_FEATURE,
    MOST_PAWNS,
    SLOPE,
    SLOPE_PAWNS,
    WEIGHT_COUNT,
)
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator
from obscuro.evaluation.scale import EVALUATION_LIMIT, MATE_HORIZON, value_of_mate
from obscuro.rules.position import move_to_uci
from tests.evaluation.fog_values.naive_features import naive_features
from tests.evaluation.naive import after, game_boards, words_of
from tests.evaluation.nnue import made_up

BOARDS = game_boards(seed=33, count=25)
TAU = 6.0


def values_with(weights: np.ndarray | None) -> ChildValues:
    return NnueEvaluator(network=made_up.network(), fog_weights=weights).evaluate(words_of(BOARDS))


@functools.cache
def plain() -> ChildValues:
    return values_with(None)


def evaluated(values: np.ndarray) -> np.ndarray:
    """Which values are an evaluation, and neither a captured king's nor a mate's."""
    return np.abs(values) < abs(value_of_mate(MATE_HORIZON)) - 1e-6


def test_weights_of_zero_are_the_network_bit_for_bit() -> None:
    values = values_with(np.zeros(WEIGHT_COUNT))
    assert values.values.tobytes() == plain().values.tobytes()
    assert values.moves.tobytes() == plain().moves.tobytes()
    assert values.terminal.tobytes() == plain().terminal.tobytes()


def test_the_correction_is_the_naive_one() -> None:
    weights = np.random.default_rng(5).normal(0, 0.15, WEIGHT_COUNT)
    weights[SLOPE] = -0.1
    corrected, undecided, limited = values_with(weights), 0, 0
    for index, board in enumerate(BOARDS):
        for child in range(plain().offsets[index], plain().offsets[index + 1]):
            old, new = float(plain().values[child]), float(corrected.values[child])
            if not evaluated(np.array([old]))[0]:
                assert new == old
                continue
            if abs(old) > 0.99:
                continue  # too flat to find the pawns again
            undecided += 1
            move = chess.Move.from_uci(move_to_uci(plain().moves[child]))
            pawns = -TAU * math.atanh(old)
            added = weights[CONSTANT] + weights[SLOPE] * max(-SLOPE_PAWNS, min(SLOPE_PAWNS, pawns))
            added += float(weights[FIRST_FEATURE:] @ np.array(naive_features(after(board, move))))
            limited += abs(added) > MOST_PAWNS
            added = max(-MOST_PAWNS, min(MOST_PAWNS, added))
            assert new == pytest.approx(math.tanh(-(pawns + added) / TAU), abs=2e-4)
    assert undecided > 200
    assert limited > 5


def test_no_correction_leaves_the_range_of_evaluations() -> None:
    weights = np.zeros(WEIGHT_COUNT)
    weights[CONSTANT] = -100.0
    corrected = values_with(weights).values
    kept = evaluated(plain().values)
    assert (corrected[~kept] == plain().values[~kept]).all()
    assert (corrected[kept] >= plain().values[kept]).all()
    assert (np.abs(corrected[kept]) <= EVALUATION_LIMIT).all()
    inner = np.abs(plain().values) < 0.9
    moved = TAU * (np.arctanh(corrected[inner]) - np.arctanh(plain().values[inner]))
    assert moved == pytest.approx(np.full(inner.sum(), MOST_PAWNS), abs=1e-3)


def test_without_a_file_it_is_nnue_with_one_warning(tmp_path: Path) -> None:
    told: list[str] = []
    evaluator = make_evaluator("fog", fog_values=str(tmp_path / "none"), on_warning=told.append)
    assert evaluator.name == "nnue"
    assert told == [
        f"no fog values, so nnue is used: {tmp_path / 'none'}: No such file or directory"
    ]
    assert make_evaluator("fog", on_warning=told.append).name == "fog"
    assert len(told) == 1
