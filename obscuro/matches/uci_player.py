"""A UCI engine as a player: it is told what it asks to be told, and no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import chess

from obscuro.client.engine import GRACE_SECONDS, Engine
from obscuro.client.move_report import Report
from obscuro.client.uci_process import EngineError, MachineFault, SilentEngineError
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
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import whole_position


class UciPlayer:
    """An engine in its own process.

    An engine with the capability `position-fog` is told its own moves and what it saw. Every other
    engine is told the whole game, as a GUI would do. The first game starts the process; a later
    game starts it again if it has died.

    options: the options to set at every start. An engine with the option `Seed` gets each game's own
    seed, and one with the option `Stalemate` the board's rule, unless they set one. coverage: after
    each search, ask an engine with the capability `coverage` what it knew of the true position. This
    time is not part of the turn. grace: an engine that is later than these seconds loses. on_warning:
    receives the engine's warnings and errors.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str | None = None,
        options: Mapping[str, str] | None = None,
        coverage: bool = False,
        grace: float = GRACE_SECONDS,
        on_warning: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._name = name
        self._coverage = coverage
        self._grace = grace
        self._warn = on_warning
        self._warned = False  # that it does not offer the variant
        self._engine = Engine(
            command,
            options,
            any_variant=True,
            on_warning=lambda text: on_warning(f"{self.name}: {text}"),
        )
        self._account: Account | None = None  # None: the engine is told everything
        self._side: chess.Color = chess.WHITE

    @property
    def name(self) -> str:
        """The name that the caller gave, else the engine's own name."""
        return self._name if self._name is not None else self._engine.name

    @property
    def told(self) -> str:
        """What the engine is told in this game. Before the first game nothing is known of that."""
        return EVERYTHING if self._account is None else OWN_OBSERVATIONS

    @property
    def pid(self) -> int | None:
        """The process's id; None if no process runs."""
        return self._engine.pid

    def start(self) -> None:
        """Start the process if none runs, and wait until it can search. Raises EngineError."""
        self._engine.prepare()
        if not (self._engine.plays_fog_of_war or self._warned):
            self._warned = True
            self._warn(
                f"{self.name} does not offer Fog of War chess (UCI_Variant fogofwar); "
                "it is told the whole game and may play by other rules"
            )

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Begin a game, with a process that runs or a new one. Raises EngineError."""
        if self._engine.pid is None:
            self.start()
        self._engine.new_game(seed=seed, stalemate=board.stalemate)
        self._account = Account(board, color) if self._engine.reads_observations else None
        self._side = color

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Let the engine search.

        Raises Forfeit if it dies, LateForfeit if it hangs, MachineFault if something outside kills
        it, and BeliefError.
        """
        if self._engine.pid is None:
            raise Forfeit("has no engine")
        try:
            found = self._engine.play(
                self._account or board,
                allowance.limit,
                patience=allowance.most / 1000 + self._grace,
            )
            coverage = self._engine.coverage(board) if self._coverage else None
        except MachineFault:
            raise
        except EngineError as error:
            late = isinstance(error, SilentEngineError)
            raise (LateForfeit if late else Forfeit)(f"forfeits: {error}") from error
        checks = int(self._is_covered(board, found.report, coverage))
        return Turn(found.move, found.seconds, found.report, checks, coverage)

    def _is_covered(self, board: FogOfWarBoard, report: Report, coverage: Coverage | None) -> bool:
        """Whether a belief that calls itself exact has the true position. Raises BeliefError."""
        if coverage is None or not report.exact:
            return False
        if not coverage.in_belief:
            raise BeliefError(
                f"{self.name} has {report.belief} positions in its belief, but not the true one: "
                f"{board.epd(en_passant='legal')} after {whole_position(board)}"
            )
        return True

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Note what the side did and saw. An engine that ponders by itself is told at once."""
        if self._account is None:
            return
        self._account.append(board)
        if board.turn != self._side:
            self._engine.watch(None, self._account)

    def interrupt(self) -> None:
        """Kill the engine for good, from any thread; a turn under way ends with Forfeit."""
        self._engine.close(at_once=True)

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not."""
        self._engine.close()
