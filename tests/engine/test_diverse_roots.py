"""Positions chosen by the diversity of their values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.engine.roots import ExtraTime, diverse

VALUES = st.lists(
    st.floats(-1, 1, width=32) | st.sampled_from([-0.5, 0.0, 0.5]), min_size=2, max_size=60
)


@given(VALUES, st.data())
def test_chosen_positions_stand_for_all(values: list[float], data: st.DataObject) -> None:
    known = np.array(values, np.float32)
    wanted = data.draw(st.integers(1, len(values) - 1))
    chosen, masses = diverse(known, wanted)
    assert len(set(chosen.tolist())) == len(chosen) == wanted
    assert chosen.tolist() == sorted(chosen.tolist())
    assert np.all(masses > 0)
    assert masses.sum() == pytest.approx(wanted, rel=1e-4)


def test_rare_values_stay_and_count_for_themselves() -> None:
    known = np.array([0.1] * 97 + [-0.9, 0.5, 0.9], np.float32)
    chosen, masses = diverse(known, 4)
    assert set(known[chosen].tolist()) == set(known.tolist())
    assert masses.tolist() == pytest.approx([97 / 25, 1 / 25, 1 / 25, 1 / 25])


def test_where_values_are_equal_their_mass_is_shared() -> None:
    chosen, masses = diverse(np.zeros(10, np.float32), 4)
    assert chosen.tolist() == [0, 1, 2, 3]
    assert masses.tolist() == pytest.approx([1, 1, 1, 1])


def test_extra_time_begins_with_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([100.0, 100.4, 100.5])
    monkeypatch.setattr("obscuro.engine.roots.time.monotonic", lambda: next(seconds))
    extra = ExtraTime(0.5)
    assert [extra.is_over() for _ in range(3)] == [False, False, True]
    endless = ExtraTime(None)
    monkeypatch.setattr("obscuro.engine.roots.time.monotonic", lambda: 1e9)
    assert not endless.is_over()
