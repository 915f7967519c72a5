"""What players that keep a belief and ask one evaluator have in common: the evaluator's life."""

from abc import abstractmethod
from collections.abc import Callable
from threading import Event

from obscuro.belief.belief import warm_up
from obscuro.belief.buffers import Buffers
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.game_follower import GameFollower, OwnTurn, Report, Words
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, GoLimits
from obscuro.evaluation.cache import ExpansionCache
from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.factory import make_evaluator
from obscuro.kernel_cache import kernel_files
from obscuro.kernel_warmup import play_trial_game, trial_options
from obscuro.machine import MEBIBYTE

_GAME_OPTIONS = (
    "Evaluator",
    "Stockfish",
    "tau",
    "eval_cache",
    "Stalemate",
    "child_depth",
    "baseline",
)


class BeliefPlayer(GameFollower):
    """Plays one side of one game at a time: an `AnyPlayer`.

    options: of the player's kind; it needs `Seed`, `Max Positions`, `Move Overhead`, `Evaluator`,
    `Stockfish`, `tau` and `Stalemate`, and has a cache of evaluations if there is an `eval_cache`.
    warn: called with one line for each thing that a user should know.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        super().__init__(options, warn)
        self._buffers = Buffers()
        self._game: ChessGame | None = None
        self._last_value = 0.0  # ours, when the last move was chosen

    # -- what a subclass adds --------------------------------------------------------------------

    @abstractmethod
    def forget(self) -> None:
        """Forget all of earlier turns: a new game begins, or our place in the game is unknown."""

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        old, self.options = self.options, options.effective()
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
        kernel_files().note_complete(type(self).__module__, self.options.text("Evaluator"))

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
        """Start a game in which we play `side` (0 = White).

        start: uint64[8] or uint64[n, 8], see `GameFollower.new_game`.
        """
        self._last_value = 0.0
        self.forget()
        if self._game is not None:
            self._game.evaluator.forget()
        self.follow(
            side,
            start,
            threads=1,
            buffers=self._buffers,
            lost_place=self.forget,
        )

    # -- the turn --------------------------------------------------------------------------------

    @abstractmethod
    def choose_move(self, turn: OwnTurn) -> Choice:
        """Choose one of several moves; `game` is set up for the turn."""

    def choose(self, turn: OwnTurn) -> Choice:
        """Choose one of several moves, none of which captures the king for certain."""
        self.game.set_turn(turn.known.side, turn.known.repeated())
        return self.choose_move(turn)

    @property
    def last_value(self) -> float:
        """Our value when the last move was chosen, [-1, 1]; 0 if there was none."""
        return self._last_value

    def search(self, limits: GoLimits, stop: Event, report: Report | None = None) -> Choice:
        """Choose a move; see `GameFollower.search`."""
        choice = super().search(limits, stop, report)
        self._last_value = 0.0 if choice.info is None else choice.info.value
        return choice

    @property
    def game(self) -> ChessGame:
        """The game with the evaluator; the first use makes it."""
        if self._game is None:
            self._game = ChessGame(self.new_evaluator(), self.options.text("Stalemate"))
        return self._game

    def new_evaluator(self) -> Evaluator:
        """Make the evaluator that the options name."""
        options = self.options
        size = options.integer("eval_cache") * MEBIBYTE if "eval_cache" in options else 0
        return make_evaluator(
            options.text("Evaluator"),
            stockfish=options.text("Stockfish") or None,
            tau=options.number("tau"),
            cache=ExpansionCache(size) if size else None,
            on_warning=self.warn,
        )

    @property
    def evaluator(self) -> str:
        """The evaluator's name, such as `stockfish, Stockfish 15.1`; empty before `prepare`."""
        if self._game is None:
            return ""
        evaluator = self._game.evaluator
        version = getattr(evaluator, "engine_name", None)
        return f"{evaluator.name}, {version}" if version else evaluator.name
