"""Reading what an engine says about a search."""

from obscuro.client.move_report import Report

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
        "info score mate 3",
        "info score cp",
        "bestmove e2e4",
    ):
        assert Report().with_line(line) == Report(), line


def test_a_plain_engine_says_little() -> None:
    report = Report.of_lines(["info depth 12 score mate 3 nodes 7 pv e2e4"])
    assert (report.depth, report.nodes, report.belief, report.centipawns) == (12, 7, None, None)
