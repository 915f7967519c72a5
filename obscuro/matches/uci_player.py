"""A UCI engine as a player: a process that is told what it asks to be told, and no more."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence

import chess

from obscuro.client.coverage import read_coverage
from obscuro.client.move_report import Report
from obscuro.client.restartable_engine import RestartableEngine
from obscuro.client.told_game import OwnGame, whole_game
from obscuro.client.uci_process import EngineError, MachineFault, SilentEngineError, UciProcess
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import (
    EVERYTHING,
    OWN_OBSERVATIONS,
    BeliefError,
    Forfeit,
    LateForfeit,
    Turn,
)
from obscuro.matches.time_control import Allowance
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.stalemate import DRAW

GRACE_SECONDS = 20.0
"""An engine that is later than this has hung, and loses."""
COVERAGE_SECONDS = 60.0
"""The most seconds that an engine may take to answer `coverage`; ours takes milliseconds."""
READS_OBSERVATIONS = "position-fog"
TELLS_COVERAGE = "coverage"
"""The words of the line `info string capabilities` (docs/protocol.md)."""
SEED = "Seed"
STALEMATE = "Stalemate"
_MOST = re.compile(r"\btype spin\b.*\bmax ([1-9]\d*)\b")


class UciPlayer:
    """An engine in its own process.

    An engine with the capability `position-fog` is told its own moves and what it saw. Every other
    engine is told the whole game, as a GUI would do. The first game starts the process; a later
    game starts it again if it has died.

    options: the options to set at every start. An engine with the option `Seed` gets each game's own
    seed, and one with the option `Stalemate` the board's rule, unless they set one. coverage: after
    each search, ask an engine with the capability `coverage` what it knew of the true position. This
    time is not part of the turn.
    on_warning: receives the engine's warnings and errors.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        options: Mapping[str, str] | None = None,
        coverage: bool = False,
        grace: float = GRACE_SECONDS,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        self._name = name
        self._coverage = coverage
        self._grace = grace
        self._warn = on_warning or (lambda text: None)
        self._engine = RestartableEngine(
            command, options or {}, lambda text: self._warn(f"{self.name}: {text}")
        )
        ponders = [name for name, value in (options or {}).items() if value.lower() == "true"]
        self._ponders = "ponder" in [name.lower() for name in ponders]
        self._own_options = {name.lower() for name in options or {}}
        self._own_game: OwnGame | None = None  # None: the engine is told everything
        self._side: chess.Color = chess.WHITE

    @property
    def name(self) -> str:
        """The name that the caller gave, else the engine's own name."""
        return self._name if self._name is not None else self._engine.name

    @property
    def told(self) -> str:
        """What the engine is told in this game. Before the first game nothing is known of that."""
        return EVERYTHING if self._own_game is None else OWN_OBSERVATIONS

    @property
    def knows_variant(self) -> bool:
        """Whether the running engine offers Fog of War chess."""
        return self._engine.knows_variant

    @property
    def pid(self) -> int | None:
        """The process's id; None if no process runs."""
        return self._engine.pid

    def start(self) -> None:
        """Start the process if none runs, and wait until it can search. Raises EngineError."""
        if self._engine.process is None:
            process = self._engine.running()
            if not (self.knows_variant or READS_OBSERVATIONS in process.capabilities):
                self._warn(
                    f"{self.name} does not offer Fog of War chess (UCI_Variant fogofwar); "
                    "it is told the whole game and may play by other rules"
                )
        self._engine.prepare()

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Send `ucinewgame` to a running engine, or start one. Raises EngineError."""
        has_run = self._engine.process is not None
        try:
            if self._engine.process is not None:
                self._engine.process.send("ucinewgame")
            self.start()
        except EngineError:
            self._engine.kill()
            if not has_run:
                raise
            self.start()  # it may have died between the games
        self._set_seed(seed)
        self._set_stalemate(board.stalemate)
        process = self._engine.process
        private = process is not None and READS_OBSERVATIONS in process.capabilities
        self._own_game = OwnGame(board, color) if private else None
        self._side = color

    def _set_seed(self, seed: int) -> None:
        """Give the game's seed to an engine that has a number as its option `Seed`.

        A seed that the user has set stays. Raises EngineError.
        """
        process = self._engine.process
        if process is None or SEED.lower() in self._own_options:
            return
        most = _MOST.search(process.options.get(SEED.lower(), ""))
        if most is not None:
            process.set_option(SEED, str(1 + seed % int(most[1])))

    def _set_stalemate(self, stalemate: str) -> None:
        """Tell the engine what a side without a move gets, if it has an option for that.

        What the user has set stays. Raises EngineError.
        """
        process = self._engine.process
        if process is None or STALEMATE.lower() in self._own_options:
            return
        if f"var {stalemate}" in process.options.get(STALEMATE.lower(), ""):
            process.set_option(STALEMATE, stalemate)
        elif stalemate == DRAW:
            self._warn(
                f"{self.name} has no option Stalemate with the choice draw, so it is not told "
                "that a side without a move draws"
            )

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Let the engine search.

        Raises Forfeit if it dies, LateForfeit if it hangs, MachineFault if something outside kills
        it, and BeliefError.
        """
        process = self._engine.process
        if process is None:
            raise Forfeit("has no engine")
        try:
            begin = time.monotonic()
            process.send(whole_game(board) if self._own_game is None else self._own_game.text)
            process.send(f"go {allowance.words}")
            patience = allowance.most / 1000 + self._grace
            *lines, last = process.until("bestmove", patience)
            seconds = time.monotonic() - begin
            self._engine.report_warnings(lines)
            report = Report.of_lines(lines)
            coverage = self._ask_coverage(board, process)
        except MachineFault:
            self._engine.kill()
            raise
        except EngineError as error:
            self._engine.kill()
            late = isinstance(error, SilentEngineError)
            raise (LateForfeit if late else Forfeit)(f"forfeits: {error}") from error
        checks = int(self._is_covered(board, report, coverage))
        words = last.split()
        return Turn(words[1] if len(words) > 1 else "", seconds, report, checks, coverage)

    def _ask_coverage(self, board: FogOfWarBoard, process: UciProcess) -> Coverage | None:
        """Ask what the last search knew of the true position; None: no answer is to be had.

        Raises EngineError if the engine says nothing at all, or is gone.
        """
        if not self._coverage or TELLS_COVERAGE not in process.capabilities:
            return None
        process.send(f"coverage {board.epd(en_passant='legal')}")
        said = process.lines(COVERAGE_SECONDS, awaited="answer to coverage")
        answer = next(
            line for line in said if line.startswith(("info string coverage", "info string error"))
        )
        coverage = read_coverage(answer)
        if coverage is None:
            self._engine.report_warnings([answer])
        return coverage

    def _is_covered(self, board: FogOfWarBoard, report: Report, coverage: Coverage | None) -> bool:
        """Whether a belief that calls itself exact has the true position. Raises BeliefError."""
        if coverage is None or not report.exact:
            return False
        if not coverage.in_belief:
            raise BeliefError(
                f"{self.name} has {report.belief} positions in its belief, but not the true one: "
                f"{board.epd(en_passant='legal')} after {whole_game(board)}"
            )
        return True

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Note what the side did and saw. An engine that ponders by itself is told at once."""
        if self._own_game is None:
            return
        self._own_game.append(board)
        process = self._engine.process
        if self._ponders and board.turn != self._side and process is not None:
            with contextlib.suppress(EngineError):  # `choose` meets it again, and it counts there
                process.send(self._own_game.text)

    def interrupt(self) -> None:
        """Kill the engine for good, from any thread; a turn under way ends with Forfeit."""
        self._engine.kill()
        self._engine.close()  # so that nobody starts it again

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not."""
        self._engine.close()
