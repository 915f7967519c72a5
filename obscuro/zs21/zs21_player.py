"""ZS21 as a player of Fog of War chess, on the engine's belief, keys and evaluators.

It takes in what its side saw, and gives out moves. No hidden fact reaches it.
"""

import hashlib
import importlib.util
import time
from collections.abc import Callable
from threading import Event

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.warming import warm_up
from obscuro.board.layout import STATE
from obscuro.board.position import from_fen, move_squares, move_to_uci, to_fen
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.constants import BELIEF_SHARE
from obscuro.engine.kernel_loading import play_trial_game
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.machine import MEBIBYTE
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Coverage, GoLimits, SearchInfo
from obscuro.engine.turn_time import turn_time
from obscuro.evaluation.cache import ExpansionCache
from obscuro.evaluation.factory import make_evaluator
from obscuro.fog.observation import Observation
from obscuro.zs21.blueprint import SolvedTrunk, keep, nothing_kept
from obscuro.zs21.chess_trunk import ChessTrunkGame, fresh_keys, fresh_states
from obscuro.zs21.planting import information_price, plant
from obscuro.zs21.trunk import Trunk
from obscuro.zs21.turn_search import TurnResult, TurnSearch
from obscuro.zs21.turn_writer import TurnWriter, root_coverage
from obscuro.zs21.zs21_constants import PLANTING_SHARE

Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

_EVALUATOR_OPTIONS = ("Evaluator", "Stockfish", "Tau", "Eval Cache")


class MissingSolverError(RuntimeError):
    """HiGHS is not installed; the text is one line for the user."""


class Zs21Player:
    """Plays one side of one game at a time, in one thread.

    options: the engine's; those act that `ZS21_OPTIONS` names. warn: called with one line for each
    thing that a user should know. Raises MissingSolverError without HiGHS.

    last_search: the last turn's search, for tests and tools; None before the first,
    and after a move that needed none.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        if importlib.util.find_spec("highspy") is None:
            raise MissingSolverError(
                "zs21 needs the package highspy; install it with: pip install 'obscuro[zs21]'"
            )
        self.last_search: TurnSearch | None = None
        self._options = options.copy()
        self._warn = warn
        self._buffers = Buffers()
        self._game: ChessTrunkGame | None = None
        self._known: Knowledge | None = None
        self._solution: SolvedTrunk | None = None
        self._seed = 1
        self._chosen_at: int | None = None  # plies of the game at our last move

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; a changed evaluator is made anew."""
        old, self._options = self._options, options.copy()
        if any(old.get(name) != options.get(name) for name in _EVALUATOR_OPTIONS):
            self.close()

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all kernels and start the evaluator, so that a search starts at once.

        progress: called with a few words on what comes next.
        """
        tell = progress or (lambda text: None)
        warm_up()
        play_trial_game(lambda options: Zs21Player(options, lambda text: None), tell)
        tell("starting the evaluator")
        self._chess().game.evaluator.start()

    def close(self) -> None:
        """End all child processes and drop the tree. The game stays; a search makes them anew."""
        if self._game is not None:
            self._game.game.evaluator.close()
        self._game, self._solution = None, None

    # -- the game --------------------------------------------------------------------------------

    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White) from a position both sides know.

        start: uint64[8].
        """
        self._seed = self._options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        if self._known is not None:
            self._known.release()
        self._forget()
        self._chosen_at, self.last_search = None, None
        if self._game is not None:
            self._game.game.evaluator.forget()
        self._known = Knowledge(
            side,
            start,
            max_positions=self._options.integer("Max Positions"),
            threads=1,
            seed=self._seed,
            buffers=self._buffers,
            warn=self._warn,
            lost_place=self._forget,
        )

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `side` (0 = White) from a FEN that both sides know."""
        self.new_game(side, from_fen(fen))

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Queue our move `uci` and what we saw after it (None: we were not told)."""
        self.knowledge.own_move(uci, observation)

    def opponent_move(self, observation: Observation) -> None:
        """Queue what we saw after a move of the other side."""
        self.knowledge.opponent_move(observation)

    def update(self, deadline: float | None = None) -> None:
        """Bring the belief up to date; `search` does it by itself. See `Knowledge.update`."""
        self.knowledge.update(deadline)

    def ponder(self, stop: Event) -> None:
        """Use the other side's time for the belief: see `Knowledge.expect`."""
        self.knowledge.update(None, stop)
        self.knowledge.expect(stop)

    @property
    def seed(self) -> int:
        """The seed of all random numbers of this game: the option `Seed`, or from the clock."""
        return self._seed

    @property
    def evaluator(self) -> str:
        """The evaluator's name, such as `nnue`; empty before `prepare`."""
        if self._game is None:
            return ""
        evaluator = self._game.game.evaluator
        version = getattr(evaluator, "engine_name", None)
        return f"{evaluator.name}, {version}" if version else evaluator.name

    @property
    def knowledge(self) -> Knowledge:
        """What our side knows of the game. Raises GameError before the first game."""
        if self._known is None:
            raise GameError("no game has been started")
        return self._known

    @property
    def belief_size(self) -> int:
        """The number of possible positions."""
        return len(self.knowledge.belief)

    @property
    def belief_exact(self) -> bool:
        """Whether the belief holds exactly the positions that fit all that was seen."""
        return bool(self.knowledge.belief.exact)

    def belief_fens(self, count: int) -> list[str]:
        """The first `count` positions of the belief, in sorted order, as FENs without counters."""
        return sorted(to_fen(words) for words in self.knowledge.belief.positions)[:count]

    def belief_contains(self, words: Words) -> bool:
        """Bring the belief up to date; return whether it holds a position uint64[8]."""
        self.update()
        return bool(self.knowledge.belief.contains(words))

    def coverage_of_fen(self, fen: str) -> Coverage:
        """Say what the last search knew of a position. The question changes nothing.

        Raises GameError if no move was chosen in this game, or if the belief has gone on since.
        """
        known, searched = self.knowledge, self.last_search
        if self._chosen_at is None:
            raise GameError("there is no search to ask about")
        if self._chosen_at != known.plies:
            raise GameError("the game has gone on since the last search")
        words = from_fen(fen)
        in_belief = bool(known.belief.contains(words))
        return (
            Coverage(in_belief) if searched is None else root_coverage(searched, words, in_belief)
        )

    # -- the turn --------------------------------------------------------------------------------

    def search(
        self,
        limits: GoLimits,
        stop: Event,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        report: called after each round and at the end. The choice holds no move if there is none,
        or if `stop` is set before the belief is up to date. Raises GameError if what was told does
        not fit, or if it is not our turn.
        """
        known = self.knowledge
        turn = turn_time(limits, known.side, self._options.integer("Move Overhead"))
        deadline = None if turn is None else turn.deadline
        if not known.update(_share_of(deadline, limits.received, BELIEF_SHARE), stop):
            return Choice(None)
        if int(known.any_position()[STATE]) & 1 != known.side:
            raise GameError("it is not our side's turn")
        moves = known.legal_moves()
        if not len(moves):
            return Choice(None)
        names = [move_to_uci(move) for move in moves]
        self._chosen_at, self.last_search = known.plies, None
        forced = self._forced_move(moves)
        if forced is not None:
            return Choice(names[forced])
        writer = TurnWriter(known.belief, names, limits.received, self._tau)
        played = np.full(len(names), 1.0 / len(names))
        try:
            played = self._search_moves(limits, deadline, stop, writer, report)
        except Exception as error:  # the game must go on, and the user is told
            self._warn(f"zs21 failed and plays any move: {type(error).__name__}: {error}")
            self._forget()
        return Choice(names[int(self._random().choice(len(names), p=played))], info=writer.last)

    def _search_moves(
        self,
        limits: GoLimits,
        deadline: float | None,
        stop: Event,
        writer: TurnWriter,
        report: Callable[[SearchInfo], None] | None,
    ) -> Floats:
        """Search for one of several moves; return the probabilities of all, float64[k]."""
        known, chess = self.knowledge, self._chess()
        chess.game.set_turn(known.side, known.repeated())
        planting = _share_of(deadline, time.monotonic(), PLANTING_SHARE)

        def late() -> bool:
            return stop.is_set() or (planting is not None and time.monotonic() >= planting)

        evaluated = chess.game.evaluations
        trunk = self._plant(chess, late)
        search = TurnSearch(trunk, information_price(trunk, len(known.belief)))
        self.last_search = search

        def tell(result: TurnResult) -> None:
            info = writer.write(search, result, chess.game.evaluations - evaluated)
            if report is not None:
                report(info)

        result = search.run(deadline, stop.is_set, limits.nodes, tell)
        self._solution = result.solution
        if search.failure is not None:
            self._warn(f"zs21 goes on with its last solution: {search.failure}")
        elif result.solution is None:
            self._warn("zs21 had no time to solve a trunk, and plays by plain values")
        return result.policy

    def _plant(self, chess: ChessTrunkGame, late: Callable[[], bool]) -> Trunk:
        """Make the trunk of this turn."""
        known, random = self.knowledge, self._random()
        last = self._solution
        kept = nothing_kept() if last is None else keep(last, known.key, random)
        held = last.trunk.nodes.state[kept.node[kept.live]] if last is not None else None
        states = fresh_states(known, held, random)
        return plant(chess, last, kept, states, fresh_keys(states, known.key), late)

    def _forced_move(self, moves: npt.NDArray[np.uint32]) -> int | None:
        """The index of a capture of a king whose square is certain, or of the only move."""
        square = self.knowledge.belief.certain_enemy_king()
        for index, move in enumerate(moves):
            if square is not None and move_squares(move)[1] == square:
                return index
        return 0 if len(moves) == 1 else None

    def _chess(self) -> ChessTrunkGame:
        """The game with its evaluator; the first use makes it."""
        if self._game is None:
            options = self._options
            size = options.integer("Eval Cache") * MEBIBYTE
            evaluator = make_evaluator(
                options.text("Evaluator"),
                stockfish=options.text("Stockfish") or None,
                tau=self._tau,
                cache=ExpansionCache(size) if size else None,
                on_warning=self._warn,
            )
            self._game = ChessTrunkGame(ChessGame(evaluator))
        return self._game

    @property
    def _tau(self) -> float:
        return self._options.integer("Tau") / 100

    def _forget(self) -> None:
        """Drop the tree: the next search begins with positions of the belief alone."""
        self._solution = None

    def _random(self) -> np.random.Generator:
        """A generator for this turn: the same for the same seed and information key."""
        material = f"{self._seed} {self.knowledge.key}".encode()
        digest = hashlib.blake2b(material, digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))


def _share_of(deadline: float | None, start: float, share: float) -> float | None:
    """The second at which a share of the time up to `deadline` is over; None without a deadline."""
    return None if deadline is None else start + share * (deadline - start)
