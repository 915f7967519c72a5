"""Reading what an engine says about a search."""

import pytest

from obscuro.client.move_report import (
    BeliefAnswer,
    Report,
    read_belief,
    read_comparison,
    read_coverage,
)
from obscuro.engine.report import ComparedMove, Comparison, Coverage, Reason, RootReport
from obscuro.uci.printing import belief_lines, comparison_lines, coverage_line

LINES = [
    "info string hello",
    "info depth 3.2 seldepth 9 nodes 500 nps 10000 time 50 score cp -12 pv e2e4 depth 99",
    "info string belief 17 exact true sampled 17 carried 0 infosets 30 iterations 40"
    " expansions 50 evals 60 gadget maxmargin",
    "info depth 4.75 seldepth 11 nodes 1000 nps 10000 time 100 score cp 25 wdl 1 2 3 pv d2d4 d7d5",
    "info string belief 18 exact false sampled 17 carried 5 infosets 31 iterations 41"
    " expansions 51 evals 61 gadget resolve roots 71 J 81",
    "info string policy e2e4 0.6000 d2d4 0.4000",
    "info string play e2e4 1.0000",
    "bestmove e2e4",
]


def test_the_last_lines_count() -> None:
    assert Report.of_lines(LINES) == Report(
        depth=4.75,
        nodes=1000,
        milliseconds=100,
        centipawns=25,
        belief=18,
        exact=False,
        sampled=17,
        carried=5,
        infosets=31,
        iterations=41,
        expansions=51,
        evaluations=61,
        gadget="resolve",
        roots=71,
        root_infosets=81,
        policy=(("e2e4", 0.6), ("d2d4", 0.4)),
        play=(("e2e4", 1.0),),
    )


def test_moves_of_the_line_are_not_numbers() -> None:
    assert Report.of_lines(LINES[:2]).depth == 3.2


def test_what_cannot_be_read_is_left_out() -> None:
    for line in (
        "",
        "info",
        "info string",
        "info string belief",
        "info string belief size 3 exact true",
        "info string belief fen 8/8/8/8/8/8/8/K1k5 w - -",
        "info string policy e2e4",
        "info string policy e2e4 many",
        "info depth many nodes",
        "info score mate",
        "info score cp",
        "bestmove e2e4",
    ):
        assert Report().with_line(line) == Report(), line


def test_a_plain_engine_says_little() -> None:
    report = Report.of_lines(["info depth 12 score mate 3 nodes 7 pv e2e4"])
    assert (report.depth, report.nodes, report.belief, report.centipawns) == (12, 7, None, 10_000)


@pytest.mark.parametrize(
    "coverage",
    [
        Coverage(True, True, False, 0.25),
        Coverage(True, True, False, 0.25, 3.5, RootReport(0.75, 0.125, 0.5, 0.25, 0.0625)),
        Coverage(True, True, True, 0.25, 1.0, RootReport(1.0, 0.5, 1.0, 0.25, 0.0, -0.5, 0.375)),
        Coverage(False, False, False, 0.0),
        Coverage(True),
    ],
)
def test_what_the_engine_prints_is_read(coverage: Coverage) -> None:
    assert read_coverage([coverage_line(coverage)]) == coverage


@pytest.mark.parametrize(
    ("line", "coverage"),
    [
        ("info string coverage belief false", Coverage(False)),
        ("info string coverage belief true weight x", Coverage(True)),
        ("info string coverage belief true later 7 infoset true", Coverage(True, True)),
        ("info string coverage belief maybe", None),
        ("info string coverage", None),
        ("info string belief 7 exact true", None),
        ("", None),
    ],
)
def test_what_other_engines_print_is_read_as_far_as_it_can_be(
    line: str, coverage: Coverage | None
) -> None:
    assert read_coverage([line]) == coverage


SAID = Comparison(
    (ComparedMove("e2e4", -0.25, 0.125, 0), ComparedMove("e7e8q", 1.0, 0.5, 12)),
    (
        Reason("4k3/8/8/8/8/8/8/4K3 w - -", 0.75, (-1.0, 0.5)),
        Reason("3k4/8/8/8/8/8/8/4K3 w KQ e3", 0.0125, (0.25, 0.5)),
    ),
)
COMPARED = comparison_lines(SAID)


def test_a_comparison_is_read_back() -> None:
    assert read_comparison(COMPARED) == SAID
    assert read_comparison(["info string warning", *COMPARED[:2], "readyok"]) == Comparison(
        SAID.moves, ()
    )


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["info string error compare: the last move needed no search"],
        COMPARED[:1],
        [*COMPARED, COMPARED[0]],
        ["info string compare", COMPARED[1]],
        [COMPARED[0].replace("-0.25", "nan"), COMPARED[1]],
        [COMPARED[0].replace("-0.25", "-7"), COMPARED[1]],
        [COMPARED[0].replace("nodes 0", "nodes x"), COMPARED[1]],
        [COMPARED[0].replace("policy", "likes"), COMPARED[1]],
    ],
)
def test_what_is_no_comparison_is_none(lines: list[str]) -> None:
    assert read_comparison(lines) is None


@pytest.mark.parametrize(
    "line",
    [
        "info string because fen",
        "info string because fen 8/8 w - - share",
        COMPARED[2].replace("0.75", "x"),
        COMPARED[2].replace("e2e4", "d2d4"),
    ],
)
def test_a_reason_that_cannot_be_read_is_left_out(line: str) -> None:
    assert read_comparison([*COMPARED[:2], line, COMPARED[3]]) == Comparison(
        SAID.moves, SAID.reasons[1:]
    )


def test_a_belief_is_read_back() -> None:
    fens = ("4k3/8/8/8/8/8/8/4K3 w - -", "3k4/8/8/8/8/8/8/4K3 w - -")
    assert read_belief(belief_lines(7, False, dict.fromkeys(fens))) == BeliefAnswer(7, False, fens)
    shares = (0.75, 1e-9)
    answer = BeliefAnswer(7, True, fens, shares)
    assert read_belief(belief_lines(7, True, dict(zip(fens, shares, strict=True)))) == answer
    some = [
        f"info string belief fen {fens[0]} share 1",
        f"info string belief fen {fens[1]} share x",
    ]
    assert read_belief([*belief_lines(7, True, {}), *some]) == BeliefAnswer(7, True, fens)
    assert read_belief(["info string belief 7 exact true", "readyok"]) is None
