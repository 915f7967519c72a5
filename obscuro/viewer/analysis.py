"""An engine looks at a game that is over, turn by turn, with what the side to move knew.

It is told no more than a player is told (`position fog`). The true position comes into a question
only after the search, and the engine does not use the answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import chess
import chess.pgn

from obscuro.client.compared_moves import read_comparison
from obscuro.client.coverage import read_coverage
from obscuro.client.move_report import Report
from obscuro.client.restartable_engine import RestartableEngine
from obscuro.client.told_game import OwnGame
from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.advice import Consultation, shown_advice
from obscuro.viewer.document import ShownAdvice, ShownAnalysis
from obscuro.viewer.game_file import first_board, stalemate_rule
from obscuro.viewer.two_beliefs import goes_on

NEEDED = frozenset({"position-fog", "coverage", "compare"})
"""What an engine must be able to do (docs/protocol.md, "Capabilities")."""

BELIEF_SECONDS = 600.0
"""The most seconds for working out which positions are possible, before the search."""
BELIEF_SILENCE_SECONDS = 120.0
GRACE_SECONDS = 20.0
"""An engine that is later than this with its move has hung."""
NODES_SECONDS = 600.0
"""The most seconds of a search that is limited by nodes alone."""
ANSWER_SECONDS = 60.0
"""The most seconds for a question after the search; ours takes milliseconds."""

_TRIES = 2
_STALEMATE = "Stalemate"
_ERROR = "info string error"


class AnalysisError(Exception):
    """There can be no analysis of a game or a position. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class SearchLimit:
    """How long each search may take; with both limits, until the first is reached.

    milliseconds: without the time for the belief. nodes: histories added to the tree. Raises
    ValueError without a limit, or for one below 1.
    """

    milliseconds: int | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        """Check the limits."""
        limits = [limit for limit in (self.milliseconds, self.nodes) if limit is not None]
        if not limits or min(limits) < 1:
            raise ValueError("a search needs a limit of at least 1 ms or 1 node")

    @property
    def command(self) -> str:
        """The command that starts such a search."""
        time_limit = "" if self.milliseconds is None else f" movetime {self.milliseconds}"
        return f"go{time_limit}" + ("" if self.nodes is None else f" nodes {self.nodes}")

    @property
    def patience(self) -> float:
        """The most seconds to wait for the move."""
        seconds = NODES_SECONDS if self.milliseconds is None else self.milliseconds / 1000
        return seconds + GRACE_SECONDS

    def __str__(self) -> str:
        """Return the limit in words."""
        parts = [] if self.milliseconds is None else [f"{self.milliseconds / 1000:g} s"]
        if self.nodes is not None:
            parts.append(f"{self.nodes:,} nodes")
        return f"{' or '.join(parts)} a move"


class Analyst:
    """One engine process, which is started when it is needed and replaced when it dies.

    command: the engine's. options: set at every start. Unless they say otherwise, the Seed is 1, and
    Stalemate is the game's rule (`game_file.stalemate_rule`).
    on_warning: receives the engine's warnings and errors. start: makes the process.

    Any thread may call `close`, one thread at a time the rest.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        limit: SearchLimit,
        options: Mapping[str, str] | None = None,
        on_warning: Callable[[str], None] = lambda text: None,
        start: Callable[[Sequence[str]], UciProcess] = UciProcess,
    ) -> None:
        self.limit = limit
        self._warn = on_warning
        self._closed = threading.Event()
        given = dict(options or {})
        names = {name.lower() for name in given}
        self._sets_stalemate = _STALEMATE.lower() in names
        if "seed" not in names:
            given["Seed"] = "1"
        self._engine = RestartableEngine(command, given, on_warning, start=start)
        self._name = command[0]

    @property
    def description(self) -> ShownAnalysis:
        """Who analyses, and how; the name is the engine's own once it has run."""
        return ShownAnalysis(by=self._name, limit=str(self.limit))

    def analyse(
        self,
        game: chess.pgn.Game,
        on_ply: Callable[[int, ShownAdvice | None], None] = lambda ply, advice: None,
        cancel: threading.Event | None = None,
    ) -> list[ShownAdvice | None]:
        """Return the engine's advice for each move of a game's main line.

        It is None where the engine failed twice, and from where `cancel` was set, or the analyst
        closed. White's turns come first and then Black's, so that the engine plays one side of one
        game at a time, and keeps its tree from turn to turn.

        on_ply: called after each search, with the number of the move from 0. Raises AnalysisError
        if no engine can be started that is able to do this.
        """
        moves = list(game.mainline_moves())
        found: list[ShownAdvice | None] = [None] * len(moves)
        self._start()
        for side in chess.COLORS:
            board = first_board(game)
            told = OwnGame(board, side)
            for ply, move in enumerate(moves):
                if self._closed.is_set() or (cancel is not None and cancel.is_set()):
                    return found
                if board.turn == side:
                    found[ply] = self._consulted(board, told.text, move, stalemate_rule(game))
                    on_ply(ply, found[ply])
                board.push(move)
                told.append(board)
        return found

    def advise(self, game: chess.pgn.Game, ply: int) -> ShownAdvice:
        """Return what the engine would play after `ply` plies of a game, for the side to move.

        Raises AnalysisError if there is no such position, if nobody can move in it, if the engine
        can't be started, or if it failed twice.
        """
        moves = list(game.mainline_moves())
        if not 0 <= ply <= len(moves):
            raise AnalysisError(f"the game has {len(moves)} plies, and no ply {ply}")
        board = first_board(game)
        for move in moves[:ply]:
            board.push(move)
        if not goes_on(board):
            raise AnalysisError("the game is over in this position")
        self._start()
        told = OwnGame(board, board.turn).text
        played = moves[ply] if ply < len(moves) else None
        advice = self._consulted(board, told, played, stalemate_rule(game))
        if advice is None:
            raise AnalysisError(f"{self._name} failed to search this position")
        return advice

    def close(self) -> None:
        """End the engine for good; a search under way fails."""
        self._closed.set()
        self._engine.kill()
        self._engine.close()

    def __enter__(self) -> Analyst:
        """Return the analyst itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """End the engine."""
        self.close()

    # -- inside -----------------------------------------------------------------------------

    def _start(self) -> None:
        """Start the engine if it does not run. Raises AnalysisError."""
        try:
            lacks = NEEDED - self._engine.running().capabilities
            self._name = self._engine.name
            if not lacks:
                self._engine.prepare()
                return
        except EngineError as error:
            self._engine.kill()
            raise AnalysisError(f"can't start the engine: {error}") from error
        raise AnalysisError(
            f"{self._name} can't analyse: it has no capability {', '.join(sorted(lacks))}"
        )

    def _consulted(
        self, board: FogOfWarBoard, told: str, played: chess.Move | None, stalemate: str
    ) -> ShownAdvice | None:
        """Let the engine search; start it anew and try again if it fails. None: it failed again.

        told: the command that tells the mover's game. played: the move to compare with others.
        """
        for _ in range(_TRIES):
            try:
                self._engine.prepare()
                asked = self._searched(board, told, played, stalemate)
                return shown_advice(board, asked)
            except (EngineError, ValueError) as error:
                self._engine.kill()
                if self._closed.is_set():
                    break
                where = f"{board.fullmove_number}{'.' if board.turn else '...'}"
                self._warn(f"error at {where} {error}")
        return None

    def _searched(
        self, board: FogOfWarBoard, told: str, played: chess.Move | None, stalemate: str
    ) -> Consultation:
        """Search once, and ask about the search. Raises EngineError."""
        process = self._engine.running()
        if _STALEMATE.lower() in process.options and not self._sets_stalemate:
            process.set_option(_STALEMATE, stalemate)
        process.send(told)
        process.send("belief 0")  # so that the search has its time for itself
        for line in process.lines(BELIEF_SECONDS, BELIEF_SILENCE_SECONDS, "belief"):
            if line.startswith(_ERROR):
                raise EngineError(line.removeprefix("info string "))
            if line.startswith("info string belief size"):
                break
        begin = time.monotonic()
        process.send(self.limit.command)
        *lines, last = process.until("bestmove", self.limit.patience)
        seconds = time.monotonic() - begin
        self._engine.report_warnings(lines)
        coverage = _asked(process, f"coverage {board.epd(en_passant='legal')}")
        compared = [] if played is None else _asked(process, f"compare {played.uci()}")
        return Consultation(
            self._name,
            "".join(last.split()[1:2]),
            Report.of_lines(lines),
            seconds,
            next((found for line in coverage if (found := read_coverage(line))), None),
            read_comparison(compared),
        )


def _asked(process: UciProcess, question: str) -> list[str]:
    """Ask about the last search; return the lines of the answer. Raises EngineError."""
    process.send(question)
    process.send("isready")
    return list(process.until("readyok", ANSWER_SECONDS))
