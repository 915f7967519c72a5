"""The table of where the true position was, of many games."""

from __future__ import annotations

import math

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage, RootReport
from obscuro.matches.coverage_table import coverage_json, coverage_lines, coverage_tables
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.rules.board import FogOfWarBoard


def turn(belief: int | None, *told: bool | float | None) -> Turn:
    coverage = Coverage(*told) if told else None  # type: ignore[arg-type]
    return Turn("e2e4", 0.1, Report(belief=belief), coverage=coverage)


def game(white: list[Turn], black: list[Turn]) -> GameRecord:
    plies = [
        PlayedPly(color, each, "e4")
        for color, turns in ((chess.WHITE, white), (chess.BLACK, black))
        for each in turns
    ]
    return GameRecord("one", "two", FogOfWarBoard(), None, "stopped", plies=plies)


RECORDS = [
    game(
        [
            turn(1, True, True, True, 1.0),
            turn(16, True, True, False, 0.5),
            turn(16, True),
            turn(17, True, False, False, 0.0),
            turn(16_385, False, False, False, 0.0),
            turn(5),
        ],
        [turn(2_048), Turn("e7e5")],
    ),
    game([turn(256, True, True, True, 0.25)], [turn(None, True, True, True, 0.125)]),
]


def test_turns_are_counted_by_the_size_of_the_belief() -> None:
    tables = coverage_tables(RECORDS)
    rows = {
        row.size: (row.turns, row.in_belief, row.searched, row.in_infoset, row.expanded, row.weight)
        for row in tables["one"]
    }
    assert rows == {
        "1-16": (3, 1.0, 2, 1.0, 0.5, 0.75),
        "17-256": (2, 1.0, 2, 0.5, 0.5, 0.125),
        "16,385 or more": (1, 0.0, 1, 0.0, 0.0, 0.0),
        "all": (6, 5 / 6, 5, 0.6, 0.4, 0.35),
    }
    assert [row.size for row in tables["two"]] == ["not said", "all"]


@pytest.mark.parametrize(
    ("belief", "size"),
    [
        (1, "1-16"),
        (16, "1-16"),
        (17, "17-256"),
        (257, "257-2,048"),
        (2_049, "2,049-16,384"),
        (16_384, "2,049-16,384"),
        (16_385, "16,385 or more"),
    ],
)
def test_the_bounds_of_the_rows(belief: int, size: str) -> None:
    (table,) = coverage_tables([game([turn(belief, True)], [])]).values()
    assert table[0].size == size


def test_forced_moves_alone_have_no_share_of_a_root() -> None:
    lines = coverage_lines([game([turn(3, True)], [])])
    assert lines[2].split() == ["1-16", "1", "1.000", "0", "-", "-", "-"]


def test_the_table_as_text() -> None:
    lines = coverage_lines(RECORDS)
    assert lines[0] == "one: where the true position was, by the size of P"
    assert lines[1].split() == [
        "|P|",
        "turns",
        "in",
        "P",
        "searched",
        "in",
        "I",
        "expanded",
        "weight",
    ]
    assert lines[2].split() == ["1-16", "3", "1.000", "2", "1.000", "0.500", "0.75000"]
    assert len({len(line) for line in lines[1:6]}) == 1


def test_the_table_for_other_programs() -> None:
    row = coverage_json(RECORDS)["two"][0]
    assert row == {
        "size": "not said",
        "turns": 1,
        "in_belief": 1.0,
        "searched": 1,
        "in_infoset": 1.0,
        "expanded": 1.0,
        "weight": 0.125,
        "log_weight": pytest.approx(math.log(0.125)),
    }


def test_games_without_answers_have_no_table() -> None:
    assert coverage_lines([game([turn(5)], [Turn("e7e5")])]) == []


def test_the_roots_of_searches_are_a_second_table() -> None:
    roots = [RootReport(1.0, 0.5, 0.25, 0.1, 0.0), RootReport(0.5, 0.1, 0.75, 0.3, 0.02, 0.2, 0.4)]
    turns = [
        Turn("e2e4", coverage=Coverage(True, True, True, weight, rank, root))
        for weight, rank, root in zip((1.0, math.exp(-2)), (1.0, 4.0), roots, strict=True)
    ]
    (row, _) = coverage_tables([game(turns, [])])["one"]
    assert (row.log_weight, row.rank) == (pytest.approx(-1), 2.5)
    found = (row.p_max, row.entered, row.fresh, row.mean, row.gap, row.star, row.slack)
    assert found == pytest.approx((0.75, 0.3, 0.5, 0.2, 0.01, 0.2, 0.4))
    lines = coverage_lines([game(turns, [])])
    second = next(k for k, line in enumerate(lines) if "the root of its searches" in line)
    assert lines[second + 1].split()[1:3] == ["log_weight", "rank"]
    assert lines[second + 2].split()[-2:] == ["0.2000", "0.4000"]
