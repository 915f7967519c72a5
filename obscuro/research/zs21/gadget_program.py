"""The linear programs of a trunk's two gadgets, Maxmargin and Resolve, solved exactly by HiGHS.

Variables: ▲'s open sequences x, the value v of each open ▼-infoset, the least margin t, and a
margin m for each J. Rows: one for each of ▼'s open sequences, whose duals are ▼'s strategy y, and
one for each of ▲'s open infosets.
"""

from __future__ import annotations

import time
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.research.zs21.trunk import MAX, MIN, Floats, Integers, SequenceTable, Trunk, leaves_of
from obscuro.research.zs21.zs21_constants import SUPPORT

Gadget = Literal["maxmargin", "resolve"]

_DUAL, _PRIMAL = 1, 4  # HiGHS's numbers of the simplex methods


class Profile(NamedTuple):
    """Both players' strategies in a trunk, as probabilities of their sequences."""

    x: Floats  # [▲'s sequences] 1 at the root
    y: Floats  # [▼'s sequences] at the roots how often ▼ enters each J
    value: float  # of the gadget's objective, less the price
    margin: float  # the least margin, or in Resolve the mean of the negative ones
    gadget: Gadget


class Size(NamedTuple):
    """The size of a linear program."""

    rows: int
    columns: int
    entries: int


class LateError(RuntimeError):
    """HiGHS did not finish in time."""


class SolverError(RuntimeError):
    """HiGHS found no optimum; the text says how it ended."""


class GadgetProgram:
    """The linear programs of a trunk as it stands.

    price: float64[k], what each of ▲'s actions at the roots costs (K, D.3). Empty: nothing.
    guess: float64[≤ ▲'s sequences], a strategy of ▲'s that may be near the solution, such as that
    of the last round. Without it the program starts from the uniform strategy.
    """

    def __init__(self, trunk: Trunk, price: Floats, guess: Floats | None = None) -> None:
        self._trunk = trunk
        self._reduction = reduce_trunk(trunk)
        self._layout = layout = _Layout(trunk, self._reduction)
        self._rows = _rows_of(layout, self._reduction.entries, trunk.alternate)
        self._has = np.zeros(self._rows.answers, dtype=np.bool_)
        self._order = np.zeros(0, dtype=np.int64)  # ▼'s rows in the order in which HiGHS has them
        self._highs = _new_solver()
        self._highs.passModel(_columns_of(layout, price))
        self._add(np.arange(self._rows.answers, layout.rows))
        start = np.zeros(layout.columns)
        own = layout.column >= 0
        start[layout.column[own]] = _started(trunk.tables[MAX], guess)[own]
        self._add(np.union1d(np.arange(trunk.groups), self._best_answer(start)))
        self.size = Size(layout.rows, layout.columns, len(self._rows.value))

    def solve(self, gadget: Gadget, deadline: float | None = None) -> Profile:
        """Solve one of the gadgets; a second call starts from the first one's basis.

        deadline: a second of `time.monotonic`. Raises LateError past it, and SolverError if HiGHS
        finds no optimum.
        """
        layout = self._layout
        self._set_gadget(gadget)
        while True:
            self._run_surely(deadline)
            solution = self._highs.getSolution()
            columns = np.array(solution.col_value)
            broken = self._rows.broken(columns) & ~self._has
            if not broken.any():
                break
            missing = np.union1d(np.flatnonzero(broken), self._best_answer(columns))
            self._add(missing[~self._has[missing]])
        duals = np.zeros(layout.rows_y)
        duals[self._order] = -np.array(solution.row_dual)[len(layout.open[MAX]) :]
        scale = 1 if gadget == "maxmargin" else self._trunk.groups
        x, y = layout.profile(columns, duals, self._reduction, scale)
        if gadget == "maxmargin":
            margin = float(columns[layout.least_margin])
        else:
            margin = float(columns[layout.margins :].mean())
        objective = self._highs.getInfo().objective_function_value
        return Profile(x, y, -objective, margin, gadget)

    def _set_gadget(self, gadget: Gadget) -> None:
        """Set the bounds and costs of the columns in which the gadgets differ."""
        import highspy  # noqa: PLC0415 - an optional package

        layout, highs, groups = self._layout, self._highs, self._trunk.groups
        infinity = highspy.kHighsInf
        if gadget == "maxmargin":
            highs.changeColBounds(layout.least_margin, -infinity, infinity)
            lower, cost = 0.0, 0.0
        else:
            highs.changeColBounds(layout.least_margin, 0.0, 0.0)
            lower, cost = -infinity, -1.0 / groups
        margins = np.arange(layout.margins, layout.margins + groups, dtype=np.int32)
        highs.changeColsBounds(groups, margins, np.full(groups, lower), np.zeros(groups))
        highs.changeColsCost(groups, margins, np.full(groups, cost))

    def _best_answer(self, columns: Floats) -> Integers:
        """Return the rows of ▼'s best answer to the x among values of the columns, ascending."""
        own = columns.copy()
        own[self._layout.value :] = 0.0
        payoffs = -self._rows.times(own)[: self._rows.answers]
        return self._layout.answers.best(payoffs)

    def _add(self, rows: Integers) -> None:
        """Give HiGHS some rows, int64[k], that it does not have."""
        start, column, value = self._rows.part(rows)
        lower, upper = self._rows.lower[rows], self._rows.upper[rows]
        self._highs.addRows(
            len(rows), lower, upper, len(value), start.astype(np.int32), column, value
        )
        answers = rows[rows < self._rows.answers]
        self._has[answers] = True
        self._order = np.concatenate((self._order, answers))

    def _run_surely(self, deadline: float | None) -> None:
        """Run HiGHS, and once more by its other simplex method if it is lost."""
        import highspy  # noqa: PLC0415

        highs = self._highs
        if self._run(deadline) != highspy.HighsModelStatus.kOptimal:
            highs.clearSolver()
            highs.setOptionValue("simplex_strategy", _PRIMAL)
            status = self._run(deadline)
            highs.setOptionValue("simplex_strategy", _DUAL)
            if status != highspy.HighsModelStatus.kOptimal:
                raise SolverError(f"HiGHS ended with {highs.modelStatusToString(status)}")

    def _run(self, deadline: float | None) -> Any:
        """Run HiGHS until a second of `time.monotonic`; return its status. Raises LateError."""
        import highspy  # noqa: PLC0415

        highs = self._highs
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise LateError
            highs.setOptionValue("time_limit", highs.getRunTime() + left)
        highs.run()
        status = highs.getModelStatus()
        late = deadline is not None and time.monotonic() >= deadline
        if status == highspy.HighsModelStatus.kTimeLimit or (
            late and status != highspy.HighsModelStatus.kOptimal
        ):
            raise LateError
        return status


def _started(table: SequenceTable, guess: Floats | None) -> Floats:
    """Return a strategy of ▲'s to start from, float64[size]; see `GadgetProgram`."""
    plan = np.zeros(table.size)
    if guess is not None:
        plan[: len(guess)] = guess
        return plan
    plan[0] = 1.0
    first, degree, parent, depth = table.first, table.degree, table.parent, table.depth
    for level in np.unique(depth).tolist():
        here = np.flatnonzero(depth == level)
        width = degree[here]
        before = np.cumsum(width) - width
        slots = np.repeat(first[here] - before, width) + np.arange(int(width.sum()))
        plan[slots] = np.repeat(plan[parent[here]] / width, width)
    return plan


class _Layout:
    """Which column and row of the program belongs to what."""

    def __init__(self, trunk: Trunk, reduction: Reduction) -> None:
        self.trunk = trunk
        mine, theirs = trunk.tables
        open_mine = np.flatnonzero(reduction.choice[MAX] == OPEN)
        open_theirs = np.flatnonzero(reduction.choice[MIN] == OPEN)
        self.open = (open_mine, open_theirs)
        self.column = _numbering(mine, open_mine)
        self.row = _numbering(theirs, open_theirs)
        self.columns_x = int(self.column.max()) + 1
        self.rows_y = int(self.row.max()) + 1
        self.value = self.columns_x
        self.least_margin = self.columns_x + len(open_theirs)
        self.margins = self.least_margin + 1
        self.columns = self.margins + trunk.groups
        self.rows = self.rows_y + len(open_mine)
        self.answers = Answers(
            self.row[theirs.first[open_theirs]],
            theirs.degree[open_theirs],
            self.row[theirs.parent[open_theirs]],
            theirs.depth[open_theirs],
        )

    def profile(
        self, columns: Floats, duals: Floats, reduction: Reduction, scale: int
    ) -> tuple[Floats, Floats]:
        """Return x and y of all sequences from the values of columns and the duals of rows."""
        mine, theirs = self.trunk.tables
        x = np.where(self.column >= 0, columns[self.column], 0.0)
        x[0] = 1.0
        y = np.where(self.row >= 0, duals[self.row], 0.0)
        roots = y[: theirs.roots]
        roots[roots * scale < SUPPORT] = 0.0
        _make_consistent(x, mine, reduction.choice[MAX])
        _make_consistent(y, theirs, reduction.choice[MIN])
        return x, y


def _numbering(table: SequenceTable, open_infosets: Integers) -> Integers:
    """Number the sequences of the roots and of the open infosets; -1 for the others."""
    is_open = np.zeros(len(table) + 1, dtype=np.bool_)
    is_open[open_infosets] = True
    is_open[-1] = True  # the roots have the infoset -1
    numbered = is_open[table.infoset_of()]
    return np.where(numbered, np.cumsum(numbered) - 1, -1)


def _make_consistent(plan: Floats, table: SequenceTable, choice: Integers) -> None:
    """Play the choices at folded infosets, and remove the solver's rounding errors elsewhere."""
    first, degree, parent, depths = table.first, table.degree, table.parent, table.depth
    for depth in np.unique(depths):
        here = depths == depth
        folded = np.flatnonzero(here & (choice != OPEN))
        plan[choice[folded]] = plan[parent[folded]]
        infosets = np.flatnonzero(here & (choice == OPEN))
        if not len(infosets):
            continue
        width = degree[infosets]
        before = np.cumsum(width) - width
        slots = np.repeat(first[infosets] - before, width) + np.arange(int(width.sum()))
        share = plan[slots]
        reach = np.repeat(plan[parent[infosets]], width)
        share = np.where(share < SUPPORT * reach, 0.0, share)
        total = np.add.reduceat(share, before)
        lost = (total <= 0.0) & (plan[parent[infosets]] > 0.0)
        share[before[lost]] = 1.0
        total[lost] = 1.0
        plan[slots] = reach * share / np.repeat(np.where(total > 0.0, total, 1.0), width)


def _rows_of(layout: _Layout, entries: Entries, alternate: Floats) -> ProgramRows:
    """Build all rows of the program."""
    mine, theirs = layout.trunk.tables
    open_mine, open_theirs = layout.open
    groups = len(alternate)
    rows: list[Integers] = []
    columns: list[Integers] = []
    values: list[Floats] = []

    def add(row: Integers, column: Integers, value: Floats | float) -> None:
        rows.append(row)
        columns.append(column)
        values.append(np.broadcast_to(np.asarray(value, dtype=np.float64), row.shape))

    # ▼'s rows: the value of the infoset, less those that follow, is at most what the leaves yield.
    add(layout.row[entries.sequence[MIN]], layout.column[entries.sequence[MAX]], -entries.value)
    number = np.arange(len(open_theirs))
    degree = theirs.degree[open_theirs]
    add(
        np.arange(groups, layout.rows_y),
        layout.value + np.repeat(number, degree),
        1.0,
    )
    add(layout.row[theirs.parent[open_theirs]], layout.value + number, -1.0)
    of_groups = np.arange(groups)
    add(of_groups, np.full(groups, layout.least_margin), 1.0)
    add(of_groups, layout.margins + of_groups, 1.0)
    # ▲'s rows: the sequences of an infoset sum to the one before it.
    number = np.arange(len(open_mine))
    degree = mine.degree[open_mine]
    add(
        layout.rows_y + np.repeat(number, degree),
        np.arange(1, layout.columns_x),
        1.0,
    )
    add(layout.rows_y + number, layout.column[mine.parent[open_mine]], -1.0)

    lower, upper = np.full(layout.rows, -np.inf), np.zeros(layout.rows)
    lower[layout.rows_y :] = 0.0
    upper[:groups] = -alternate
    return sorted_rows(
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(values),
        lower,
        upper,
        layout.rows_y,
    )


def _columns_of(layout: _Layout, price: Floats) -> Any:
    """Build HiGHS's model without rows: minimise the price less the least margin."""
    import highspy  # noqa: PLC0415

    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = 0, layout.columns
    cost = np.zeros(layout.columns)
    cost[layout.least_margin] = -1.0
    cost[1 : 1 + len(price)] = price
    lower = np.full(layout.columns, -highspy.kHighsInf)
    upper = np.full(layout.columns, highspy.kHighsInf)
    lower[: layout.columns_x] = 0.0
    lower[0] = upper[0] = 1.0
    lower[layout.margins :] = upper[layout.margins :] = 0.0
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.zeros(layout.columns + 1, dtype=np.int32)
    return lp


def _new_solver() -> Any:
    """Return a silent HiGHS of one thread, which solves by the dual simplex method.

    Without presolve it is quicker here, and a second gadget starts from the first one's basis.
    """
    import highspy  # noqa: PLC0415

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("solver", "simplex")
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("parallel", "off")
    return highs


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


OPEN = -1
"""The choice at an infoset that was not folded."""


class Entries(NamedTuple):
    """A sparse matrix of values by ▲'s and ▼'s sequences."""

    sequence: tuple[Integers, Integers]  # [E] ▲'s, [E] ▼'s
    value: Floats  # [E] ▲'s view, times the reach by chance


class Reduction(NamedTuple):
    """What is left of a trunk after folding."""

    entries: Entries  # no two of one pair of sequences
    choice: tuple[Integers, Integers]  # [I] each player's best sequence at an infoset, or OPEN


def entries_of(trunk: Trunk) -> Entries:
    """Return the leaves' values as entries; several may share a pair of sequences."""
    nodes = trunk.nodes
    leaves = leaves_of(nodes)
    value = nodes.weight[leaves] * nodes.value[leaves]
    leaves, value = leaves[value != 0.0], value[value != 0.0]
    sequence = nodes.sequence[leaves]
    return Entries((sequence[:, MAX].copy(), sequence[:, MIN].copy()), value)


def reduce_trunk(trunk: Trunk) -> Reduction:
    """Fold all infosets of a trunk that can be folded, but not ▲'s infoset at the roots."""
    entries = summed(entries_of(trunk), trunk.tables[MIN].size)
    choice = tuple(np.full(len(table), OPEN, dtype=np.int64) for table in trunk.tables)
    shapes = tuple(_Shape(table) for table in trunk.tables)
    deepest = max((int(shape.depth.max()) for shape in shapes if len(shape.depth)), default=-1)
    for depth in range(deepest, -1, -1):
        for player in (MAX, MIN):
            if not (player == MAX and depth == 0):
                entries = _fold(entries, shapes[player], player, depth, choice[player])
    return Reduction(summed(entries, trunk.tables[MIN].size), (choice[MAX], choice[MIN]))


def summed(entries: Entries, rows: int) -> Entries:
    """Return the entries with those of one pair of sequences added up. rows: ▼'s sequences."""
    label = entries.sequence[MAX] * rows + entries.sequence[MIN]
    pairs, where = np.unique(label, return_inverse=True)
    value = np.bincount(where, entries.value, minlength=len(pairs)).astype(np.float64)
    return Entries((pairs // rows, pairs % rows), value)


class _Shape:
    """A sequence table as arrays, with what has been folded so far."""

    def __init__(self, table: SequenceTable) -> None:
        self.first, self.degree = table.first, table.degree
        self.parent, self.depth = table.parent, table.depth
        self.infoset_of = table.infoset_of()
        self.size = table.size
        depth_of = np.append(self.depth, -1)  # of the infoset -1 too, which holds the roots
        self.depth_of_sequence = depth_of[self.infoset_of]
        self.has_open = np.zeros(len(self.first), dtype=np.bool_)  # an open infoset follows


def _fold(entries: Entries, shape: _Shape, player: int, depth: int, choice: Integers) -> Entries:
    """Fold the player's infosets of one depth; write their best sequences into `choice`."""
    here = np.flatnonzero(shape.depth == depth)
    if not len(here):
        return entries
    own, other = entries.sequence[player], entries.sequence[1 - player]
    at = np.flatnonzero(shape.depth_of_sequence[own] == depth)
    infoset = shape.infoset_of[own[at]]
    low = np.full(len(shape.first), np.iinfo(np.int64).max)
    high = np.full(len(shape.first), -1)
    np.minimum.at(low, infoset, other[at])
    np.maximum.at(high, infoset, other[at])
    folds = np.zeros(len(shape.first), dtype=np.bool_)
    folds[here] = (low[here] >= high[here]) & ~shape.has_open[here]
    stay = here[~folds[here]]
    before = shape.infoset_of[shape.parent[stay]]
    shape.has_open[before[before >= 0]] = True
    folded = here[folds[here]]
    if not len(folded):
        return entries
    gone = at[folds[infoset]]
    totals = np.bincount(own[gone], entries.value[gone], minlength=shape.size)
    sign = 1.0 if player == MAX else -1.0
    column = np.arange(int(shape.degree[folded].max()))
    slots = shape.first[folded][:, np.newaxis] + column
    within = column < shape.degree[folded][:, np.newaxis]
    table = np.where(within, sign * totals[np.where(within, slots, 0)], -np.inf)
    best = np.argmax(table, axis=1)
    choice[folded] = shape.first[folded] + best
    used = high[folded] >= 0  # the others have no entry but 0
    kept = np.ones(len(own), dtype=np.bool_)
    kept[gone] = False
    new_own, new_other = shape.parent[folded[used]], high[folded[used]]
    value = totals[choice[folded[used]]]
    own = np.concatenate((own[kept], new_own))
    other = np.concatenate((other[kept], new_other))
    sequence = (own, other) if player == MAX else (other, own)
    return Entries(sequence, np.concatenate((entries.value[kept], value)))
