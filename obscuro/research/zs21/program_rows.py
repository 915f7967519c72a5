"""The rows of a trunk's linear program, of which HiGHS gets only those that matter.

▼ has a row for each of its open sequences, and nearly all of them have slack. The program starts
with one best answer of ▼'s. After each solution it gets the rows that the solution breaks, and ▼'s
best answer to it. When no row is broken the program is solved as a whole: rows that were left out
have slack, and the dual 0.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.research.zs21.sequence_table import Integers
from obscuro.research.zs21.trunk import Floats

BROKEN = 1e-9
"""A row counts as broken if its bound is exceeded by more than this."""


class ProgramRows(NamedTuple):
    """The rows of a program, with entries sorted by row. The first `answers` rows are ▼'s."""

    start: Integers  # [R + 1] the entries of row r are start[r]:start[r + 1]
    column: npt.NDArray[np.int32]  # [E]
    value: Floats  # [E]
    lower: Floats  # [R]
    upper: Floats  # [R]
    answers: int

    def times(self, columns: Floats) -> Floats:
        """Return the rows' values, float64[R], at values of the columns, float64[C]."""
        products = np.append(self.value * columns[self.column], 0.0)
        sums: Floats = np.add.reduceat(products, self.start[:-1])
        sums[self.start[1:] == self.start[:-1]] = 0.0
        return sums

    def broken(self, columns: Floats) -> npt.NDArray[np.bool_]:
        """Return which of ▼'s rows are broken, bool[answers]."""
        excess = self.times(columns)[: self.answers] - self.upper[: self.answers]
        return excess > BROKEN

    def part(self, rows: Integers) -> tuple[Integers, npt.NDArray[np.int32], Floats]:
        """Return the starts, columns and values of some rows int64[k], as HiGHS takes them."""
        length = self.start[rows + 1] - self.start[rows]
        start = np.cumsum(length) - length
        entries = np.repeat(self.start[rows] - start, length) + np.arange(int(length.sum()))
        return start, self.column[entries], self.value[entries]


def sorted_rows(
    row: Integers, column: Integers, value: Floats, lower: Floats, upper: Floats, answers: int
) -> ProgramRows:
    """Make rows of entries in any order: int64[E], int64[E], float64[E]."""
    order = np.argsort(row, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=len(lower)))))
    return ProgramRows(
        start.astype(np.int64), column[order].astype(np.int32), value[order], lower, upper, answers
    )


class Answers:
    """▼'s open infosets in a program, for finding ▼'s best answer.

    first, degree, parent: int64[I], an infoset's first row, its number of rows, and the row before
    it. depth: int64[I].
    """

    def __init__(
        self, first: Integers, degree: Integers, parent: Integers, depth: Integers
    ) -> None:
        self._levels = []
        for level in np.unique(depth)[::-1].tolist():
            here = np.flatnonzero(depth == level)
            width = degree[here]
            before = np.cumsum(width) - width
            rows = np.repeat(first[here] - before, width) + np.arange(int(width.sum()))
            self._levels.append((rows, before, width, parent[here]))

    def best(self, payoffs: Floats) -> Integers:
        """Return the row of ▼'s best answer at each infoset, int64[I] in ascending order.

        payoffs: float64[answers], what ▲ gets by each row from its own entries; infosets that
        follow a row add to it.
        """
        total = payoffs.copy()
        found = [np.zeros(0, dtype=np.int64)]
        for rows, before, width, parent in self._levels:
            least = np.minimum.reduceat(total[rows], before)
            is_least = np.flatnonzero(total[rows] == np.repeat(least, width))
            _, first = np.unique(
                np.repeat(np.arange(len(before)), width)[is_least], return_index=True
            )
            found.append(rows[is_least[first]])
            np.add.at(total, parent, least)
        return np.sort(np.concatenate(found))
