"""The players: a random mover, a UCI engine in a process, and our engine in this process."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

import chess

from obscuro.arena.game_record import (
    EVERYTHING,
    OWN_OBSERVATIONS,
    BeliefError,
    Forfeit,
    LateForfeit,
    Turn,
)
from obscuro.arena.move_report import Report
from obscuro.arena.restartable_engine import RestartableEngine
from obscuro.arena.time_control import Allowance
from obscuro.arena.uci_process import EngineError, MachineFault, SilentEngineError, UciProcess
from obscuro.engine.report import Choice, GoLimits, SearchInfo
from obscuro.fog.account import PlyListener, last_ply
from obscuro.fog.board import FogOfWarBoard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

GRACE_SECONDS = 20.0
"""An engine that is later than this has hung, and loses."""
LARGEST_LISTED_BELIEF = 20_000
"""`UciPlayer` does not look for the true position in a larger belief."""
LISTING_SECONDS = 60.0
"""The most seconds that an engine may take to list its belief."""


class RandomPlayer:
    """Plays every legal move with the same probability. It looks at nothing but the legal moves."""

    told = OWN_OBSERVATIONS

    def __init__(self, name: str = "random") -> None:
        self.name = name
        self._random = random.Random(0)

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start a sequence of random moves that depends on the seed alone."""
        self._random = random.Random(seed)

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move at once."""
        return Turn(self._random.choice(sorted(move.uci() for move in board.legal_moves)))

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Do nothing: the player remembers nothing."""

    def close(self) -> None:
        """Do nothing: the player holds no resources."""


class UciPlayer:
    """An engine in its own process, which receives the whole game as a GUI would send it.

    The first game starts the process; a later game starts it again if it has died.

    options: the options to set at every start. check_belief: after each search, ask the engine for
    its belief by the command `belief` and look for the true position in it, if the belief is exact
    and not too large. This time is not part of the turn. on_warning: receives the engine's warnings
    and errors.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        options: Mapping[str, str] | None = None,
        check_belief: bool = False,
        grace: float = GRACE_SECONDS,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        self._name = name
        self._check_belief = check_belief
        self._grace = grace
        self._warn = on_warning or (lambda text: None)
        self._engine = RestartableEngine(
            command, options or {}, lambda text: self._warn(f"{self.name}: {text}")
        )

    @property
    def name(self) -> str:
        """The name that the caller gave, else the engine's own name."""
        return self._name if self._name is not None else self._engine.name

    @property
    def told(self) -> str:
        """What the engine is told: everything."""
        return EVERYTHING

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
            self._engine.running()
            if not self.knows_variant:
                self._warn(f"{self.name} does not offer Fog of War chess (UCI_Variant fogofwar)")
        self._engine.prepare()

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Send `ucinewgame` to a running engine, or start one. Raises EngineError."""
        try:
            if self._engine.process is not None:
                self._engine.process.send("ucinewgame")
            self.start()
        except EngineError:  # the engine may have died between the games
            self._engine.kill()
            self.start()

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
            process.send(_position(board))
            process.send(f"go {allowance.words}")
            patience = allowance.most / 1000 + self._grace
            *lines, last = process.until("bestmove", patience)
            seconds = time.monotonic() - begin
            self._engine.report_warnings(lines)
            report = Report.of_lines(lines)
            checks = int(self._check_belief and self._check(board, report, process))
        except MachineFault:
            self._engine.kill()
            raise
        except EngineError as error:
            self._engine.kill()
            late = isinstance(error, SilentEngineError)
            raise (LateForfeit if late else Forfeit)(f"forfeits: {error}") from error
        words = last.split()
        return Turn(words[1] if len(words) > 1 else "", seconds, report, checks)

    def _check(self, board: FogOfWarBoard, report: Report, process: UciProcess) -> bool:
        """Look for the true position; return whether that was possible. Raises BeliefError."""
        if not report.exact or report.belief is None or report.belief > LARGEST_LISTED_BELIEF:
            return False
        listed = self._listed_belief(process)
        truth = board.epd(en_passant="legal")
        if truth not in listed:
            raise BeliefError(
                f"{self.name} has {len(listed)} positions in its belief, but not the true one: "
                f"{truth} after {_position(board)}"
            )
        return True

    @staticmethod
    def _listed_belief(process: UciProcess) -> set[str]:
        """Ask the engine for all positions of its belief. Raises EngineError."""
        process.send(f"belief {LARGEST_LISTED_BELIEF}")
        size, fen = "info string belief size ", "info string belief fen "
        expected: int | None = None
        listed: set[str] = set()
        for line in process.lines(LISTING_SECONDS, awaited="belief"):
            if line.startswith("info string error"):
                raise EngineError(f"{process.name} can't list its belief: {line}")
            if line.startswith(size):
                expected = int(line.removeprefix(size).split()[0])
            elif line.startswith(fen):
                listed.add(line.removeprefix(fen))
            if len(listed) == expected:
                break
        return listed

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Do nothing: `choose` sends the whole game."""

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not."""
        self._engine.close()


def _position(board: FogOfWarBoard) -> str:
    root = board.root()
    start = "startpos" if root.fen() == board.starting_fen else f"fen {root.fen()}"
    moves = " ".join(move.uci() for move in board.move_stack)
    return f"position {start} moves {moves}" if moves else f"position {start}"


class EnginePlayer(PlyListener, Protocol):
    """The part of `obscuro.engine.player.Player` that the arena and the command line use."""

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Compile the kernels and start the evaluators."""

    def new_game(self, side: int, start: npt.NDArray[np.uint64]) -> None:
        """Forget the last game and play `side` (0 White) from `start`, uint64[8].

        Both sides know the starting position.
        """

    def update(self) -> None:
        """Bring the belief up to date."""

    def search(
        self,
        limits: GoLimits,
        stop: threading.Event,
        report: Callable[[SearchInfo], None],
    ) -> Choice:
        """Choose a move."""

    @property
    def belief_size(self) -> int:
        """|P|, the number of positions in the belief."""

    @property
    def belief_exact(self) -> bool:
        """Whether P holds every position that fits the observations."""

    def belief_contains(self, words: npt.NDArray[np.uint64]) -> bool:
        """Return whether the position `words`, uint64[8], is in P."""

    def close(self) -> None:
        """Release the evaluators and all memory."""


class InProcessPlayer:
    """Our engine in this process. It learns only what its side sees.

    player: the engine; `close` closes it. check_belief: after every ply of both sides, update the
    belief, look for the true position in it, and raise BeliefError if an exact belief lacks it.
    The clock does not count this time, so the measured times then mean less.
    """

    told = OWN_OBSERVATIONS

    def __init__(
        self, player: EnginePlayer, *, name: str = "obscuro", check_belief: bool = False
    ) -> None:
        self.name = name
        self.player = player
        self._check_belief = check_belief
        self._color: chess.Color = chess.WHITE
        self._checks = 0

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start a new game from this position."""
        from obscuro.board.position import from_board  # noqa: PLC0415 - loads numba

        self._color = color
        self._checks = 0
        self.player.new_game(0 if color == chess.WHITE else 1, from_board(board))

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Search. On Ctrl-C, stop the search first and then raise KeyboardInterrupt."""
        begin = time.monotonic()
        stop = threading.Event()
        reports: list[SearchInfo] = []
        limits = allowance.limits(begin)
        with ThreadPoolExecutor(max_workers=1) as executor:
            future = executor.submit(self.player.search, limits, stop, reports.append)
            try:
                choice = future.result()
            except BaseException:
                stop.set()
                raise
        seconds = time.monotonic() - begin
        info = choice.info or (reports[-1] if reports else None)
        report = Report.of_search(info) if info is not None else None
        checks, self._checks = self._checks, 0
        return Turn(choice.move or "(none)", seconds, report, checks)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Pass this side's observation to the engine. Raises BeliefError."""
        last_ply(board, self._color).tell(self.player)
        if self._check_belief:
            self._check(board)

    def _check(self, board: FogOfWarBoard) -> None:
        from obscuro.board.position import from_board  # noqa: PLC0415 - loads numba

        self.player.update()
        if not self.player.belief_exact:
            return
        if not self.player.belief_contains(from_board(board)):
            raise BeliefError(
                f"{self.name} ({chess.COLOR_NAMES[self._color]}) has {self.player.belief_size} "
                f"positions in its belief, but not the true one: {board.epd(en_passant='legal')} "
                f"after {_position(board)}"
            )
        self._checks += 1

    def close(self) -> None:
        """Close the engine."""
        self.player.close()
