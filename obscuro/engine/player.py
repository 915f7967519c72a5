"""One side's player: it takes in what its side saw, and gives out moves. No hidden fact reaches it.

A turn has four steps (Obscuro, Fig. 8). The player brings the belief up to date, builds the subgame
from the kept tree and sampled positions, searches, and chooses a move.
"""

import dataclasses
import hashlib
import time
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.board.layout import STATE, WORDS
from obscuro.board.position import from_fen, move_squares, move_to_uci, to_fen
from obscuro.engine.constants import BELIEF_SHARE, SAMPLING_SHARE
from obscuro.engine.equipment import Equipment
from obscuro.engine.kernel_compiling import compile_in_processes
from obscuro.engine.kernel_loading import load_kernels
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Coverage, GoLimits, SearchInfo
from obscuro.engine.roots import build_subgame
from obscuro.engine.turn_report import TurnReport
from obscuro.engine.turn_time import TurnTime, turn_time
from obscuro.fog.observation import Observation
from obscuro.kernel_cache import kernel_files
from obscuro.search.pace import Limits
from obscuro.search.progress import Progress
from obscuro.search.search import Search

Words = npt.NDArray[np.uint64]


class _LastTurn(NamedTuple):
    """When our last move was chosen."""

    plies: int  # of the game
    searched: bool  # whether the move needed a search


class Player:
    """Plays one side of one game at a time.

    options: `set_options` changes them later. warn: called with one line for each thing that a user
    should know (Stockfish missing, belief rebuilt).

    equipment: evaluators, cache and search. Tools and benchmarks may look at it.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        self.equipment = Equipment(options, warn)
        self.searched_at = 0  # plies of the game at the roots of the last search
        self._warn = warn
        self._known: Knowledge | None = None
        self._last_turn: _LastTurn | None = None
        self._seed = 1

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        self._last_turn = None
        self.equipment.set_options(options)

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all kernels and start the evaluators, so that a search starts at once.

        progress: called with a few words on what comes next. A second call takes no time.
        """
        tell = progress or (lambda text: None)
        evaluator = self.equipment.options.text("Evaluator")
        kernels = kernel_files()
        complete = kernels.is_complete(__name__, evaluator)
        if not complete:
            compile_in_processes(evaluator, tell)
        load_kernels(lambda options: Player(options, lambda text: None), tell)
        self.equipment.reserve_memory()
        tell("starting the evaluator")
        self.equipment.start()
        if not complete:
            kernels.note_complete(__name__, evaluator)

    def close(self) -> None:
        """End all child processes and drop the tree. The game stays; a search makes them anew."""
        self._last_turn = None
        self.equipment.close()

    # -- the game --------------------------------------------------------------------------------

    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White) from a position both sides know.

        start: uint64[8].
        """
        options = self.equipment.options
        self._seed = options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        self.searched_at = 0
        self._last_turn = None
        if self._known is not None:
            self._known.release()
        self._known = Knowledge(
            side,
            start,
            max_positions=options.integer("Max Positions"),
            threads=options.integer("Threads"),
            seed=self._seed,
            buffers=self.equipment.buffers,
            warn=self._warn,
            lost_place=self.equipment.forget_tree,
        )
        self.equipment.new_game(self._seed)

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `new_game` does, from a FEN without counters."""
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
        """Use the other side's time: see `Knowledge.expect`. Ends soon after `stop` is set."""
        self.knowledge.update(None, stop)
        self.knowledge.expect(stop)

    @property
    def seed(self) -> int:
        """The seed of all random numbers of this game: the option `Seed`, or from the clock."""
        return self._seed

    @property
    def evaluator(self) -> str:
        """The evaluator's name, such as `stockfish, Stockfish 15.1`; empty before `prepare`."""
        return self.equipment.evaluator_name

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

    @property
    def belief_rebuilds(self) -> int:
        """How often in this game the belief was rebuilt because no position was left."""
        return self.knowledge.belief.rebuilds

    def belief_fens(self, count: int) -> list[str]:
        """The first `count` positions of the belief, in sorted order, as FENs without counters."""
        return sorted(to_fen(words) for words in self.knowledge.belief.positions)[:count]

    def belief_contains(self, words: Words) -> bool:
        """Bring the belief up to date; return whether it holds a position uint64[8]."""
        self.update()
        return bool(self.knowledge.belief.contains(words))

    @property
    def observation(self) -> Observation:
        """What our side saw last, as far as the belief is up to date."""
        return self.knowledge.observation

    def legal_moves(self) -> list[str]:
        """Our moves now in UCI; we always know them exactly. Empty when it is not our turn."""
        self.update()
        return [move_to_uci(move) for move in self.knowledge.legal_moves()]

    # -- the turn --------------------------------------------------------------------------------

    def search(
        self,
        limits: GoLimits,
        stop: Event,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        report: called at most every 0.5 s and once at the end. The choice holds no move if there is
        none, or if `stop` is set before the belief is up to date. Raises GameError as `update`, and
        if it is not our turn.
        """
        self._last_turn = None
        known = self.knowledge
        options = self.equipment.options
        turn = turn_time(limits, known.side, options.integer("Move Overhead"))
        deadline = None if turn is None else turn.deadline
        if not known.update(_share_of(deadline, limits.received, BELIEF_SHARE), stop):
            return Choice(None)
        if int(known.any_position()[STATE]) & 1 != known.side:
            raise GameError("it is not our side's turn")
        moves = known.legal_moves()
        if not len(moves):
            return Choice(None)
        forced = self._forced_move(moves)
        if forced is not None:
            move, captures_king = forced
            self._last_turn = _LastTurn(known.plies, searched=False)
            value = 1.0 if captures_king else self.equipment.last_value or 0.0
            info = TurnReport(options, known.belief, [move], limits.received).forced(move, value)
            if report is not None:
                report(info)
            return Choice(move, info=info)
        choice = self._search_moves(limits, turn, stop, moves, report)
        self._last_turn = _LastTurn(known.plies, searched=True)
        return choice

    def coverage(self, words: Words) -> Coverage:
        """Say what the last search knew of a position uint64[8]. The question changes nothing.

        Raises GameError if no move was chosen in this game, or if the belief has gone on since.
        """
        turn, known = self._last_turn, self.knowledge
        if turn is None:
            raise GameError("there is no search to ask about")
        if turn.plies != known.plies:
            raise GameError("the game has gone on since the last search")
        in_belief = bool(known.belief.contains(words))
        if not turn.searched:
            return Coverage(in_belief)
        histories = self.equipment.search.our_histories()
        same = (histories.states[:, :WORDS] == words).all(axis=1)
        return Coverage(
            in_belief,
            in_infoset=bool(same.any()),
            expanded=bool(histories.expanded[same].any()),
            weight=float(histories.weights[same].sum()),
        )

    def coverage_of_fen(self, fen: str) -> Coverage:
        """Say what the last search knew of a position; see `coverage`."""
        return self.coverage(from_fen(fen))

    def build_subgame(self, search: Search, deadline: float | None, stop: Event) -> None:
        """Give the search the tree of this turn; it expands roots until the deadline or `stop`.

        `search` calls this. An experiment may override it to change the tree before it is solved.
        """
        known = self.knowledge

        def late() -> bool:
            return stop.is_set() or (deadline is not None and time.monotonic() >= deadline)

        self.searched_at = build_subgame(search, known, self._random(), self.searched_at, late)

    def _search_moves(
        self,
        limits: GoLimits,
        turn: TurnTime | None,
        stop: Event,
        moves: npt.NDArray[np.uint32],
        report: Callable[[SearchInfo], None] | None,
    ) -> Choice:
        """Search for one of several moves. moves: ours, uint32[k]."""
        deadline = None if turn is None else turn.deadline
        latest = turn.latest if turn is not None and turn.flexible else None
        known, equipment = self.knowledge, self.equipment
        search = equipment.begin_turn(known.side, known.repeated())
        evaluations = equipment.evaluations
        cache_before = equipment.cache_use
        self.build_subgame(search, _share_of(deadline, time.monotonic(), SAMPLING_SHARE), stop)
        names = [move_to_uci(move) for move in moves]
        turn_report = TurnReport(equipment.options, known.belief, names, limits.received)

        def describe(progress: Progress) -> SearchInfo:
            return turn_report.searched(progress, equipment.evaluations - evaluations, search)

        progress = search.run(
            Limits(deadline, limits.nodes, latest),
            stop,
            None if report is None else lambda progress: report(describe(progress)),
        )
        info = describe(progress)
        if equipment.cache_use is not None and cache_before is not None:
            use = equipment.cache_use.since(cache_before)
            info = dataclasses.replace(info, cache=use if use.lookups else None)
        if report is not None:
            report(info)
        if len(progress.policy) != len(moves):
            # There was no time to expand even one position of our infoset. Any move will do.
            return Choice(names[self._random().integers(len(names))], info=info)
        played = turn_report.played(progress)
        return Choice(names[int(self._random().choice(len(names), p=played))], info=info)

    def _forced_move(self, moves: npt.NDArray[np.uint32]) -> tuple[str, bool] | None:
        """A capture of a king whose square is certain, or the only move; and which of the two."""
        square = self.knowledge.belief.certain_enemy_king()
        for move in moves:
            if square is not None and move_squares(move)[1] == square:
                return move_to_uci(move), True
        return (move_to_uci(moves[0]), False) if len(moves) == 1 else None

    def _random(self) -> np.random.Generator:
        """A generator for this turn: the same for the same seed and information key."""
        material = f"{self._seed} {self.knowledge.key}".encode()
        digest = hashlib.blake2b(material, digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))


def _share_of(deadline: float | None, start: float, share: float) -> float | None:
    """The second at which a share of the time up to `deadline` is over; None without a deadline."""
    return None if deadline is None else start + share * (deadline - start)
