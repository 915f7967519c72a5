"""Row sums in vector registers are those of plain loops, whatever the length and wherever rows begin."""

import numpy as np
import pytest
from numba import njit

from obscuro.search import rows

PLAIN = (rows.dot_plain, rows.dot_and_add_plain, rows.dot_and_set_plain)


@njit
def _dot(x, i, y, j, count):
    return rows.dot(x, i, y, j, count)


@njit
def _add(x, i, y, j, out, k, scale, count):
    return rows.dot_and_add(x, i, y, j, out, k, scale, count)


@njit
def _set(x, i, y, j, out, k, scale, count):
    return rows.dot_and_set(x, i, y, j, out, k, scale, count)


@pytest.mark.parametrize("functions", [(_dot, _add, _set), PLAIN], ids=["chosen", "plain"])
@pytest.mark.parametrize("count", [*range(1, 36), 47, 48, 49, 64, 218])
def test_row_sums_are_those_of_numpy_and_nothing_beside_the_row_is_written(functions, count):
    dot, add, put = functions
    random = np.random.default_rng(count)
    x, y, out = (random.normal(size=300).astype(np.float32) for _ in range(3))
    i, j, k = random.integers(0, 300 - count + 1, 3)
    x_row, y_row = x[i : i + count].astype(float), y[j : j + count].astype(float)
    scale = np.float32(-0.7)
    expected = x_row @ y_row
    near = {"rel": 1e-5, "abs": 1e-5}

    assert dot(x, i, y, j, count) == pytest.approx(expected, **near)
    added, written = out.copy(), out.copy()
    assert add(x, i, y, j, added, k, scale, count) == pytest.approx(expected, **near)
    assert put(x, i, y, j, written, k, scale, count) == pytest.approx(expected, **near)
    outside = np.r_[0:k, k + count : 300]
    assert np.array_equal(added[outside], out[outside])
    assert np.array_equal(written[outside], out[outside])
    row = slice(k, k + count)
    assert added[row] == pytest.approx(out[row] + float(scale) * y_row, rel=1e-5, abs=1e-6)
    assert written[row] == pytest.approx(float(scale) * y_row, rel=1e-5, abs=1e-6)


def test_vectors_are_used_where_the_machine_has_masked_loads():
    chosen = [rows.dot, rows.dot_and_add, rows.dot_and_set]
    assert (chosen == list(PLAIN)) == (rows.LANES == 0)
