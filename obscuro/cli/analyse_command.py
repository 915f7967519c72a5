"""`obscuro analyse` answers questions about many games: lines of JSON in, lines of JSON out."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from importlib.resources import files

import msgspec

from obscuro.cli.command_support import UsageError, read_options, server_options
from obscuro.client.analysis_messages import AnalysisAnswer
from obscuro.client.engine import Engine, engine_command
from obscuro.client.uci_process import UciProcess
from obscuro.engine.options import BYTES_PER_POSITION, LEAST_HASH, WEIGHTED_POSITIONS, Options
from obscuro.machine import MEBIBYTE, total_memory, usable_cores
from obscuro.queries.analysis_service import AnalysisService
from obscuro.signal_handlers import leaving_signals_handled
from obscuro.uci.channel import Output, is_hung_up, read_lines
from obscuro.uci.log import Log

MOST_WORKERS = 256
_MOST_HASH = 1024
_LEAST_POSITIONS = 100_000
_SIGNALLED = 128
"""A program that a signal ends has this plus the signal's number as its exit code."""
_FORBIDDEN = ("Threads", "Ponder", "UCI_Variant", "UCI_Chess960")


def run(
    arguments: argparse.Namespace,
    *,
    stdin: int = 0,
    stdout: int = 1,
    start: Callable[[Sequence[str]], UciProcess] = UciProcess,
    leave: Callable[[int], object] = os._exit,
) -> int:
    """Answer until the input ends; return the exit code. Raises UsageError.

    start, leave: for tests; they start an engine's process, and end this one.
    """
    if arguments.schema:
        print(schema_text(), end="")
        return 0
    workers = arguments.workers or usable_cores()
    if workers > MOST_WORKERS:
        raise UsageError(f"--workers {workers}: {MOST_WORKERS} at most")
    given = read_options(arguments.option, "--option")
    base = Options()
    for name, value in server_options(
        given, default_options(workers), _FORBIDDEN, "obscuro analyse"
    ).items():
        base.set(name, value)

    def make(warn: Callable[[str], None]) -> Engine:
        return Engine(engine_command(), on_warning=warn, start=start)

    def leave_now(code: int) -> None:
        service.kill()
        leave(code)

    def send(answer: AnalysisAnswer) -> None:
        output.lines(msgspec.json.encode(answer).decode())

    output = Output(stdout, Log(None), lambda: leave_now(1))
    service = AnalysisService(base, workers=workers, queue=arguments.queue, make=make, send=send)
    with leaving_signals_handled(lambda number: leave_now(_SIGNALLED + number)):
        if not service.run(read_lines(stdin), lambda: is_hung_up(stdout)):
            leave_now(1)
    return 0


def default_options(workers: int) -> dict[str, str]:
    """Return the options of each of so many engines: they share the memory that one would take."""
    memory = (total_memory() or 4 << 30) // 8 // workers
    return {
        "Threads": "1",
        "Seed": "1",
        "Hash": str(max(LEAST_HASH, min(_MOST_HASH, memory // MEBIBYTE))),
        "Max Positions": str(
            max(_LEAST_POSITIONS, min(WEIGHTED_POSITIONS, memory // BYTES_PER_POSITION))
        ),
    }


def schema_text() -> str:
    """Return the JSON Schema of the messages."""
    return files("obscuro.client").joinpath("analysis_schema.json").read_text(encoding="utf-8")
