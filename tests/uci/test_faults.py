"""Faults around the real process: what the user gets is one clear line, a move, and an exit code of 0."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import chess
import chess.engine
import pytest

from obscuro.kernel_cache import kernel_files
from obscuro.rules.board import FogOfWarBoard
from tests.hanging import HANG_SECONDS
from tests.processes import children
from tests.sizes import quick_among
from tests.uci.dialogue import ROOT, Dialogue, Process
from tests.uci.games import random_moves, turns_of

COMMAND = [sys.executable, "-m", "obscuro.cli.main", "uci"]
QUICK = (
    "setoption name Evaluator value material",
    "setoption name Hash value 16",
    "setoption name Threads value 1",
    "setoption name Seed value 1",
)
SMALL = ("setoption name Hash value 16", "setoption name Threads value 1")
NETWORK = "setoption name Evaluator value nnue"
WITH_STOCKFISH = (*SMALL, "setoption name Evaluator value stockfish")
WARNING = "info string warning "
ERROR = "info string error "


@pytest.fixture
def engine() -> Iterator[Process]:
    with Process() as process:
        yield process


def warnings(dialogue: Dialogue) -> list[str]:
    return [line for line in dialogue.heard if line.startswith((WARNING, ERROR))]


def move_of(dialogue: Dialogue, *lines: str) -> str:
    dialogue.say(*lines)
    return dialogue.until("bestmove")[-1].split()[1]


def is_legal(move: str, *before: str) -> bool:
    board = FogOfWarBoard()
    for earlier in before:
        board.push_uci(earlier)
    return chess.Move.from_uci(move) in board.legal_moves


def leaves(engine: Process) -> list[str]:
    """End the input; return what was still said."""
    code, lines, stderr = engine.leave()
    assert (code, stderr) == (0, "")
    return lines


# -- dialogues --------------------------------------------------------------------------------

DIALOGUES: list[tuple[list[str], list[str]]] = [
    (["go nodes 20"], [r"info depth .*", r"bestmove [a-h][12345678][a-h][12345678]"]),
    (["position startpos moves e2e4", "go nodes 20"], [r"bestmove [a-h][78][a-h][5-7]"]),
    (["position fen 8/8/8/8/8/8/k7/K7 w - - 0 1", "go nodes 9"], ["bestmove a1a2"]),
    (["position fen k7/8/8/8/8/8/8/K7 w - - 100 90", "go nodes 9"], [r"bestmove \(none\)"]),
    (["  position   startpos   moves  e2e4  ", "go nodes 9"], ["bestmove"]),
    (["go depth 1"], ["bestmove"]),
    (["go movetime 1"], ["bestmove"]),
    (["go wtime 0 btime 0"], ["bestmove"]),
    (["go wtime -50 btime 10 winc 0 binc 0 movestogo 1"], ["bestmove"]),
    (["go nodes 5 searchmoves e2e4 d2d4"], [WARNING + "go: searchmoves .*", "bestmove"]),
    (["go ponder wtime 50 btime 50", "ponderhit"], ["bestmove"]),
    (["go ponder", "stop"], ["bestmove"]),
    (["go infinite", "stop"], ["bestmove"]),
    (["go infinite", "go nodes 5"], ["bestmove", "bestmove"]),
    (["go infinite", "position startpos moves d2d4"], ["bestmove"]),
    (["go infinite", "ucinewgame"], ["bestmove"]),
    (["go infinite", "setoption name UCI_ShowWDL value false"], ["bestmove"]),
    (["setoption name ui_nothing value 1"], [ERROR + "no such option: 'ui_nothing'"]),
    (["setoption name HASH value 17"], []),
    (["setoption name Hash value 999999999"], [ERROR + "Hash must be between .*"]),
    (["stop", "ponderhit", "debug on", "register later", ""], []),
    (["hello\u0085world"], [ERROR + "unknown command hello.*"]),
    (["\u00e9\u4e2d\U0001f600"], [ERROR + "unknown command .*"]),
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Process]:
    with Process() as process:
        process.ask(*QUICK)
        yield process
        leaves(process)


@pytest.mark.parametrize("index", range(len(DIALOGUES)))
def test_dialogues(index: int, shared: Process) -> None:
    """After each line of input come, in this order, lines that fit these patterns."""
    sent, expected = DIALOGUES[index]
    shared.ask("stop", "ucinewgame", "position startpos")
    shared.say(*sent)
    for pattern in expected:
        shared.until(pattern)
    rest = shared.ask()
    assert not [line for line in rest if line.startswith(("bestmove", WARNING, ERROR))]


def test_bytes_that_are_no_text(shared: Process) -> None:
    for line in (b"\xff\xfe\x00go\n", b"\0\0\0\n", b"\x80" * 1000 + b"\n"):
        shared.send(line)
        shared.until(ERROR + "unknown command")
    shared.send(b"uci" + b"\0" * 100 + b"\n" + b"x" * 10_000_000 + b"\n")
    shared.until(ERROR + "unknown command uci")
    shared.until(ERROR + "the line is too long")
    assert is_legal(move_of(shared, "go nodes 5"))


def test_a_game_taken_up_cold_after_eighty_moves(shared: Process) -> None:
    moves = next(m for m in (random_moves(seed, 160) for seed in range(50)) if len(m) == 160)
    for position in (
        "position startpos moves " + " ".join(moves),
        "position fog white startpos turns " + " ".join(turns_of(chess.WHITE, moves)),
    ):
        shared.ask("ucinewgame")
        shared.heard.clear()
        move = move_of(shared, position, "go movetime 300")
        assert is_legal(move, *moves)
        assert not [line for line in warnings(shared) if line.startswith(ERROR)]


def test_python_chess_analyses_and_ponders() -> None:
    """The calls that lichess-bot makes of `chess.engine`, and `analysis`."""
    options = {"Evaluator": "material", "Hash": 16, "Threads": 1, "Move Overhead": 10}
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=HANG_SECONDS, cwd=ROOT) as engine:
        engine.configure(options)
        engine.ping()
        board = FogOfWarBoard()
        clock = chess.engine.Limit(
            white_clock=2.0, black_clock=2.0, white_inc=0.0, black_inc=0.0, clock_id="a game"
        )
        for reply in ("e7e5", "b8c6"):
            played = engine.play(
                board, clock, game="g", info=chess.engine.INFO_ALL, ponder=True, root_moves=None
            )
            assert played.move in board.legal_moves and "score" in played.info
            board.push(played.move)
            board.push_uci(reply)
        assert engine.analyse(board, chess.engine.Limit(nodes=50), game="g")["depth"] >= 0
        with engine.analysis(board, chess.engine.Limit(nodes=50), game="g") as analysis:
            assert analysis.wait().move in board.legal_moves
        assert engine.options["UCI_Variant"].default == "fogofwar"


# -- leaving ----------------------------------------------------------------------------------

STAGES: dict[str, tuple[list[str], str | None]] = {
    "at once": ([], None),
    "after uci": (["uci"], "uciok"),
    "getting ready": (["isready"], None),
    "ready": ([*QUICK, "isready"], "readyok"),
    "about to search": ([*QUICK, "isready", "go infinite"], "readyok"),
    "searching": ([*QUICK, "isready", "go infinite"], "info string play"),
    "pondering": (
        [*QUICK, "setoption name Ponder value true", "isready", "go nodes 20"],
        "bestmove",
    ),
    "with Stockfish": ([*WITH_STOCKFISH, "isready", "go infinite"], "info string play"),
}


HOW = ("quit", "end of input")
QUICK_ENDS = {("after uci", "quit"), ("searching", "quit"), ("with Stockfish", "end of input")}


@pytest.mark.parametrize(
    ("stage", "how"), quick_among(product(STAGES, HOW), QUICK_ENDS.__contains__)
)
def test_leaving_at_every_stage(stage: str, how: str, engine: Process) -> None:
    sent, awaited = STAGES[stage]
    engine.say(*sent)
    if awaited is not None:
        engine.until(awaited)
    spawned = [os.pidfd_open(pid) for pid in children(engine.popen.pid)]
    if how == "quit":
        engine.say("quit")
    lines = leaves(engine)
    if "searching" in stage:
        assert lines[-1].startswith("bestmove")
    for child in spawned:
        assert select.select([child], [], [], HANG_SECONDS)[0]  # it has ended
        os.close(child)


class Full:
    """An engine whose output nobody reads, until its pipe is full."""

    def __init__(self, *lines: str, awaited: str = "") -> None:
        self.popen = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
        )
        assert self.popen.stdin is not None and self.popen.stdout is not None
        self.stdin, self.stdout = self.popen.stdin.fileno(), self.popen.stdout.fileno()
        os.set_blocking(self.stdin, False)
        self.say(*lines)
        heard = b""
        while awaited.encode() not in heard:
            heard += os.read(self.stdout, 1 << 16)
        # `help` until neither pipe takes any more: then the engine waits for us, and reads nothing.
        with contextlib.suppress(BlockingIOError):
            while select.select([], [self.stdin], [], 0.5)[1]:
                os.write(self.stdin, b"help\n" * 10)

    def say(self, *lines: str) -> None:
        os.write(self.stdin, "".join(f"{line}\n" for line in lines).encode())

    def ends(self) -> int:
        code = self.popen.wait(HANG_SECONDS)
        assert self.popen.stderr is not None
        assert self.popen.stderr.read() == b""
        return code


def end_input(full: Full) -> None:
    os.close(os.dup(full.stdin))
    assert full.popen.stdin is not None
    full.popen.stdin.close()


def stop_reading_for_good(full: Full) -> None:
    assert full.popen.stdout is not None
    full.popen.stdout.close()


def terminate(full: Full) -> None:
    full.popen.send_signal(signal.SIGTERM)


def interrupt(full: Full) -> None:
    full.popen.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("leave", "searching"),
    [
        pytest.param(end_input, False, marks=pytest.mark.slow),
        (stop_reading_for_good, False),
        pytest.param(terminate, False, marks=pytest.mark.slow),
        pytest.param(interrupt, False, marks=pytest.mark.slow),
        pytest.param(end_input, True, marks=pytest.mark.slow),
        pytest.param(terminate, True, marks=pytest.mark.slow),
    ],
)
def test_a_reader_that_stops_reading(leave: Callable[[Full], None], searching: bool) -> None:
    search = (*QUICK, "isready", "go infinite")
    full = Full(*search, awaited="info string play") if searching else Full("uci", awaited="uciok")
    try:
        leave(full)
        assert full.ends() == 0
    finally:
        full.popen.kill()
        full.popen.wait()


@pytest.mark.slow
def test_a_reader_that_goes_on_reading_has_missed_nothing() -> None:
    full = Full("uci", awaited="uciok")
    heard = b""

    def ask() -> None:
        os.set_blocking(full.stdin, True)
        full.say("", "uci")

    asking = threading.Thread(target=ask)
    asking.start()
    while not heard.endswith(b"uciok\n"):
        heard += os.read(full.stdout, 1 << 16)
    asking.join()
    lines = heard.decode().splitlines()
    assert sum(line.startswith("info string quit:") for line in lines) > 100
    assert not [
        line for line in lines if not line.startswith(("info string ", "id ", "option ", "uci"))
    ]
    full.say("quit")
    assert full.ends() == 0


# -- Stockfish --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def for_faults() -> Iterator[Process]:
    """Return one engine for all evaluators that do not start."""
    with Process() as process:
        yield process
        leaves(process)


@pytest.fixture
def faulty(for_faults: Process) -> Process:
    for_faults.ask("stop", "setoption name Evaluator value material", "ucinewgame")
    for_faults.heard.clear()
    return for_faults


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("/nowhere/stockfish", "Stockfish is missing: there is no program /nowhere/stockfish"),
        ("/bin/true", "Stockfish does not start: it exited with code 0"),
        ("/usr/bin/yes", "Stockfish does not start: it talks without end"),
        ("/etc/passwd", "Stockfish is missing: there is no program /etc/passwd"),
    ],
)
def test_a_stockfish_that_is_none(program: str, reason: str, faulty: Process) -> None:
    faulty.ask(*WITH_STOCKFISH, f"setoption name Stockfish value {program}")
    assert is_legal(move_of(faulty, "position startpos", "go nodes 50"))
    assert warnings(faulty) == [f"{WARNING}{reason}; evaluating by material from now on"]


@pytest.mark.parametrize("program", ["/nowhere/stockfish", "/bin/true", "/usr/bin/yes"])
def test_a_network_that_cannot_be_had(program: str, faulty: Process) -> None:
    faulty.ask(*SMALL, NETWORK, f"setoption name Stockfish value {program}")
    assert is_legal(move_of(faulty, "position startpos", "go nodes 50"))
    (warning,) = warnings(faulty)
    assert warning.startswith(f"{WARNING}no network: {program} ")
    assert warning.endswith("; evaluating by material from now on")


@pytest.mark.parametrize(
    "number", quick_among([signal.SIGKILL, signal.SIGSTOP], lambda number: number == signal.SIGKILL)
)
def test_a_stockfish_that_is_killed_or_stopped_in_mid_search(
    number: signal.Signals, engine: Process
) -> None:
    engine.ask(*WITH_STOCKFISH)
    engine.say("position startpos", "go infinite")
    engine.until("info string play")
    for pid in children(engine.popen.pid):
        os.kill(pid, number)
    engine.until("info string play")  # it goes on
    engine.say("stop")
    assert is_legal(engine.until("bestmove")[-1].split()[1])
    assert len(warnings(engine)) <= 1
    assert not [line for line in warnings(engine) if line.startswith(ERROR)]
    assert is_legal(move_of(engine, "position startpos moves e2e4", "go nodes 50"), "e2e4")
    leaves(engine)


# -- places and memory -------------------------------------------------------------------------


def spawn(
    tmp_path: Path, limit: int | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a short session; return what was said."""

    def restrict() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    lines = ["setoption name Evaluator value material", "setoption name Threads value 1"]
    lines += ["setoption name Hash value 8000"] if limit is not None else []
    script = "\n".join([*lines, "isready", "go nodes 20"]) + "\n"
    popen = subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        preexec_fn=restrict,  # noqa: PLW1509 - it does nothing but a system call
    )
    assert popen.stdin is not None and popen.stdout is not None
    popen.stdin.write(script)
    popen.stdin.flush()
    out = ""
    for line in popen.stdout:
        out += line
        if line.startswith("bestmove"):
            break
    rest, err = popen.communicate("quit\n", timeout=HANG_SECONDS)
    return subprocess.CompletedProcess(COMMAND, popen.returncode, out + rest, err)


@pytest.mark.slow
def test_a_hash_for_which_there_is_no_memory(tmp_path: Path) -> None:
    done = spawn(tmp_path, limit=6 << 30)
    assert (done.returncode, done.stderr) == (0, "")
    said = [line for line in done.stdout.splitlines() if line.startswith((WARNING, ERROR))]
    assert len(said) == 1
    assert said[0].startswith(WARNING + "there is no memory for a Hash of 8000 MiB; it is ")


@pytest.mark.slow
def test_a_cache_directory_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = kernel_files().directory
    assert cache is not None
    # The next best place, where the kernels are already, or this would take minutes.
    private = tmp_path / f"obscuro-{os.getuid()}"
    private.mkdir(mode=0o700)
    (private / Path(cache).name).symlink_to(cache)
    bad = str(tmp_path / "file" / "below")
    done = spawn(tmp_path, OBSCURO_CACHE_DIR=bad, TMPDIR=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("bestmove ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "log", quick_among(["/dev/full", "/", "/nowhere/log"], lambda log: log == "/dev/full")
)
def test_a_log_that_cannot_be_written(log: str) -> None:
    with Process("--log", log) as process:
        process.ask(*QUICK)
        assert is_legal(move_of(process, "go nodes 20"))
        leaves(process)
        assert len(warnings(process)) == 1
