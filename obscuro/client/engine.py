"""The client of an engine: it starts the process, plays, asks questions, and replaces the process."""

from __future__ import annotations

import contextlib
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import chess

from obscuro.client.limit import Limit
from obscuro.client.move_report import (
    BeliefAnswer,
    MarginalsAnswer,
    Report,
    read_belief,
    read_comparison,
    read_coverage,
    read_marginals,
)
from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.engine.player_kind import OBSCURO
from obscuro.engine.report import Comparison, Coverage
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW
from obscuro.rules.starts import is_hidden, names_files
from obscuro.uci.positions import account_position, whole_position

READS_OBSERVATIONS, TELLS_COVERAGE, COMPARES = "position-fog", "coverage", "compare"
TELLS_MARGINALS = "marginals"
"""The words of the line `info string capabilities` (docs/protocol.md)."""
VARIANT_OPTION, VARIANT = "UCI_Variant", "fogofwar"
SEED, STALEMATE, CHESS960 = "Seed", "Stalemate", "UCI_Chess960"
GRACE_SECONDS = 20.0
"""An engine that is this much later than its limit has hung."""
ANSWER_SECONDS = 60.0
"""The most seconds for an answer to `coverage` or `compare`; ours takes milliseconds."""
BELIEF_SECONDS = 600.0
"""The most seconds for working out which positions are possible."""
BELIEF_SILENCE_SECONDS = 120.0
"""The most seconds of these without any line of output."""

ATTEMPTS = 3
"""How many processes `choose` tries for one move; then it makes the first legal move."""
CHOICE_GRACE_SECONDS = 10.0
"""`choose` takes an engine that is this much later than `movetime` for one that has hung."""
CLOCK_SHARE = 0.5
"""An engine that uses up this part of its clock has hung too; engines plan with far less."""
LEAST_PATIENCE = 1.0
"""The seconds that `choose` gives an engine in any case."""
STARTING_ANEW = "starting it anew"
"""Ends the warning of a process that is replaced."""
NO_ENGINE = "there is no engine; making any move"
"""The warning where no process could choose."""
_MOST = re.compile(r"\btype spin\b.*\bmax ([1-9]\d*)\b")

Position = str | Account | FogOfWarBoard
"""A position: a side's account, a referee's board, or the text of the command `position …`."""


def engine_command(player: str = OBSCURO.name) -> list[str]:
    """Return the command that starts this very program as a UCI engine.

    player: a name of `obscuro.players.roster`.
    """
    command = [sys.executable, "-P", "-m", "obscuro.cli.main", "uci"]
    return command if player == OBSCURO.name else [*command, "--player", player]


@dataclass(frozen=True, slots=True)
class PlayResult:
    """An engine's answer to `go`.

    move: in UCI, as the engine wrote it; empty if it wrote none. seconds: from sending the position
    to the answer. warnings: the engine's warnings and errors during the search.
    """

    move: str
    report: Report = field(default_factory=Report)
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def score(self) -> int | None:
        """The score in centipawns for the engine's side; None: the engine gave none."""
        score = self.report.centipawns
        return None if score is None else round(score)


@dataclass(frozen=True, slots=True)
class Think:
    """A move to choose in a game that goes on whatever happens to the engine.

    number: the caller's, for its own use. position: the command that tells the game. moves: the
    legal moves, a king's capture first; the first one is played without an engine. clocks: White's
    and Black's time, then White's and Black's increment, in ms. movetime: ms, used if clocks is
    None. since: the second from which our clock runs.
    """

    number: int
    position: str
    moves: tuple[str, ...]
    side: chess.Color
    clocks: tuple[int, int, int, int] | None = None
    movetime: int | None = None
    since: float = 0.0

    def limit(self, now: float) -> tuple[Limit, float]:
        """Return the limit at the second *now*, and how many seconds the answer may take."""
        if self.clocks is None:
            limit = Limit(max(1, self.movetime or 1))
            return limit, limit.seconds(self.side) + CHOICE_GRACE_SECONDS
        limit = Limit(clocks=self.clocks).after(self.side, now - self.since)
        return limit, max(LEAST_PATIENCE, CLOCK_SHARE * limit.seconds(self.side))


class Mover(Protocol):
    """What a game on a server needs of an `Engine`.

    Any thread may call `stop` and `close`, one thread at a time calls the rest.
    """

    on_warning: Callable[[str], None]

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options for the games that follow. Raises EngineError."""

    def prepare(self) -> None:
        """Get ready to search at once. Raises EngineError."""

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        """Choose a move, whatever happens. After `cancel` and `stop` it returns soon, any move."""

    def stop(self) -> None:
        """End the search that is under way, if any."""

    def watch(self, game: str, position: str) -> None:
        """Take note of the position after our move."""

    def close(self) -> None:
        """Release everything. It may be called again."""


class Engine:
    """A UCI engine in a process of its own, which is started when it is needed.

    After an `EngineError` of any method no process is left; the next call starts another one. Any
    thread may call `stop`, `kill` and `close`, one thread at a time the rest.

    options: set at every start. any_variant: whether the engine may lack Fog of War chess; else that
    is an EngineError. on_warning: receives the engine's warnings and errors, each a line, in the
    thread that reads them. start: makes the process. clock: seconds, as `Think.since`.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str] | None = None,
        *,
        any_variant: bool = False,
        on_warning: Callable[[str], None] = lambda text: None,
        start: Callable[[Sequence[str]], UciProcess] = UciProcess,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.on_warning = on_warning
        self._command = list(command)
        self._options = dict(options or {})
        self._any_variant = any_variant
        self._start = start
        self._clock = clock
        self._lock = threading.Lock()  # of the three below, and of the input during a search
        self._process: UciProcess | None = None
        self._closed = False
        self._searching: UciProcess | None = None
        self._game: tuple[UciProcess, object] | None = None  # that the process plays
        self._chess960: tuple[UciProcess, bool] | None = None  # what the process was told of it

    # -- what it is -------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the running engine, else the command."""
        process = self._process
        return self._command[0] if process is None else process.name

    @property
    def pid(self) -> int | None:
        """The process's id; None if no process runs."""
        process = self._process
        return None if process is None else process.pid

    @property
    def capabilities(self) -> frozenset[str]:
        """What the running engine can do beyond UCI (docs/protocol.md); empty if none runs."""
        process = self._process
        return frozenset() if process is None else process.capabilities

    @property
    def reads_observations(self) -> bool:
        """Whether the running engine can be told what its side did and saw, and no more."""
        return READS_OBSERVATIONS in self.capabilities

    @property
    def plays_fog_of_war(self) -> bool:
        """Whether the running engine offers Fog of War chess."""
        process = self._process
        return process is not None and _plays_fog_of_war(process)

    # -- its process ------------------------------------------------------------------------

    def start(self) -> UciProcess:
        """Return the process; start one with its options set if none runs.

        Raises EngineError, also after `close`.
        """
        if self._process is not None:
            return self._process
        if self._closed:
            raise EngineError("it was closed")
        process = self._start(self._command)
        try:
            if not (self._any_variant or _plays_fog_of_war(process)):
                raise EngineError(
                    f"{process.name} does not offer Fog of War chess ({VARIANT_OPTION} {VARIANT})"
                )
            if _offers(process, VARIANT_OPTION, VARIANT):
                process.set_option(VARIANT_OPTION, VARIANT)
            for name, value in self._options.items():
                process.set_option(name, value)
        except BaseException:
            process.kill()
            raise
        with self._lock:
            if not self._closed:
                self._process = process
                return process
        process.kill()
        raise EngineError("it was closed")

    def prepare(self) -> None:
        """Wait until the engine can search; start it if need be. Raises EngineError."""
        with self._killed_on_error():
            self._warn_of(self.start().wait_ready())

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options for the games that follow, also at every later start. Raises EngineError."""
        self._options |= options
        self._game = None  # what the process knows of a game is of other options
        process = self._process
        if process is not None:
            with self._killed_on_error():
                for name, value in options.items():
                    process.set_option(name, value)

    def kill(self) -> None:
        """End the process at once, if one runs; the next call starts another one."""
        process = self._taken()
        if process is not None:
            process.kill()

    def close(self, *, at_once: bool = False) -> None:
        """End the process for good; a search under way fails. A second call does nothing.

        The engine is asked to quit first, and killed if it does not, or if it must end at once.
        """
        with self._lock:
            self._closed = True
        process = self._taken()
        if process is not None:
            process.kill() if at_once else process.close()

    def __enter__(self) -> Engine:
        """Return the engine itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the engine."""
        self.close()

    # -- games ------------------------------------------------------------------------------

    def new_game(
        self, game: object = None, *, seed: int | None = None, stalemate: str | None = None
    ) -> None:
        """Begin a game. A process that has died since the last game is replaced.

        game: a name that `play` may repeat. seed: goes to an engine with a number as its option
        `Seed`. stalemate: as `set_stalemate`. Options that the caller has set stay. Raises
        EngineError if no process can be started.
        """
        had_process = self._process is not None
        try:
            self._begin(game)
        except EngineError:
            if not had_process:
                raise
            self._begin(game)
        if seed is not None:
            process = self.start()
            most = _MOST.search(process.options.get(SEED.lower(), ""))
            if most is not None and not self._has_set(SEED):
                with self._killed_on_error():
                    process.set_option(SEED, str(1 + seed % int(most[1])))
        if stalemate is not None:
            self.set_stalemate(stalemate)

    def _begin(self, game: object) -> None:
        with self._killed_on_error():
            process = self.start()
            process.send("ucinewgame")
            self._warn_of(process.wait_ready())
            self._game = process, game

    def set_stalemate(self, rule: str) -> None:
        """Tell the engine what a side without a move gets: `loss` or `draw`. Raises EngineError.

        What the caller has set stays. An engine without the choice `draw` is warned of.
        """
        process = self.start()
        if self._has_set(STALEMATE):
            return
        if _offers(process, STALEMATE, rule):
            with self._killed_on_error():
                process.set_option(STALEMATE, rule)
        elif rule == DRAW:
            self.on_warning(
                f"{self.name} has no option Stalemate with the choice draw, so it is not told "
                "that a side without a move draws"
            )

    def play(
        self,
        position: Position | None,
        limit: Limit,
        *,
        game: object = None,
        patience: float | None = None,
        cancel: threading.Event | None = None,
        on_report: Callable[[Report], None] | None = None,
    ) -> PlayResult:
        """Let the engine search, and return its move, which need not be legal.

        position: None: the one that the last question was about, which the engine then need not
        follow again. A referee's board is told from the side to move, and whole to an engine that
        can't read observations. game: any object; the engine is told of a new game when it is
        another one than before. patience: the most seconds to wait; None: what the limit allows for
        the longer clock and 20 seconds. cancel: if it is set, the search ends as soon as it has
        begun. on_report: called with each report that has a strategy, in this thread.

        Raises EngineError: SilentEngineError if there is no answer in time, MachineFault if
        something outside killed the process.
        """
        if patience is None:
            patience = max(map(limit.seconds, chess.COLORS)) + GRACE_SECONDS
        with self._killed_on_error():
            process = self.start()
            if game is not None and self._game != (process, game):
                process.send("ucinewgame")
                self._game = process, game
            text = None if position is None else self._position_text(position)
            self._set_chess960(process, text)
            begin = time.monotonic()
            with self._lock:
                if text is not None:
                    process.send(text)
                process.send(limit.command)
                self._searching = process
                if cancel is not None and cancel.is_set():
                    process.send("stop")
            try:
                *lines, last = _reported(process.until("bestmove", patience), on_report)
            finally:
                with self._lock:
                    self._searching = None
            seconds = time.monotonic() - begin
            warnings = self._warn_of(lines)
        return PlayResult("".join(last.split()[1:2]), Report.of_lines(lines), seconds, warnings)

    def stop(self) -> None:
        """Tell the engine to answer now, if it searches."""
        with self._lock:
            if self._searching is not None:
                with contextlib.suppress(EngineError):  # the thread that waits for it will see it
                    self._searching.send("stop")

    def watch(self, game: object, position: Position) -> None:
        """Send the position after our move to an engine that ponders by itself (option Ponder).

        Nothing is sent in another game than the one it plays. The next `play` meets a failure.
        """
        ponders = any(
            name.lower() == "ponder" and value.lower() == "true"
            for name, value in self._options.items()
        )
        process = self._process
        if ponders and process is not None and self._game == (process, game):
            with contextlib.suppress(EngineError):
                self._send_position(process, position)

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        """Choose a legal move, whatever happens; no error comes out of here.

        A process that dies, hangs or answers nonsense is replaced, and the next one is told
        everything. Where none chooses, and after `cancel`, the first legal move is made.
        """
        for _ in range(ATTEMPTS):
            if cancel.is_set():
                break
            limit, patience = think.limit(self._clock())
            try:
                result = self.play(
                    think.position, limit, game=game, patience=patience, cancel=cancel
                )
                if result.move in think.moves:
                    return result
                raise EngineError(
                    f"{self.name} answers {result.move[:20]!r}, which is not a legal move"
                )
            except EngineError as error:
                self.on_warning(f"{error}; {STARTING_ANEW}")
                self.kill()
        if not cancel.is_set():
            self.on_warning(NO_ENGINE)
        return PlayResult(think.moves[0])

    # -- questions --------------------------------------------------------------------------

    def belief(self, position: Position | None = None, count: int = 0) -> BeliefAnswer | None:
        """Ask how many positions are possible, and for `count` of them.

        position: where; None: in the last one. None is returned if the engine does not say it.
        Raises EngineError.
        """
        self._set_position(position)
        lines = self._ask(f"belief {count}", BELIEF_SECONDS, BELIEF_SILENCE_SECONDS)
        return read_belief(lines)

    def marginals(self, position: Position | None = None) -> MarginalsAnswer | None:
        """Ask how likely each enemy piece is on each square.

        position: where; None: in the last one. None is returned if the engine lacks the capability,
        or gives no answer. Raises EngineError.
        """
        self._set_position(position)
        if TELLS_MARGINALS not in self.capabilities:
            return None
        return read_marginals(self._ask("marginals", BELIEF_SECONDS, BELIEF_SILENCE_SECONDS))

    def coverage(self, board: chess.Board) -> Coverage | None:
        """Ask what the last search knew of a position, such as the true one.

        None: the engine lacks the capability, or gives no answer. Raises EngineError.
        """
        if TELLS_COVERAGE not in self.capabilities:
            return None
        fen = board.epd(shredder=board.chess960, en_passant="legal")
        return read_coverage(self._ask(f"coverage {fen}"))

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Ask what the last search thinks of a move, and of another one; None: of the best other.

        None is returned if the engine lacks the capability, or gives no answer. Raises EngineError.
        """
        if COMPARES not in self.capabilities:
            return None
        return read_comparison(self._ask(f"compare {move} {other or ''}".rstrip()))

    # -- inside -----------------------------------------------------------------------------

    def _set_position(self, position: Position | None) -> None:
        """Send a position, if there is one."""
        if position is not None:
            with self._killed_on_error():
                self._send_position(self.start(), position)

    def _ask(
        self, question: str, seconds: float | None = None, silence: float | None = None
    ) -> list[str]:
        with self._killed_on_error():
            process = self.start()
            process.send(question)
            process.send("isready")  # so that an engine that does not know the question answers
            patience = ANSWER_SECONDS if seconds is None else seconds
            *lines, _ = process.until("readyok", patience, silence)
        self._warn_of(lines)
        return lines

    def _position_text(self, position: Position) -> str:
        if isinstance(position, str):
            return position
        if isinstance(position, Account):
            if not self.reads_observations:
                raise EngineError(f"{self.name} has no capability {READS_OBSERVATIONS}")
            return account_position(position)
        if self.reads_observations:
            return account_position(Account(position, position.turn))
        return whole_position(position)

    def _send_position(self, process: UciProcess, position: Position) -> None:
        text = self._position_text(position)
        self._set_chess960(process, text)
        process.send(text)

    def _set_chess960(self, process: UciProcess, text: str | None) -> None:
        """Switch UCI_Chess960 on or off for a position, if the engine has this option."""
        if text is None or CHESS960.lower() not in process.options or self._has_set(CHESS960):
            return
        fen = text.partition("fen ")[2]
        wanted = is_hidden(fen) or names_files(fen)
        if self._chess960 != (process, wanted):
            if wanted or self._chess960 == (process, True):
                process.set_option(CHESS960, str(wanted).lower())
            self._chess960 = process, wanted

    def _has_set(self, option: str) -> bool:
        """Whether the caller has set an option."""
        return option.lower() in (name.lower() for name in self._options)

    def _warn_of(self, lines: Sequence[str]) -> tuple[str, ...]:
        """Pass on the warnings and errors among the engine's lines, and return them."""
        found = tuple(
            line.removeprefix("info string ")
            for line in lines
            if line.startswith(("info string warning", "info string error"))
        )
        for text in found:
            self.on_warning(text)
        return found

    @contextlib.contextmanager
    def _killed_on_error(self) -> Iterator[None]:
        try:
            yield
        except EngineError:
            self.kill()
            raise

    def _taken(self) -> UciProcess | None:
        with self._lock:
            process, self._process = self._process, None
        return process


def _reported(lines: Iterable[str], on_report: Callable[[Report], None] | None) -> Iterator[str]:
    """Pass on the lines of a search, and call on_report after the last line of each report."""
    report = Report()
    for line in lines:
        yield line
        if on_report is not None:
            report = report.with_line(line)
            if line.startswith("info string play "):
                on_report(report)


def _offers(process: UciProcess, option: str, choice: str) -> bool:
    """Whether an engine declares an option with a choice."""
    return f"var {choice}" in process.options.get(option.lower(), "")


def _plays_fog_of_war(process: UciProcess) -> bool:
    return _offers(process, VARIANT_OPTION, VARIANT) or READS_OBSERVATIONS in process.capabilities
