"""Where the true position was in engines' searches: the table of many games."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import fmean, median
from typing import Any

import chess

from obscuro.engine.report import Coverage, RootReport
from obscuro.matches.game_record import GameRecord, Turn

LARGEST_SIZES = (16, 256, 2_048, 16_384)
"""The table's rows end at these sizes of P; one more row is for larger ones."""
UNKNOWN_SIZE = "not said"


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """The turns of one player with a size of P between two bounds.

    size: the bounds as text. turns: those whose coverage the engine told. in_belief: the share of
    them with the true position in P. searched: how many of them were searched; the other moves were
    forced. in_infoset, expanded, weight: shares and the mean over the searched ones; None if there
    are none. log_weight: the mean logarithm of the weights that are not 0. rank: the median of
    `Coverage.rank`. Then the means of `RootReport`; None if the engine did not tell them.
    """

    size: str
    turns: int
    in_belief: float
    searched: int
    in_infoset: float | None
    expanded: float | None
    weight: float | None
    log_weight: float | None = None
    rank: float | None = None
    p_max: float | None = None
    entered: float | None = None
    fresh: float | None = None
    mean: float | None = None
    gap: float | None = None
    star: float | None = None
    slack: float | None = None


_OF_ROOTS = [field.name for field in fields(CoverageRow) if field.default is None]
"""The columns of the second table, which need an engine that tells of its roots."""


def size_names() -> list[str]:
    """Return the names of all rows by size, `UNKNOWN_SIZE` last."""
    firsts = [1, *(size + 1 for size in LARGEST_SIZES)]
    return [
        *(f"{first:,}-{last:,}" for first, last in zip(firsts, LARGEST_SIZES, strict=False)),
        f"{firsts[-1]:,} or more",
        UNKNOWN_SIZE,
    ]


def size_name(belief: int | None) -> str:
    """Return the name of the row for a size of P; None: it is not known."""
    if belief is None:
        return UNKNOWN_SIZE
    return size_names()[sum(belief > size for size in LARGEST_SIZES)]


def coverage_tables(records: Iterable[GameRecord]) -> dict[str, list[CoverageRow]]:
    """Return each player's rows, by its name; rows and players without turns are left out.

    A player's last row, `all`, counts every turn.
    """
    turns: dict[str, list[tuple[int | None, Coverage]]] = {}
    for record in records:
        for color, name in ((chess.WHITE, record.white), (chess.BLACK, record.black)):
            turns.setdefault(name, []).extend(_told(record.turns(color)))
    return {name: coverage_rows(each) for name, each in turns.items() if each}


def _told(turns: Iterable[Turn]) -> Iterator[tuple[int | None, Coverage]]:
    for turn in turns:
        if turn.coverage is not None:
            yield (turn.report.belief if turn.report is not None else None), turn.coverage


def coverage_rows(told: Iterable[tuple[int | None, Coverage]]) -> list[CoverageRow]:
    """Return the rows of turns of one player, each told by its |P|, None if unknown; `all` is last."""
    by_size: dict[str, list[Coverage]] = {name: [] for name in size_names()}
    for belief, coverage in told:
        by_size[size_name(belief)].append(coverage)
    rows = [_row(size, each) for size, each in by_size.items() if each]
    return [*rows, _row("all", [coverage for each in by_size.values() for coverage in each])]


def coverage_lines(records: Iterable[GameRecord]) -> list[str]:
    """Describe the coverage of all players that told it, as tables of text."""
    lines: list[str] = []
    for name, rows in coverage_tables(records).items():
        lines.append(f"{name}: where the true position was, by the size of P")
        lines += [
            f"{'|P|':>14} {'turns':>6} {'in P':>6} {'searched':>8} {'in I':>6} "
            f"{'expanded':>8} {'weight':>8}"
        ]
        lines += [
            f"{row.size:>14} {row.turns:>6} {row.in_belief:>6.3f} {row.searched:>8} "
            f"{_share(row.in_infoset):>6} {_share(row.expanded):>8} {_share(row.weight, 5):>8}"
            for row in rows
        ]
        if any(row.p_max is not None for row in rows):
            lines.append(f"{name}: the root of its searches, means (the rank: median)")
            names = _OF_ROOTS
            lines.append(" ".join([f"{'|P|':>14}", *(f"{name:>10}" for name in names)]))
            lines += [
                " ".join([f"{row.size:>14}", *(f"{_share(getattr(row, n), 4):>10}" for n in names)])
                for row in rows
            ]
    return lines


def coverage_json(records: Iterable[GameRecord]) -> dict[str, list[dict[str, Any]]]:
    """Return the tables for a JSON file; what no engine told of its root is left out."""
    tables = coverage_tables(records)
    return {name: [_known(asdict(row)) for row in rows] for name, rows in tables.items()}


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {k: value for k, value in row.items() if value is not None or k not in _OF_ROOTS}


def _row(size: str, told: Sequence[Coverage]) -> CoverageRow:
    searched = [coverage for coverage in told if coverage.in_infoset is not None]
    roots = [coverage.root for coverage in searched if coverage.root is not None]
    return CoverageRow(
        size,
        len(told),
        sum(coverage.in_belief for coverage in told) / len(told),
        len(searched),
        _mean([coverage.in_infoset for coverage in searched]),
        _mean([coverage.expanded for coverage in searched]),
        _mean([coverage.weight for coverage in searched]),
        _mean([math.log(each.weight) for each in searched if each.weight]),
        _mean([coverage.rank for coverage in searched], median),
        **{
            field.name: _mean([getattr(root, field.name) for root in roots])
            for field in fields(RootReport)
        },
    )


def _mean(
    values: Sequence[float | None], of: Callable[[Sequence[float]], float] = fmean
) -> float | None:
    """The mean, or what `of` says, of the values that are known; None if there are none."""
    known = [value for value in values if value is not None]
    return of(known) if known else None


def _share(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
