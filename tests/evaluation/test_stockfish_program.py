"""Versions 13 to 18: what a centipawn is worth, and answers in the form in which each gives them."""

from __future__ import annotations

from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from obscuro.evaluation.stockfish_program import (
    SCALES,
    UNITS_PER_PAPER_PAWN,
    parse_version,
    pawns_per_centipawn,
    scale_of,
)
from tests.evaluation.fakes import QUICK, fake_stockfish
from tests.evaluation.naive import by_move, words_of

START = chess.Board()
ENDGAME = chess.Board("8/8/8/8/8/8/P6k/K7 w - - 0 1")
START_MATERIAL = 78
MOVES = [move.uci() for move in START.legal_moves]
SCORES = [37 - 5 * k for k in range(len(MOVES))]  # of the list at the start
LONE_SCORES = {"a2a4": 531, "a2a3": 487, "a1b2": 12, "a1b1": -3}  # in the endgame

# In the form of each version. The greetings and comments are from transcripts that people have
# published; of 15.1 the list is its own. Scores are made up and the same everywhere.
OLD = (
    "info depth 1 seldepth 1 multipv {n} score cp {cp} nodes 21 nps 21000 tbhits 0 time 1 pv {move}"
)
NEW = (
    "info depth 1 seldepth 2 multipv {n} score cp {cp} nodes 21 nps 21000 hashfull 0 tbhits 0 time 1 "
    "pv {move}"
)
NETWORK = "info string NNUE evaluation using {} enabled"
LARGE = "info string NNUE evaluation using {}.nnue ({})"
CONTEMPT = (
    "option name Contempt type spin default 24 min -100 max 100\n"
    "option name Analysis Contempt type combo default Both var Off var White var Black var Both\n"
)
PROCESSORS = "info string Available processors: 0-1\ninfo string Using 1 thread\n"
VERSIONS = {
    "13": (CONTEMPT, 500, NETWORK.format("nn-62ef826d1a6d.nnue"), OLD),
    "14": ("", 500, NETWORK.format("nn-3475407dc199.nnue"), OLD),
    "14.1": ("", 500, NETWORK.format("nn-13406b1dcbe0.nnue"), OLD),
    "15": ("", 500, NETWORK.format("nn-6877cd24400e.nnue"), OLD),
    "15.1": ("", 500, NETWORK.format("nn-ad9b42354671.nnue"), NEW),
    "16": ("", 500, NETWORK.format("nn-5af11540bbfe.nnue"), NEW),
    "16.1": (
        "",
        256,
        "info string NNUE evaluation using nn-b1a57edbea57.nnue\n"
        "info string NNUE evaluation using nn-baff1ede1f90.nnue",
        NEW,
    ),
    "17": (
        "",
        256,
        PROCESSORS + LARGE.format("nn-1111cefa1111", "133MiB, (22528, 3072, 15, 32, 1)"),
        NEW,
    ),
    "17.1": (
        "",
        256,
        PROCESSORS + LARGE.format("nn-1c0000000000", "133MiB, (22528, 3072, 15, 32, 1)"),
        NEW,
    ),
    "18": (
        "",
        256,
        PROCESSORS + LARGE.format("nn-c288c895ea92", "108MiB, (83248, 1024, 15, 32, 1)"),
        NEW,
    ),
}

PLAYER = """
import sys
most, contempt = {most}, {contempt!r}
multipv = 1
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
say("Stockfish {version} by the Stockfish developers (see AUTHORS file)\\n")
board = ""
for line in sys.stdin:
    words = line.split()
    if line == "uci\\n":
        say({greeting!r})
    elif words[:3] == ["setoption", "name", "MultiPV"]:
        multipv = int(words[-1])
        assert 1 <= multipv <= most
    elif words[:3] == ["setoption", "name", "Contempt"]:
        assert contempt and words[-1] == "0"
        contempt = ""
    elif words[0] == "position":
        board = words[1] if words[1] == "startpos" else words[2]
    elif words[0] == "go":
        assert words[1:] == ["depth", "1"] and not contempt
        answer = {answers!r}["PPPPPPPP" in board or board == "startpos"]
        say({comment!r} + "\\n")
        lines, best = answer[:-1], answer[-1]
        for text in lines[:multipv]:
            say(text + "\\n")
        say(best + "\\n")
"""


def transcript(version: str) -> str:
    contempt, most, comment, line = VERSIONS[version]
    greeting = (
        f"id name Stockfish {version}\n"
        "id author the Stockfish developers (see AUTHORS file)\n\n"
        "option name Debug Log File type string default \n"
        f"{contempt}"
        "option name Threads type spin default 1 min 1 max 1024\n"
        "option name Hash type spin default 16 min 1 max 33554432\n"
        "option name Clear Hash type button\n"
        f"option name MultiPV type spin default 1 min 1 max {most}\n"
        "uciok\n"
    )
    lists = (list(LONE_SCORES.items()), list(zip(MOVES, SCORES, strict=True)))
    answers = [
        [line.format(n=n + 1, cp=cp, move=move) for n, (move, cp) in enumerate(scores)]
        + [f"bestmove {scores[0][0]}"]
        for scores in lists
    ]
    return PLAYER.format(
        most=most,
        contempt=contempt,
        version=version,
        greeting=greeting,
        comment=comment,
        answers=answers,
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_understood_and_tau_is_six_pawns_of_14(
    tmp_path: Path, version: str
) -> None:
    program = fake_stockfish(tmp_path, transcript(version))
    name = f"Stockfish {version}"
    with StockfishEvaluator(program, limits=QUICK._replace(silence=5.0)) as evaluator:
        found = evaluator.evaluate(words_of([START, ENDGAME]))
        assert evaluator.engine_name == name
    at_start, in_endgame = by_move(found, 0), by_move(found, 1)
    worth = pawns_per_centipawn(scale_of(name), START_MATERIAL)
    for move, cp in zip(MOVES, SCORES, strict=True):
        assert at_start[move][0] == pytest.approx(np.tanh(cp * worth / 6), abs=1e-6)
    worth = pawns_per_centipawn(scale_of(name), 1)
    for move, cp in LONE_SCORES.items():
        assert in_endgame[move][0] == pytest.approx(np.tanh(cp * worth / 6), abs=1e-6)


def test_every_version_from_13_on_has_a_transcript() -> None:
    known = {parse_version(f"Stockfish {version}") for version in VERSIONS}
    assert {scale.since for scale in SCALES} - {(0, 0)} <= known
    assert [scale.since for scale in SCALES] == sorted(
        (scale.since for scale in SCALES), reverse=True
    )


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("Stockfish 13", (13, 0)),
        ("Stockfish 14.1", (14, 1)),
        ("Stockfish 15.1", (15, 1)),
        ("Stockfish 16", (16, 0)),
        ("Stockfish 11 64 POPCNT", (11, 0)),
        ("Stockfish 17.1", (17, 1)),
        ("Stockfish 17.1 Lite WASM", (17, 1)),
        ("Stockfish dev-20240917-d6043970", None),
        ("Stockfish 181221", None),
        ("Stockfish 20220918", None),
        ("Fruit 2.1", None),
        ("", None),
    ],
)
def test_version_is_read_from_the_name(name: str, version: tuple[int, int] | None) -> None:
    assert parse_version(name) == version


@pytest.mark.parametrize("name", ["Stockfish 13", "Stockfish 14", "Stockfish 14.1", "Stockfish 15"])
def test_until_15_a_centipawn_is_the_hundredth_of_a_pawn(name: str) -> None:
    for material in (0, 40, 78):
        assert pawns_per_centipawn(scale_of(name), material) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("name", "units"),  # at the middle of the scale, as the pull requests that changed it say
    [
        ("Stockfish 15.1", 361),
        ("Stockfish 16", 328),
        ("Stockfish 16.1", 356),
        ("Stockfish 17", 372),
        ("Stockfish 17.1", 377),
        ("Stockfish 18", 385),
    ],
)
def test_six_pawns_as_each_version_reports_them(name: str, units: int) -> None:
    reported = 6 * UNITS_PER_PAPER_PAWN / units * 100  # of 1,248 units
    assert reported * pawns_per_centipawn(scale_of(name), 58) == pytest.approx(6.0, rel=0.002)


def test_from_17_on_a_centipawn_depends_on_the_material() -> None:
    scale = scale_of("Stockfish 17")
    few, middle, all_pieces = (pawns_per_centipawn(scale, m) for m in (17, 58, 78))
    assert few > middle and all_pieces != middle
    assert pawns_per_centipawn(scale, 3) == few
    assert pawns_per_centipawn(scale, 100) == all_pieces


def test_an_unknown_version_counts_as_the_newest() -> None:
    newest = scale_of("Stockfish 18")
    assert scale_of("Stockfish dev-20250101-abcdef12") == newest
    assert scale_of("Stockfish 99") == newest
