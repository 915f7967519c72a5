"""What players that keep a belief and ask one evaluator have in common.

A subclass says how it chooses a move. It works in one thread. Everything else is here: the game as
one side lives it, the clock, moves that need no thought, and the evaluator's life.
"""

import time
from abc import abstractmethod
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

from obscuro.belief.belief import warm_up
from obscuro.belief.buffers import Buffers
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.constants import BELIEF_SHARE
from obscuro.engine.game_follower import GameFollower, LastTurn, Words
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.machine import MEBIBYTE
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, GoLimits, SearchInfo
from obscuro.engine.turn_time import share_of, turn_time
from obscuro.evaluation.cache import ExpansionCache
from obscuro.evaluation.factory import make_evaluator
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.kernel_warmup import play_trial_game, trial_options
from obscuro.rules.layout import STATE
from obscuro.rules.position import move_to_uci

Report = Callable[[SearchInfo], None]

_GAME_OPTIONS = ("Evaluator", "Stockfish", "tau", "eval_cache", "Stalemate")


class OwnTurn(NamedTuple):
    """A turn in which there is a choice.

    known: up to date. names: our moves in UCI, in the generator's order. deadline: the second of
    `time.monotonic` at which the turn ends; None: it has no limit of time. report: takes a report.
    tau: the pawns worth tanh(1).
    """

    known: Knowledge
    names: list[str]
    limits: GoLimits
    deadline: float | None
    stop: Event
    report: Report
    tau: float

    def info(
        self,
        value: float,
        play: list[tuple[str, float]],
        *,
        positions: int = 0,
        evaluations: int = 0,
    ) -> SearchInfo:
        """Return the report of a look one ply ahead.

        value: ours, [-1, 1]. play: moves and their probabilities, the largest first. positions: how
        many of P were looked at. evaluations: children that were evaluated.
        """
        return SearchInfo(
            depth=1,
            seldepth=1,
            nodes=evaluations,
            milliseconds=int((time.monotonic() - self.limits.received) * 1000),
            value=value,
            centipawns=centipawns_of_value(value, self.tau),
            line=[play[0][0]],
            belief=len(self.known.belief),
            exact=bool(self.known.belief.exact),
            sampled=positions,
            carried=0,
            infosets=1,
            iterations=0,
            expansions=positions,
            evaluations=evaluations,
            gadget="none",
            roots=positions,
            policy=play,
            play=play,
        )

    def is_over(self, ahead: float = 0.0) -> bool:
        """Whether the time will be up in `ahead` seconds, or `stop` is set."""
        return self.stop.is_set() or (
            self.deadline is not None and time.monotonic() + ahead >= self.deadline
        )


class BeliefPlayer(GameFollower):
    """Plays one side of one game at a time: an `AnyPlayer`.

    options: of the player's kind; it needs `Seed`, `Max Positions`, `Move Overhead`, `Evaluator`,
    `Stockfish`, `tau` and `Stalemate`, and has a cache of evaluations if there is an `eval_cache`.
    warn: called with one line for each thing that a user should know.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        super().__init__(warn)
        self.options = options.copy()
        self._buffers = Buffers()
        self._game: ChessGame | None = None
        self._last_value = 0.0  # ours, when the last move was chosen

    # -- what a subclass adds --------------------------------------------------------------------

    @abstractmethod
    def choose(self, turn: OwnTurn) -> Choice:
        """Choose one of several moves, none of which captures the king for certain."""

    @abstractmethod
    def forget(self) -> None:
        """Forget all of earlier turns: a new game begins, or our place in the game is unknown."""

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        old, self.options = self.options, options.copy()
        names = [name for name in _GAME_OPTIONS if name in options]
        if any(old.get(name) != options.get(name) for name in names):
            self.close()

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all kernels and start the evaluator, so that a search starts at once.

        progress: called with a few words on what comes next.
        """
        tell = progress or (lambda text: None)
        tell("following a belief")
        warm_up()
        play_trial_game(lambda options: self._trial_player(), tell)
        tell("starting the evaluator")
        self.game.evaluator.start()

    def _trial_player(self) -> "BeliefPlayer":
        """Return another player of this kind with the options of a trial."""
        options, trial = Options(self.options.table), trial_options()
        for option in options.table:
            if option.name in trial:
                options.set(option.name, str(trial.get(option.name)))
        return type(self)(options, lambda text: None)

    def close(self) -> None:
        """End all child processes. The game stays; a search makes them anew."""
        if self._game is not None:
            self._game.evaluator.close()
        self._game = None
        self.forget()

    # -- the game --------------------------------------------------------------------------------

    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White) from a position both sides know.

        start: uint64[8].
        """
        self._last_value = 0.0
        self.forget()
        if self._game is not None:
            self._game.evaluator.forget()
        self.follow(
            side,
            start,
            self.options,
            threads=1,
            buffers=self._buffers,
            lost_place=self.forget,
        )

    # -- the turn --------------------------------------------------------------------------------

    def search(self, limits: GoLimits, stop: Event, report: Report | None = None) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        The choice holds no move if there is none, or if `stop` is set before the belief is up to
        date. Raises GameError if what was told does not fit, or if it is not our turn.
        """
        self.last_turn = None
        last_value, self._last_value = self._last_value, 0.0
        known = self.knowledge
        turn = turn_time(limits, known.side, self.options.integer("Move Overhead"))
        deadline = None if turn is None else turn.deadline
        if not known.update(share_of(deadline, limits.received, BELIEF_SHARE), stop):
            return Choice(None)
        if int(known.any_position()[STATE]) & 1 != known.side:
            raise GameError("it is not our side's turn")
        moves = known.legal_moves()
        if not len(moves):
            return Choice(None)
        names = [move_to_uci(move) for move in moves]
        own = OwnTurn(known, names, limits, deadline, stop, report or (lambda info: None), self.tau)
        forced = known.forced_move(moves)
        if forced is None:
            self.game.set_turn(known.side, known.repeated())
            choice = self.choose(own)
        else:
            index, captures_king = forced
            value = 1.0 if captures_king else last_value
            info = own.info(value, [(names[index], 1.0)])
            own.report(info)
            choice = Choice(names[index], info=info)
        self._last_value = choice.info.value if choice.info is not None else 0.0
        self.last_turn = LastTurn(known.plies, searched=forced is None)
        return choice

    @property
    def game(self) -> ChessGame:
        """The game with the evaluator; the first use makes it."""
        if self._game is None:
            options = self.options
            size = options.integer("eval_cache") * MEBIBYTE if "eval_cache" in options else 0
            self._game = ChessGame(
                make_evaluator(
                    options.text("Evaluator"),
                    stockfish=options.text("Stockfish") or None,
                    tau=self.tau,
                    cache=ExpansionCache(size) if size else None,
                    on_warning=self.warn,
                ),
                options.text("Stalemate"),
            )
        return self._game

    @property
    def evaluator(self) -> str:
        """The evaluator's name, such as `stockfish, Stockfish 15.1`; empty before `prepare`."""
        if self._game is None:
            return ""
        evaluator = self._game.evaluator
        version = getattr(evaluator, "engine_name", None)
        return f"{evaluator.name}, {version}" if version else evaluator.name

    @property
    def tau(self) -> float:
        """The pawns worth tanh(1)."""
        return self.options.number("tau")
