"""Reading an engine's answer to `compare`: what the engine writes, and what nobody should write."""

from __future__ import annotations

import pytest

from obscuro.client.move_report import read_comparison
from obscuro.engine.report import ComparedMove, Comparison, Reason
from obscuro.uci.printing import comparison_lines

SAID = Comparison(
    (ComparedMove("e2e4", -0.25, 0.125, 0), ComparedMove("e7e8q", 1.0, 0.5, 12)),
    (
        Reason("4k3/8/8/8/8/8/8/4K3 w - -", 0.75, (-1.0, 0.5)),
        Reason("3k4/8/8/8/8/8/8/4K3 w KQ e3", 0.0125, (0.25, 0.5)),
    ),
)
LINES = comparison_lines(SAID)


def test_what_the_engine_prints_is_read_back() -> None:
    assert read_comparison(LINES) == SAID
    assert read_comparison(["info string warning", *LINES[:2], "readyok"]) == Comparison(
        SAID.moves, ()
    )


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["info string error compare: the last move needed no search"],
        LINES[:1],
        [*LINES, LINES[0]],
        ["info string compare", LINES[1]],
        [LINES[0].replace("-0.25", "nan"), LINES[1]],
        [LINES[0].replace("-0.25", "-7"), LINES[1]],
        [LINES[0].replace("nodes 0", "nodes x"), LINES[1]],
        [LINES[0].replace("policy", "likes"), LINES[1]],
    ],
)
def test_what_is_no_answer_is_none(lines: list[str]) -> None:
    assert read_comparison(lines) is None


@pytest.mark.parametrize(
    "line",
    [
        "info string because fen",
        "info string because fen 8/8 w - - share",
        LINES[2].replace("0.75", "x"),
        LINES[2].replace("e2e4", "d2d4"),
    ],
)
def test_a_reason_that_cannot_be_read_is_left_out(line: str) -> None:
    assert read_comparison([*LINES[:2], line, LINES[3]]) == Comparison(SAID.moves, SAID.reasons[1:])
