from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.belief.marginals import Marginals
from obscuro.client.move_report import MarginalsAnswer, read_marginals
from obscuro.engine.options import OPTIONS
from obscuro.engine.player_kind import OBSCURO
from obscuro.engine.report import Coverage, SearchInfo
from obscuro.evaluation.evaluator import CacheUse
from obscuro.rules.observation import PLANES
from obscuro.uci.positions import PositionReader
from obscuro.uci.printing import (
    COMMANDS,
    LONGEST_MESSAGE,
    belief_lines,
    bestmove_line,
    board_lines,
    coverage_line,
    help_lines,
    info_lines,
    marginal_lines,
    one_line,
    uci_lines,
    win_draw_loss,
)

INFO = SearchInfo(
    depth=10.7,
    seldepth=15,
    nodes=500,
    milliseconds=250,
    value=0.25,
    centipawns=153,
    line=["e2e4", "e7e5"],
    belief=17,
    exact=True,
    sampled=12,
    carried=300,
    infosets=40,
    iterations=90,
    expansions=22,
    evaluations=700,
    gadget="resolve",
    roots=15,
    root_infosets=19,
    policy=[("e2e4", 0.75), ("d2d4", 0.25)],
    play=[("e2e4", 1.0)],
)


def test_a_search_is_told_in_four_lines() -> None:
    assert info_lines(INFO, show_wdl=False) == [
        "info depth 11 seldepth 15 nodes 800 nps 2000 time 250 score cp 153 pv e2e4 e7e5",
        "info string belief 17 exact true sampled 12 carried 300 infosets 40 iterations 90 "
        "expansions 22 evals 700 gadget resolve roots 15 J 19",
        "info string policy e2e4 0.7500 d2d4 0.2500",
        "info string play e2e4 1.0000",
    ]


def test_the_use_of_the_cache_is_a_line() -> None:
    lines = info_lines(replace(INFO, cache=CacheUse(200, 31, 150, 96_000)), show_wdl=False)
    assert len(lines) == 5
    expected = "info string cache lookups 200 hits 31 rate 0.155 positions 150 capacity 96000"
    assert lines[2] == expected


def test_wdl_stands_in_the_score() -> None:
    assert " score cp 153 wdl 578 94 328 pv e2e4" in info_lines(INFO, show_wdl=True)[0]


def test_no_policy_yet_is_no_line() -> None:
    lines = info_lines(replace(INFO, line=[], policy=[], play=[], milliseconds=0), False)
    assert len(lines) == 2
    assert " pv" not in lines[0]


@given(st.floats(-1.5, 1.5))
def test_chances_sum_to_a_thousand_and_differ_by_the_value(value: float) -> None:
    win, draw, loss = win_draw_loss(value)
    assert win + draw + loss == 1000
    assert min(win, draw, loss) >= 0
    assert abs((win - loss) / 1000 - min(max(value, -1), 1)) <= 0.002
    assert (win, loss) == win_draw_loss(-value)[::-2] or abs(win - win_draw_loss(-value)[2]) <= 1


def test_bestmove() -> None:
    assert bestmove_line("e2e4") == "bestmove e2e4"
    assert bestmove_line("e2e4", "e7e5") == "bestmove e2e4 ponder e7e5"
    assert bestmove_line(None) == "bestmove (none)"


def test_uci_declares_every_option() -> None:
    lines = uci_lines()
    assert lines[0].startswith("id name Obscuro")
    assert lines[1].startswith("id author ")
    assert lines[-1] == "uciok"
    assert sum(line.startswith("option name ") for line in lines) == len(OPTIONS)


def test_uci_declares_the_capabilities_between_the_author_and_the_end() -> None:
    lines = uci_lines()
    (said,) = [line for line in lines if line.startswith("info ")]
    assert said.split() == ["info", "string", "capabilities", *OBSCURO.capabilities]
    assert 1 < lines.index(said) < len(lines) - 1


@pytest.mark.parametrize(
    ("coverage", "said"),
    [
        (
            Coverage(True, True, False, 0.003125),
            "belief true infoset true expanded false weight 0.003125",
        ),
        (Coverage(False, False, False, 0.0), "belief false infoset false expanded false weight 0"),
        (Coverage(True, True, True, 1.0), "belief true infoset true expanded true weight 1"),
        (Coverage(True), "belief true search none"),
    ],
)
def test_coverage_is_a_line(coverage: Coverage, said: str) -> None:
    assert coverage_line(coverage) == f"info string coverage {said}"


def test_marginals_have_a_line_for_each_piece_of_each_view() -> None:
    even = np.zeros((len(PLANES), 64))
    even[6, 4], even[0, 63] = 1, 1 / 3
    lines = marginal_lines(Marginals(even, even / 2))
    assert len(lines) == 2 * len(PLANES)
    assert lines[6].split()[3:] == ["even", "king", *("1" if n == 4 else "0" for n in range(64))]
    assert lines[0].endswith(" 0.3333") and lines[7].endswith(" 0.1667")
    assert read_marginals(lines) == MarginalsAnswer(
        *(
            {
                piece: tuple(round(share, 4) for share in row)
                for piece, row in zip(PLANES, view.tolist(), strict=True)
            }
            for view in (even, even / 2)
        )
    )
    assert read_marginals(lines[1:]) is None
    alone = read_marginals(marginal_lines(Marginals(even, None)))
    assert alone is not None and alone.weighted is None


def test_help_has_a_line_for_each_command() -> None:
    assert len(help_lines()) == len(COMMANDS)


def test_the_docs_name_every_command_and_option() -> None:
    text = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    for usage, _ in COMMANDS:
        assert f"`{usage.split()[0]}" in text
    for option in OPTIONS:
        assert f"`{option.name}`" in text
    for capability in OBSCURO.capabilities:
        assert f"`{capability}`" in text


def test_the_board_shows_the_fog() -> None:
    assert board_lines(PositionReader().read("startpos moves e2e4")) == [
        "8  r n b q k b n r",
        "7  p p p p p p p p",
        "6  . . . . . . . .",
        "5  . . . . . . . .",
        "4  * * * * * * * *",
        "3  * * * * * * * *",
        "2  * * * * * * * *",
        "1  * * * * * * * *",
        "   a b c d e f g h",
        "side black, to move",
        "fog fen rnbqkbnr/pppppppp/8/8/********/********/********/********",
    ]


def test_belief() -> None:
    assert belief_lines(3, False, {"a": None, "b": None}) == [
        "info string belief size 3 exact false",
        "info string belief fen a",
        "info string belief fen b",
    ]
    assert belief_lines(3, True, {"a": 2 / 3, "b": 1.5e-7})[1:] == [
        "info string belief fen a share 0.6667",
        "info string belief fen b share 1.5e-07",
    ]


@given(st.text())
def test_a_message_is_one_short_printable_line(text: str) -> None:
    line = one_line(text * 50)
    assert line.isprintable() or line == ""
    assert len(line) <= LONGEST_MESSAGE
    line.replace("?", "").encode()


@pytest.mark.parametrize("side", ["white", "black"])
def test_the_board_of_a_waiting_side_says_so(side: str) -> None:
    fen = chess.STARTING_FEN.replace(" w ", " b ") if side == "white" else chess.STARTING_FEN
    lines = board_lines(PositionReader().read(f"fog {side} fen {fen}"))
    assert f"side {side}, not to move" in lines
