"""Dialogues with the real engine, in a process of its own."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

from obscuro.engine.options import Options
from obscuro.rules.board import FogOfWarBoard
from tests.hanging import HANG_SECONDS
from tests.sizes import quick_among
from tests.uci.dialogue import ROOT, Process
from tests.uci.games import look_alikes, random_moves, turns_of

ERROR = "info string error "
OPTIONS = ("Evaluator value material", "Hash value 16", "Threads value 1", "Seed value 1")
DEFAULT_POSITIONS = Options().integer("Max Positions")
SET_OPTIONS = [f"setoption name {option}" for option in OPTIONS]
COMMAND = [sys.executable, "-m", "obscuro.cli.main", "uci"]


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    """Return one engine for all tests that leave it alive."""
    with Process() as process:
        said = process.ask(*SET_OPTIONS)
        assert all(line.startswith("info string getting ready") for line in said)
        yield process
        code, rest, stderr = process.leave()
        assert (code, rest, stderr) == (0, [], "")


@pytest.fixture
def engine(shared: Process) -> Process:
    shared.say("stop", "ucinewgame")
    shared.ask()
    shared.heard.clear()
    return shared


@pytest.fixture
def own() -> Iterator[Process]:
    """Return an engine for one test, which may end it."""
    with Process() as process:
        process.ask(*SET_OPTIONS)
        yield process


def best(engine: Process, *lines: str) -> str:
    engine.say(*lines)
    return engine.until("bestmove")[-1].split()[1]


def told(lines: list[str], name: str) -> str:
    """Return the last of the info lines of this name."""
    return [line for line in lines if line.startswith(f"info string {name} ")][-1]


# -- starting ---------------------------------------------------------------------------------


def test_uci_is_answered_with_nothing_loaded() -> None:
    code = (
        "import sys; from obscuro.uci.uci import run; code = run(); "
        "sys.exit(code or len({'numba', 'numpy', 'llvmlite', 'psutil'} & sys.modules.keys()))"
    )
    lines = "uci\nhelp\nposition startpos moves e2e4\nsetoption name Hash value 64\nquit\n"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=lines,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "uciok" in done.stdout.splitlines()


def test_a_closed_input_is_the_end() -> None:
    code = "exec " + " ".join(COMMAND) + " <&-"
    done = subprocess.run(code, shell=True, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- playing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["position", "position fog white"])
def test_the_option_says_what_a_side_without_a_move_gets(engine: Process, form: str) -> None:
    """Only Kd1 saves White: Black then has no move. The option may change between two games."""
    position = f"{form} fen 8/8/8/8/8/p1p5/ppPpK3/kn6 w - -"
    scores = []
    for rule in ("draw", "loss"):
        engine.say("ucinewgame", f"setoption name Stalemate value {rule}", position)
        assert best(engine, "go nodes 300") == "e2d1"
        report = [line for line in engine.heard if line.startswith("info depth")][-1]
        scores.append(int(report.split(" cp ")[1].split()[0]))
    assert scores[0] == 0 and scores[1] > 1000


def test_a_rule_of_stalemate_that_there_is_not_is_an_error(engine: Process) -> None:
    said = engine.ask("setoption name Stalemate value win")
    assert said == [f"{ERROR}Stalemate must be one of loss, draw, not 'win'"]


def test_the_four_lines_of_a_search(engine: Process) -> None:
    engine.say("position startpos moves e2e4 b8c6", "go nodes 300")
    lines = engine.until("bestmove")
    share = r"( [a-h][1-8][a-h][1-8][nbrq]? [01]\.\d{4})+"
    for pattern, line in zip(
        [
            r"info depth \d+ seldepth \d+ nodes \d+ nps \d+ time \d+ score cp -?\d+ pv( \w{4,5})+",
            r"info string belief \d+ exact true sampled \d+ carried \d+ infosets \d+ "
            r"iterations \d+ expansions \d+ evals \d+ gadget (resolve|maxmargin) roots \d+ J \d+",
            "info string policy" + share,
            "info string play" + share,
            r"bestmove [a-h][1-8][a-h][1-8][nbrq]?",
        ],
        lines[-5:],
        strict=True,
    ):
        assert re.fullmatch(pattern, line)
    policy = told(lines, "policy").split()[3:]
    shares = [float(share) for share in policy[1::2]]
    assert shares == sorted(shares, reverse=True)
    assert abs(sum(shares) - 1) < 0.01


def test_the_truth_is_held_possible_through_a_game(engine: Process) -> None:
    moves = random_moves(4, 30)
    for plies in range(0, 31, 2):
        board = FogOfWarBoard()
        for move in moves[:plies]:
            board.push_uci(move)
        said = engine.ask("position startpos moves " + " ".join(moves[:plies]), "belief 100000")
        size, *fens = [line.removeprefix("info string belief ") for line in said]
        assert size == f"size {len(fens)} exact true"
        shares = [float(fen.partition(" share ")[2] or 1) for fen in fens]
        assert shares == sorted(shares, reverse=True)
        assert f"fen {board.epd(en_passant='legal')}" in {
            fen.partition(" share ")[0] for fen in fens
        }
        assert engine.ask("d")[-1] == f"belief {size}"


def test_what_is_hidden_changes_nothing(engine: Process) -> None:
    answers = []
    games = look_alikes(6)
    turns = " ".join(turns_of(chess.WHITE, games[0]))
    for position in (
        *("position startpos moves " + " ".join(moves) for moves in games),
        f"position fog white startpos turns {turns}",
    ):
        engine.ask("ucinewgame")
        said = engine.ask(position, "belief 100000")
        engine.say("go nodes 400")
        lines = engine.until("bestmove")
        answers.append((said, told(lines, "policy"), told(lines, "play"), lines[-1]))
    assert answers[0] == answers[1] == answers[2]


def test_the_work_done_is_kept_in_a_game_that_goes_on(engine: Process) -> None:
    best(engine, "position startpos", "go nodes 2000")
    line = engine.heard[-5].split(" pv ")[1].split()
    engine.say("position startpos moves " + " ".join(line[:2]), "go nodes 100")
    carried = re.search(r" carried (\d+) ", told(engine.until("bestmove"), "belief"))
    assert carried is not None
    assert int(carried[1]) > 0


def test_a_capped_belief_is_said_to_be_a_sample_and_is_played_with(engine: Process) -> None:
    moves = random_moves(6, 22)  # White comes to hold more than 100,000 positions possible
    engine.ask("setoption name Max Positions value 1000")
    for plies in range(12, 23, 2):
        board = FogOfWarBoard()
        for move in moves[:plies]:
            board.push_uci(move)
        engine.say("position startpos moves " + " ".join(moves[:plies]), "go nodes 200")
        *lines, last = engine.until("bestmove")
        size, exact = told(lines, "belief").split()[3:6:2]
        assert 0 < int(size) <= 1000 and exact == "false"
        assert chess.Move.from_uci(last.split()[1]) in board.legal_moves
    engine.ask(f"setoption name Max Positions value {DEFAULT_POSITIONS}")
    assert not any(line.startswith(ERROR) for line in engine.heard)


def test_an_observation_that_fits_nothing_is_one_warning_and_the_game_goes_on(
    engine: Process,
) -> None:
    """A black queen appears at h4 through its own pawns; Black plays on from there."""
    start = "fog white startpos turns"
    sent = turns_of(chess.WHITE, ["e2e4"])
    lie = FogOfWarBoard("rnb1kbnr/pppppppp/8/8/4P2q/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    sent.append(lie.fog_fen(chess.WHITE))
    for reply in ("b8c6", "g8f6", "a7a6"):
        engine.say(f"position {start} {' '.join(sent)}")
        for _ in range(2):  # a position may be searched again
            move = best(engine, "go nodes 50")
            assert chess.Move.from_uci(move) in lie.legal_moves
        sent.append(move)
        lie.push_uci(move)
        sent.append(lie.fog_fen(chess.WHITE))
        lie.push_uci(reply)
        sent.append(lie.fog_fen(chess.WHITE))
    warnings = [line for line in engine.heard if line.startswith("info string warning ")]
    assert len(warnings) == 1 and "no position" in warnings[0]
    assert not any(line.startswith(ERROR) for line in engine.heard)


BAD_INPUT = [
    "hello",
    "\0",
    "position",
    "position fen",
    "position fen nonsense",
    "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
    "position fen kkkkkkkk/kk6/8/8/8/8/8/4K3 w - - 0 1",
    "position startpos moves e2e5",
    "position startpos moves e2e4 e2e4",
    "position fog white startpos turns e7e5",
    "position fog white startpos turns e2e4",
    "go nodes x",
    "go movetime -1",
    "go movetime 99999999999999999999",
    "setoption name Nothing value 1",
    "setoption name Threads value -1",
    "setoption name Evaluator value guess",
    "belief x",
    "position startpos moves " + "e2e4 " * 2_000_000,
]


def test_bad_input_is_one_error_line_each_and_the_game_goes_on(engine: Process) -> None:
    engine.ask("position startpos moves e2e4")
    for line in BAD_INPUT:
        (said,) = engine.ask(line)
        assert said.startswith(ERROR), line[:50]
    for line in ("", "stop", "ponderhit", "\r"):
        assert engine.ask(line) == []
    assert best(engine, "go nodes 20")[1] in "78"


@pytest.mark.parametrize(
    ("fen", "move"),
    [
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "e1e8"),
        ("8/8/8/8/8/2k5/8/K1K5 w - - 0 1", None),
        ("k7/8/8/8/8/8/8/K7 w - - 100 80", "(none)"),
        ("k7/8/8/8/1p6/pPp5/PRP5/KB6 w - - 0 1", "(none)"),
        ("7k/8/8/8/8/8/p7/K7 w - - 0 1", "a1a2|a1b1|a1b2"),
    ],
)
def test_odd_positions(fen: str, move: str | None, engine: Process) -> None:
    if move is None:
        assert engine.ask(f"position fen {fen}")[0].startswith(ERROR)
        return
    assert best(engine, f"position fen {fen}", "go nodes 50") in move.split("|")


@pytest.mark.parametrize(
    ("position", "lost"),
    [
        ("fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1 moves e1e8", True),
        ("fen k7/8/8/8/8/8/8/K7 w - - 100 80", False),
        ("fen k7/8/8/8/1p6/pPp5/PRP5/KB6 w - - 0 1", False),
    ],
)
def test_a_captured_king_is_told_as_mate(position: str, lost: bool, engine: Process) -> None:
    engine.say(f"position {position}", "go nodes 50")
    said = engine.until("bestmove")
    assert said[-1] == "bestmove (none)"
    assert ("info depth 0 score mate 0" in said) == lost


def test_infinite_and_pondering(engine: Process) -> None:
    engine.say("position startpos", "go infinite")
    engine.until("info string play")
    assert engine.ask() == []
    best(engine, "stop")
    engine.say("go ponder wtime 100 btime 100")
    engine.until("info string play")
    best(engine, "ponderhit")
    assert sum(line.startswith("bestmove") for line in engine.heard) == 2


@pytest.mark.slow
def test_python_chess_plays_a_whole_game() -> None:
    rng = random.Random(1)
    board = FogOfWarBoard()
    options = {"Evaluator": "material", "Hash": 16, "Threads": 1, "Seed": 1, "UCI_ShowWDL": True}
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=HANG_SECONDS, cwd=ROOT) as engine:
        engine.configure(options)
        while not board.is_game_over():
            if board.turn == chess.BLACK:
                board.push(rng.choice(list(board.legal_moves)))
                continue
            # One move by the clock, the others by nodes, so that the game is always the same.
            limit = chess.engine.Limit(nodes=300)
            if len(board.move_stack) == 0:
                engine.play(board, chess.engine.Limit(time=0.02, white_clock=9.0, black_clock=9.0))
            played = engine.play(board, limit, info=chess.engine.INFO_ALL, game=1)
            assert played.move is not None  # python-chess has checked that it is legal
            assert isinstance(played.info["depth"], int)
            assert "wdl" in played.info
            board.push(played.move)
    outcome = board.outcome()
    assert outcome is not None and outcome.winner == chess.WHITE


# -- leaving ----------------------------------------------------------------------------------


def search(process: Process) -> None:
    process.say("position startpos", "go infinite")
    process.until("info string play")


@pytest.mark.parametrize(
    "number", quick_among([signal.SIGTERM, signal.SIGINT], lambda number: number == signal.SIGINT)
)
def test_a_signal_in_mid_search(number: signal.Signals, own: Process) -> None:
    search(own)
    own.popen.send_signal(number)
    assert own.popen.wait(HANG_SECONDS) == 0
    assert own.leave()[::2] == (0, "")


def test_nobody_reads_any_more() -> None:
    popen = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert popen.stdin is not None and popen.stdout is not None and popen.stderr is not None
    popen.stdout.close()
    os.write(popen.stdin.fileno(), b"uci\n")
    assert popen.wait(HANG_SECONDS) == 0
    with popen.stderr, popen.stdin:
        assert popen.stderr.read() == b""


def test_the_log_has_the_whole_dialogue(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Process("--log", str(path)) as process:
        process.say("uci", "hello")
        process.until(ERROR)
        assert process.leave()[0] == 0
    text = path.read_text()
    assert " > uci\n" in text and " < uciok\n" in text and " < info string error unknown" in text
