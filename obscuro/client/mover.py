"""The engine that chooses the moves of a game: a process of ours, started anew when it fails.

All that our side did and saw is sent for every move, so nothing is lost when a process dies.
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

from obscuro.client.move_report import Report
from obscuro.client.restartable_engine import RestartableEngine
from obscuro.client.uci_process import EngineError, UciProcess

ATTEMPTS = 3
"""How many processes are tried for one move; then the first legal move is made."""
GRACE_SECONDS = 10.0
"""An engine that is this much later than `movetime` has hung."""
CLOCK_SHARE = 0.5
"""An engine that uses up this part of its clock has hung too; engines plan with far less."""
LEAST_PATIENCE = 1.0
"""The seconds that an engine gets in any case."""
STARTING_ANEW = "starting it anew"
"""Ends the report of a process that is replaced."""
NO_ENGINE = "there is no engine; making any move"
"""The report where no process could choose."""
_SCORE = re.compile(r" score (cp|mate) (-?\d{1,9})\b")
_MATE_CENTIPAWNS = 10_000


@dataclass(frozen=True, slots=True)
class Think:
    """A move to choose: the engine is sent the position, and the clocks as they were at `since`.

    moves: the legal moves, a king's capture first; the first one is played without an engine.
    clocks: White's and Black's time, then White's and Black's increment, in ms. movetime: ms, used
    if clocks is None. since: the second, from which our clock runs.
    """

    number: int
    position: str
    moves: tuple[str, ...]
    side: chess.Color
    clocks: tuple[int, int, int, int] | None = None
    movetime: int | None = None
    since: float = 0.0


@dataclass(frozen=True, slots=True)
class MoverChoice:
    """A move, and its score in centipawns for the engine's side; None if the engine said none.

    report: what the engine said of its search.
    """

    move: str
    score: int | None = None
    report: Report | None = None


class Mover(Protocol):
    """What chooses moves. Any thread may call `stop`; one thread at a time calls the rest."""

    def prepare(self) -> None:
        """Get ready to search at once. Raises EngineError."""

    def choose(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        """Choose a move, whatever happens. After `cancel` and `stop` it returns soon, any move."""

    def stop(self) -> None:
        """End the search that is under way, if any."""

    def watch(self, game: str, position: str) -> None:
        """Take note of the position after our move."""

    def close(self) -> None:
        """Release everything. It may be called again."""


class EngineMover:
    """A UCI engine that reads `position fog`.

    options: the options to set at every start. report: receives a line for every failure and
    warning. start: makes the process. clock: seconds, as `Think.since`.
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
        self._engine = RestartableEngine(
            command,
            options,
            lambda text: report(f"engine: {text}"),
            needs_variant=True,
            start=start,
        )
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()  # of the engine's input during a search
        self._searched: UciProcess | None = None  # the process that searches now
        self._played: tuple[UciProcess, str] | None = None  # the process and game of the last move
        self._ponders = options.get("Ponder", "").lower() == "true"

    @property
    def pid(self) -> int | None:
        """The id of the process; None if none runs."""
        return self._engine.pid

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options for the games that follow, also where the process is started anew.

        Raises EngineError.
        """
        self._engine.configure(options)
        self._played = None  # what the process knows of a game is of other options

    def prepare(self) -> None:
        """Start the process and wait until it can search. Raises EngineError."""
        self._engine.prepare()

    def choose(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        """Choose a move. A process that dies, hangs, or answers nonsense is replaced."""
        for _ in range(ATTEMPTS):
            if cancel.is_set():
                break
            try:
                return self._ask(game, think, cancel)
            except EngineError as error:
                self._report(f"engine: {error}; {STARTING_ANEW}")
                self._engine.kill()
        if not cancel.is_set():
            self._report(NO_ENGINE)
        return MoverChoice(think.moves[0])

    def stop(self) -> None:
        """Tell the engine to answer now."""
        with self._lock:
            if self._searched is not None:
                with contextlib.suppress(EngineError):  # the thread that waits for it will see it
                    self._searched.send("stop")

    def watch(self, game: str, position: str) -> None:
        """Send the position to an engine that ponders by itself."""
        process = self._engine.process
        if self._ponders and process is not None and self._played == (process, game):
            try:
                process.send(position)
            except EngineError as error:
                self._report(f"engine: {error}")
                self._engine.kill()

    def close(self) -> None:
        """Ask the engine to quit; end it if it doesn't."""
        self._engine.close()

    # -- inside -----------------------------------------------------------------------------

    def _ask(self, game: str, think: Think, cancel: threading.Event) -> MoverChoice:
        process = self._engine.running()
        if self._played != (process, game):
            process.send("ucinewgame")
            self._played = process, game
        go, patience = go_command(think, self._clock() - think.since)
        with self._lock:
            process.send(think.position)
            process.send(go)
            self._searched = process
            if cancel.is_set():
                process.send("stop")
        try:
            *said, last = process.until("bestmove", patience)
        finally:
            with self._lock:
                self._searched = None
        self._engine.report_warnings(said)
        move = last.removeprefix("bestmove").split()[0] if " " in last else ""
        if move not in think.moves:
            raise EngineError(f"{process.name} answers {move[:20]!r}, which is not a legal move")
        return MoverChoice(move, last_score(said), Report.of_lines(said))


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
