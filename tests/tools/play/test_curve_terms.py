"""What fog adds to pawns."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tools.play.made_up_turns import TAU, made_up
from tools.play.curve_terms import belief_terms, fit_terms, fog_terms
from tools.play.turn_values import UNKNOWN


def test_terms_tell_what_a_danger_takes() -> None:
    turns = made_up(4000, danger=2.5)
    first = turns.where(turns.ply == 0)
    danger = "own king attacked by an unseen piece"
    fitted, losses = fit_terms(first, {danger: fog_terms(first)[danger]})
    (tau, weight), (_, error) = fitted.values, fitted.errors
    assert tau == pytest.approx(TAU, rel=0.1)
    assert abs(weight + 2.5) < 3 * error < 1
    _, without = fit_terms(first, {})
    assert losses.mean() < without.mean() - 0.01


def test_terms_of_p_are_doublings_of_both_sides() -> None:
    turns = made_up(3)._replace(belief=np.array([64, 512, 256, UNKNOWN, 1, 256]))
    own, enemy = belief_terms(turns).values()
    assert own.tolist() == [-2, 1, 0, 0, -8, 0]
    assert enemy.tolist() == [0, -2, 0, 0, 0, -8]
