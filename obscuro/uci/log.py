"""The log of a session: every line in and out, and what a replay needs beside them.

    21:03:59.120 > go nodes 1000        what came in
    21:04:00.004 < bestmove e2e4        what went out
    21:03:59.121 # seed 1234            a fact: versions, options, the machine, seeds in force
    21:04:01.730 ! Traceback …          details of a failure

A session begins with the fact `log <version of this format>`. `obscuro replay` reads logs.
"""

import os
import platform
import re
import threading
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from obscuro.engine.options import Options
from obscuro.engine.player_kind import OBSCURO
from obscuro.machine import processor_name, usable_cores
from obscuro.version import version

FORMAT = 1
MARKS = IN, OUT, FACT, FAILURE = "><#!"
PACKAGES = ("numba", "llvmlite", "numpy", "chess")


class Log:
    """Writes lines with their times. It never raises and never waits.

    It stops at the first line that can't be written; `take_failure` says so once.
    """

    def __init__(self, path: str | None) -> None:
        """Open the file for appending; None: no log. `%p` in the path is the process's id."""
        self._lock = threading.Lock()
        self._failure = ""
        self._descriptor: int | None = None
        if path is None:
            return
        # O_NONBLOCK: a pipe without a reader must not stop the engine.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            self._descriptor = os.open(path.replace("%p", str(os.getpid())), flags, 0o666)
        except (OSError, ValueError) as error:
            self._failure = f"no log is written, {error}"

    @property
    def is_open(self) -> bool:
        """Whether lines are written."""
        return self._descriptor is not None

    def write(self, mark: str, text: str) -> None:
        """Write a text and mark each of its lines. A full disk ends the log, not the game."""
        if self._descriptor is None:
            return
        now = time.time()
        stamp = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03}"
        lines = "".join(f"{stamp} {mark} {line}\n" for line in text.split("\n"))
        with self._lock:
            self._write(lines.encode("utf-8", "replace"))

    def fact(self, name: str, value: object) -> None:
        """Write a fact in one line."""
        self.write(FACT, f"{name} {value}".replace("\n", " "))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest and self._descriptor is not None:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            self._failure = f"the log ends here, {error}"
            self._close()

    def take_failure(self) -> str:
        """Return once why no more is written; empty if nothing is wrong."""
        failure, self._failure = self._failure, ""
        return failure

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                os.close(descriptor)
            except OSError as error:
                self._failure = f"the log may be incomplete, {error}"


def facts(options: Options, player: str = OBSCURO.name) -> Iterator[tuple[str, object]]:
    """Yield the names and values that a session begins with. Imports none of the packages.

    player: the name of the player's kind.
    """
    from importlib import metadata  # noqa: PLC0415 - takes 50 ms, and only logs need it

    yield "log", FORMAT
    yield "date", time.strftime("%Y-%m-%d %H:%M:%S %z")
    yield "obscuro", version()
    yield "player", player
    yield "python", f"{platform.python_implementation()} {platform.python_version()}"
    for package in PACKAGES:
        try:
            yield package, metadata.version(package)
        except metadata.PackageNotFoundError:
            yield package, "missing"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "cpu", f"{processor_name()}, {os.cpu_count()} threads, {usable_cores()} usable"
    for option in options.table:
        yield "option", f"{option.name} = {options.get(option.name)}"


_ENTRY = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3}) ([><#!]) (.*)", re.DOTALL)


class Entry(NamedTuple):
    """A line of a log."""

    seconds: float  # since midnight
    mark: str  # one of `obscuro.uci.log.MARKS`
    text: str


class LoggedSession(NamedTuple):
    """What a process has logged, from its start to its end, or to where the log breaks off."""

    entries: list[Entry]

    def fact(self, name: str) -> str | None:
        """Return the first fact of a name; None if there is none."""
        found = (e.text.partition(" ")[2] for e in self.entries if _is_fact(e, name))
        return next(found, None)

    def options(self) -> dict[str, str]:
        """Return the options at the start of the session."""
        texts = (e.text.partition(" ")[2] for e in self.entries if _is_fact(e, "option"))
        return {name: value for name, _, value in (text.partition(" = ") for text in texts)}


def read_sessions(lines: Iterable[str]) -> list[LoggedSession]:
    """Read the sessions of a log. A line that is no entry, such as one cut off, is skipped."""
    sessions: list[LoggedSession] = []
    for line in lines:
        found = _ENTRY.fullmatch(line.rstrip("\n"))
        if found is None:
            continue
        hours, minutes, seconds, milliseconds = map(int, found.groups()[:4])
        time_of_day = 3600 * hours + 60 * minutes + seconds + milliseconds / 1000
        entry = Entry(time_of_day, found[5], found[6])
        if not sessions or _is_fact(entry, "log"):
            sessions.append(LoggedSession([]))
        sessions[-1].entries.append(entry)
    return sessions


def _is_fact(entry: Entry, name: str) -> bool:
    return entry.mark == FACT and entry.text.partition(" ")[0] == name
