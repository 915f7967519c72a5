"""The engine that chooses the moves of a game: a process of ours, started anew when it fails.

The whole of what our side did and saw is sent for every move, so nothing is lost with a process.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import chess

from obscuro.arena.uci_process import EngineError, UciProcess
from obscuro.bridge.server_game import Think

ATTEMPTS = 3
"""Processes that are tried for one move; then any legal move is made."""
GRACE_SECONDS = 10.0
"""An engine that is so much later than `movetime` has hung."""
CLOCK_SHARE = 0.5
"""So does one that uses up this part of its clock; engines plan with far less."""
LEAST_PATIENCE = 1.0
_SCORE = re.compile(r" score (cp|mate) (-?\d{1,9})\b")
_MATE_CENTIPAWNS = 10_000


@dataclass(frozen=True, slots=True)
class MoverChoice:
    """A move, and what the engine thinks of it: centipawns for its side, None where it didn't say."""

    move: str
    score: int | None = None


class Mover(Protocol):
    """What chooses moves. `stop` may be called by any thread, all else belongs to one at a time."""

    def prepare(self) -> None:
        """Get ready to search at once. Raises EngineError."""

    def choose(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        """Choose a move, whatever happens; soon after `cancel` and `stop` any move will do."""

    def stop(self) -> None:
        """End a search that goes on."""

    def watch(self, game: str, position: str) -> None:
        """Hear how the game stands after our move."""

    def close(self) -> None:
        """Let go of everything. May be called again."""


class EngineMover:
    """A UCI engine that reads `position fog`. options: set at every start. report: gets a line for
    every failure and warning. start: makes the process. clock: seconds, as `Think.since`.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str],
        report: Callable[[str], None],
        *,
        start: Callable[[Sequence[str]], UciProcess] = UciProcess,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = list(command)
        self._options = dict(options)
        self._report = report
        self._start = start
        self._clock = clock
        self._lock = threading.Lock()  # of the engine's input and of `_searching`
        self._process: UciProcess | None = None
        self._searching = False
        self._closed = False
        self._game: str | None = None
        self._ponders = self._options.get("Ponder", "").lower() == "true"

    @property
    def pid(self) -> int | None:
        """The id of the process, None where there is none."""
        return self._process.pid if self._process is not None else None

    def prepare(self) -> None:
        """Start the process and wait until it could search. Raises EngineError."""
        self._heed(self._running().wait_ready())

    def choose(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        """Choose a move. A process that dies, hangs, or answers nonsense is replaced."""
        for _ in range(ATTEMPTS):
            if cancel.is_set():
                break
            try:
                return self._ask(game, think, cancel)
            except EngineError as error:
                self._report(f"engine: {error}; starting it anew")
                self._end()
        if not cancel.is_set():
            self._report("there is no engine; making any move")
        return MoverChoice(think.moves[0])

    def stop(self) -> None:
        """Tell the engine to answer now."""
        with self._lock:
            process = self._process
            if self._searching and process is not None:
                with contextlib.suppress(EngineError):  # who waits for its answer will see it
                    process.send("stop")

    def watch(self, game: str, position: str) -> None:
        """Send the position to an engine that ponders by itself."""
        if self._ponders and self._process is not None and game == self._game:
            try:
                self._process.send(position)
            except EngineError as error:
                self._report(f"engine: {error}")
                self._end()

    def close(self) -> None:
        """Ask the engine to quit; end it if it doesn't."""
        with self._lock:
            self._closed = True
            process, self._process = self._process, None
        if process is not None:
            process.close()

    # -- inside -----------------------------------------------------------------------------

    def _running(self) -> UciProcess:
        if self._process is None:
            if self._closed:
                raise EngineError("it was closed")
            process = self._start(self._command)
            try:
                process.set_option("UCI_Variant", "fogofwar")
                for name, value in self._options.items():
                    process.set_option(name, value)
            except EngineError:
                process.kill()
                raise
            self._process, self._game = process, None
        return self._process

    def _ask(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        process = self._running()
        if self._game != game:
            process.send("ucinewgame")
            self._game = game
        go, patience = go_command(think, self._clock() - think.since)
        with self._lock:
            process.send(think.position)
            process.send(go)
            self._searching = True
            if cancel.is_set():
                process.send("stop")
        try:
            *said, last = process.until("bestmove", patience)
        finally:
            with self._lock:
                self._searching = False
        self._heed(said)
        move = last.removeprefix("bestmove").split()[0] if " " in last else ""
        if move not in think.moves:
            raise EngineError(f"{process.name} answers {move[:20]!r}, which is not a legal move")
        return MoverChoice(move, last_score(said))

    def _heed(self, lines: Sequence[str]) -> None:
        for line in lines:
            if line.startswith(("info string warning", "info string error")):
                self._report(f"engine: {line.removeprefix('info string ')}")

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()


def go_command(think: Think, elapsed: float) -> tuple[str, float]:
    """Return the command that starts the search, and how many seconds its answer may take.

    elapsed: seconds since our clock was what `think` says.
    """
    gone = round(max(elapsed, 0.0) * 1000)
    if think.clocks is None:
        movetime = max(1, think.movetime or 1)
        return f"go movetime {movetime}", movetime / 1000 + GRACE_SECONDS
    white, black, white_increment, black_increment = think.clocks
    if think.side == chess.WHITE:
        ours = white = max(0, white - gone)
    else:
        ours = black = max(0, black - gone)
    go = f"go wtime {white} btime {black} winc {white_increment} binc {black_increment}"
    return go, max(LEAST_PATIENCE, CLOCK_SHARE * ours / 1000)


def last_score(lines: Sequence[str]) -> int | None:
    """Return the last score that an engine has said, in centipawns."""
    for line in reversed(lines):
        found = _SCORE.search(line)
        if found is not None:
            number = int(found[2])
            return (
                number
                if found[1] == "cp"
                else (_MATE_CENTIPAWNS if number > 0 else -_MATE_CENTIPAWNS)
            )
    return None


class MoverPool:
    """Movers for games that go on at the same time; those of finished games are used again.

    make: makes one. spare: so many are kept though nobody uses them.
    """

    def __init__(self, make: Callable[[], Mover], spare: int) -> None:
        self._make = make
        self._spare = spare
        self._lock = threading.Lock()
        self._idle: list[Mover] = []
        self._all: list[Mover] = []
        self._closed = False

    def prepare(self) -> None:
        """Have one ready to search. Raises EngineError."""
        mover = self.take()
        try:
            mover.prepare()
        finally:
            self.give(mover)

    def take(self) -> Mover:
        """Return one that nobody uses."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            mover = self._make()
            self._all.append(mover)
            return mover

    def give(self, mover: Mover) -> None:
        """Take one back."""
        with self._lock:
            if not self._closed and len(self._idle) < self._spare:
                self._idle.append(mover)
                return
            if mover in self._all:
                self._all.remove(mover)
        mover.close()

    def close(self) -> None:
        """Close all, also those in use."""
        with self._lock:
            self._closed = True
            movers, self._all, self._idle = self._all, [], []
        for mover in movers:
            mover.close()
