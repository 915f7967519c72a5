"""`obscuro analyse` as a process, with the real engine."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import chess
import pytest

from obscuro.cli.analyse_command import default_options, schema_text
from obscuro.cli.main import main
from obscuro.client.analysis_messages import analysis_schema
from obscuro.engine.options import Options
from obscuro.rules.board import FogOfWarBoard
from tests.docs.pages import ROOT
from tests.hanging import HANG_SECONDS
from tests.processes import all_end, children
from tests.queries.answers import COMMAND, QUICK, REQUESTS, answers_to, checked, of_type

GAME = ["e2e4", "d7d5", "e4d5", "g8f6", "b1c3", "f6d5", "d1h5", "b8c6", "h5f7"]


def query(identifier: str = "a", **fields: Any) -> dict[str, Any]:
    return {"id": identifier, "moves": GAME, "nodes": 300, **fields}


def started(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *QUICK, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        bufsize=0,
    )


def say(process: subprocess.Popen[bytes], *requests: dict[str, Any]) -> None:
    assert process.stdin is not None
    for request in requests:
        process.stdin.write(json.dumps(request).encode() + b"\n")


def next_answer(process: subprocess.Popen[bytes], kind: str) -> dict[str, Any]:
    assert process.stdout is not None
    while (answer := checked(process.stdout.readline()))["type"] != kind:
        pass
    return answer


def ended(process: subprocess.Popen[bytes]) -> int:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    return process.wait(HANG_SECONDS)


def test_a_game_is_analysed_from_both_sides_and_the_same_again() -> None:
    request = query(positions=3)
    REQUESTS.validate(request)
    again = {**request, "id": "again"}
    answers, code = answers_to([request, again], "--workers", "2")
    assert code == 0
    results = {
        identifier: {
            answer["ply"]: answer
            for answer in of_type(answers, "result")
            if answer["id"] == identifier
        }
        for identifier in ("a", "again")
    }
    board = FogOfWarBoard()
    for ply, move in enumerate([*GAME, None]):
        found = results["a"][ply]
        assert found["side"] == chess.COLOR_NAMES[board.turn]
        assert found["coverage"]["belief"] and found["belief"]["exact"]
        squares = found["marginals"]["even"]
        for square in chess.SquareSet(board.occupied_co[not board.turn]):
            piece = board.piece_type_at(square)
            assert piece is not None
            assert squares[chess.piece_name(piece)][square] > 0
            assert squares["any"][square] >= squares[chess.piece_name(piece)][square]
        assert sum(squares["king"]) == pytest.approx(1, abs=1e-3)
        search = found["search"]
        assert sum(each["probability"] for each in search["policy"]) == pytest.approx(1, abs=0.01)
        assert search["move"] in {each["move"] for each in search["play"]}
        assert len(found["belief"]["positions"]) == min(3, found["belief"]["size"])
        if move is None:
            assert found["played"] is None
            continue
        assert found["played"]["move"] == move and found["played"]["loss"] >= 0
        board.push_uci(move)
    assert results["a"][8]["played"]["loss"] > 0.2, "the queen takes a pawn and is lost"
    for ply, found in results["a"].items():
        other = results["again"][ply]
        found["search"]["milliseconds"] = other["search"]["milliseconds"] = 0
        assert {**other, "id": "a"} == found
    ends = {answer["id"]: answer["results"] for answer in of_type(answers, "done")}
    assert ends == {"a": 10, "again": 10}


def test_a_side_is_analysed_by_what_it_saw_alone() -> None:
    board = FogOfWarBoard()
    turns = []
    for ply, move in enumerate(GAME[:6]):
        board.push_uci(move)
        turns += [move] * (ply % 2 == 0) + [board.fog_fen(chess.WHITE)]
    alone = {"id": "alone", "side": "white", "turns": turns, "nodes": 300}
    REQUESTS.validate(alone)
    whole = query("whole", side="white", plies=[0, 2, 4, 6])
    answers, code = answers_to([alone, whole], "--workers", "1")
    assert code == 0
    by_id: dict[str, list[dict[str, Any]]] = {"alone": [], "whole": []}
    for answer in of_type(answers, "result"):
        answer["search"]["milliseconds"] = 0
        by_id[answer["id"]].append(answer)
    assert len(by_id["alone"]) == 4
    for one, other in zip(by_id["alone"], by_id["whole"], strict=True):
        assert one.pop("coverage") is None and other.pop("coverage") is not None
        if one["ply"] == 6:
            assert one.pop("played") is None and other.pop("played") is not None
        assert {**one, "id": "whole"} == other


def test_partial_results_weights_and_a_forced_move() -> None:
    king_in_sight = {"id": "king", "moves": ["a1a2"], "start": "8/8/8/8/8/8/8/K1k4Q w - - 0 1"}
    requests = [
        query("weighted", side="black", plies=[3], report_every=0,
              options={"Search": "posterior_draw=0.5"}),
        {**king_in_sight, "nodes": 10, "plies": [0]},
    ]  # fmt: skip
    answers, code = answers_to(requests, "--workers", "1")
    assert code == 0
    partials = of_type(answers, "partial")
    assert partials and all(each["search"]["move"] is None for each in partials)
    weighted, king = of_type(answers, "result")
    shares = [each["share"] for each in weighted["belief"]["positions"]]
    assert weighted["belief"]["weighted"] == (len(shares) > 1)
    assert shares == sorted(shares, reverse=True)
    assert king["search"]["move"] == "h1c1"
    assert king["search"]["value"] > 0.99
    assert king["played"] == {
        "move": "a1a2", "value": None, "probability": 0.0, "other": None, "other_value": None,
        "loss": None, "because": [],
    }  # fmt: skip
    assert not of_type(answers, "warning")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_with_its_engines(number: int) -> None:
    process = started("--workers", "2")
    say(process, query(nodes=None, movetime=3_600_000, report_every=0))
    next_answer(process, "partial")
    engines = children(process.pid)
    assert engines
    process.send_signal(number)
    assert process.wait(HANG_SECONDS) == 128 + number
    assert all_end(engines)
    ended(process)


def test_it_ends_when_nobody_reads_the_answers() -> None:
    process = started("--workers", "1")
    say(process, query(nodes=None, movetime=3_600_000, report_every=0))
    next_answer(process, "partial")
    (engine,) = children(process.pid)
    assert ended(process) == 1
    assert all_end([engine])


def test_an_endless_line_is_one_error() -> None:
    process = started()
    assert process.stdin is not None
    for _ in range(5):
        process.stdin.write(b"x" * (1 << 20))
    process.stdin.write(b"\n")
    say(process, {"action": "query_version"})
    assert "longer than" in next_answer(process, "error")["error"]
    assert next_answer(process, "version")["schema"] == 1
    assert not children(process.pid), "no engine is started before it is needed"
    assert ended(process) == 0


def test_the_schema_is_printed_and_is_that_of_the_messages(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["analyse", "--schema"]) == 0
    printed = capsys.readouterr().out
    assert printed == schema_text()
    assert json.loads(printed) == analysis_schema(), "python -m tools.record.analysis_schema"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--workers", "0"], "less than 1"),
        (["--workers", "257"], "256 at most"),
        (["--option", "Threads=2"], "does not set this option"),
        (["--option", "Thread=2"], "did you mean Threads"),
        (["--option", "Threads"], "not NAME=VALUE"),
    ],
)
def test_a_wrong_command_line_is_one_line(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["analyse", *words])
    except SystemExit as leaving:
        code = leaving.code
    assert code == 2
    assert text in capsys.readouterr().err


def test_workers_share_the_memory_that_one_engine_would_take() -> None:
    one, many = default_options(1), default_options(64)
    assert int(one["Hash"]) >= int(many["Hash"]) >= 16
    assert int(one["Max Positions"]) >= int(many["Max Positions"]) >= 100_000
    options = Options()
    for name, value in many.items():
        options.set(name, value)
    assert options.integer("Threads") == 1
