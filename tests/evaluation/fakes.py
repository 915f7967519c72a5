"""Programs that take Stockfish's place in tests of its failures."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import psutil

from obscuro.evaluation.stockfish.process import TimeLimits

QUICK = TimeLimits(start=20.0, start_wait=20.0, silence=0.1, starved=20.0, restart_wait=20.0)

HANDSHAKE = """
import sys
with open(sys.argv[0] + ".starts", "a") as starts:
    starts.write("x")
def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()
def go(): say("info depth 1 multipv 1 score cp 1 pv e2e4\\nbestmove e2e4\\n")
searches = 0
for line in sys.stdin:
    if line == "uci\\n":
        say("id name Stockfish 15.1\\noption name MultiPV type spin default 1 min 1 max 500\\nuciok\\n")
    elif line == "go depth 1\\n":
        searches += 1
        if searches == 1:
            go()
            continue
"""


def fake_stockfish(folder: Path, body: str) -> str:
    """The path of a Python program."""
    path = folder / "stockfish"
    path.write_text(f"#!{sys.executable} -SE\n{body}")
    path.chmod(0o755)
    return str(path)


def fake_search(folder: Path, body: str) -> str:
    """The path of a program that starts as Stockfish does, and then answers each `go` by `body`."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return fake_stockfish(folder, HANDSHAKE + lines)


def starts_of(path: str) -> int:
    """How often the program was started."""
    return len(Path(path + ".starts").read_text())


def ends(pid: int, seconds: float = 20.0) -> bool:
    """Wait for a process that may not be our child; whether it ended in that time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def is_gone(pid: int) -> bool:
    """Whether there is no such process any more, not even a zombie."""
    return not psutil.pid_exists(pid)
