"""One side's player: it takes in what its side saw, and gives out moves. No hidden fact reaches it.

A turn has four steps (Obscuro, Fig. 8). The player brings the belief up to date, builds the subgame
from the kept tree and sampled positions, searches, and chooses a move.
"""

import dataclasses
import time
from collections.abc import Callable
from threading import Event

import numpy as np

from obscuro.engine.equipment import Equipment
from obscuro.engine.game_follower import GameFollower, OwnTurn, Words
from obscuro.engine.knowledge import GameError
from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Comparison, Coverage, RootReport, SearchInfo
from obscuro.engine.roots import EXTRA_SHARE, ExtraTime, set_roots
from obscuro.engine.strength import Strength
from obscuro.engine.turn_report import TurnReport, compare
from obscuro.engine.turn_time import SAMPLING_SHARE, share_of
from obscuro.kernel_cache import kernel_files
from obscuro.kernel_warmup import compile_in_processes, load_kernels
from obscuro.rules.layout import WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import move_to_uci
from obscuro.search.pace import Limits, Progress
from obscuro.search.search import Search


class Player(GameFollower):
    """Plays one side of one game at a time.

    options: `set_options` changes them later. warn: called with one line for each thing that a user
    should know (Stockfish missing, belief rebuilt).

    equipment: evaluators, cache and search. Tools and benchmarks may look at it.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        super().__init__(options, warn)
        self.equipment = Equipment(self.options, warn)
        self.searched_at = 0  # plies of the game at the roots of the last search

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        self.last_turn = None
        self.options = options.effective()
        self.equipment.set_options(self.options)

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all kernels and start the evaluators, so that a search starts at once.

        progress: called with a few words on what comes next. A second call takes no time.
        """
        tell = progress or (lambda text: None)
        evaluator = self.options.text("Evaluator")
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
        self.last_turn = None
        self.equipment.close()

    # -- the game --------------------------------------------------------------------------------

    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White).

        start: uint64[8] or uint64[n, 8], see `GameFollower.new_game`.
        """
        self.searched_at = 0
        self.follow(
            side,
            start,
            threads=self.options.integer("Threads"),
            buffers=self.equipment.buffers,
            lost_place=self.equipment.forget_tree,
            # The small belief of a weak level is often rebuilt. A person need not know when.
            tell_rebuilds=self.options.strength is None,
            weighted=self.options.search_parameters().weighs_belief,
        )
        self.equipment.new_game(self.seed)

    @property
    def evaluator(self) -> str:
        """The evaluator's name, such as `stockfish, Stockfish 15.1`; empty before `prepare`."""
        return self.equipment.evaluator_name

    @property
    def belief_rebuilds(self) -> int:
        """How often in this game the belief was rebuilt because no position was left."""
        return self.knowledge.belief.rebuilds

    @property
    def observation(self) -> Observation:
        """What our side saw last, as far as the belief is up to date."""
        return self.knowledge.observation

    def legal_moves(self) -> list[str]:
        """Our moves now in UCI; we always know them exactly. Empty when it is not our turn."""
        self.update()
        return [move_to_uci(move, chess960=self.chess960) for move in self.knowledge.legal_moves()]

    # -- the turn --------------------------------------------------------------------------------

    @property
    def last_value(self) -> float:
        """Our value after the last search, [-1, 1]; 0 if there was none in this game."""
        return self.equipment.last_value or 0.0

    def forced_info(self, turn: OwnTurn, name: str, value: float) -> SearchInfo:
        """Return the report of a move that needs no thought. value: ours, [-1, 1]."""
        received = turn.limits.received
        return TurnReport(self.options, turn.known.belief, [name], received).forced(name, value)

    def covered(self, words: Words, in_belief: bool) -> Coverage:
        """Say what the last search knew of a position uint64[8]. in_belief: whether it is in P."""
        search = self.equipment.search
        histories = search.our_histories()
        same = (histories.states[:, :WORDS] == words).all(axis=1)
        weight = float(histories.weights[same].sum())
        rank: float | None = None
        if same.any():
            positions, group = np.unique(histories.states[:, :WORDS], axis=0, return_inverse=True)
            weights = np.bincount(group.ravel(), histories.weights, len(positions))
            own = weights[group.ravel()[same][0]]
            equal = np.count_nonzero(weights == own) - 1
            rank = 1 + np.count_nonzero(weights > own) + equal / 2
        found = search.diagnosis()
        return Coverage(
            in_belief,
            in_infoset=bool(same.any()),
            expanded=bool(histories.expanded[same].any()),
            weight=weight,
            rank=rank,
            root=None
            if found is None
            else RootReport(*found, star=search.alternate_value, slack=search.slack),
        )

    def compared(self, move: str, other: str | None) -> Comparison:
        """Say what the last search thinks of two moves; see `compare`."""
        known = self.equipment.search.root_values()
        if known is None:
            raise GameError("the last search had no time to look at a position")
        names = [move_to_uci(move, chess960=self.chess960) for move in self.knowledge.legal_moves()]
        return compare(known, names, move, other)

    def begin_search(self, search: Search, deadline: float | None, stop: Event) -> None:
        """Give the search the tree of this turn; it expands roots until the deadline or `stop`.

        `choose` calls this. An experiment may override it to change the tree before it is solved.
        """
        known = self.knowledge

        def late() -> bool:
            return stop.is_set() or (deadline is not None and time.monotonic() >= deadline)

        share = EXTRA_SHARE / SAMPLING_SHARE
        extra = ExtraTime(None if deadline is None else share * (deadline - time.monotonic()))
        self.searched_at = set_roots(
            search, known, self.random(), self.searched_at, late, extra.is_over
        )

    def choose(self, turn: OwnTurn) -> Choice:
        """Search for one of several moves."""
        deadline, report, names = turn.deadline, turn.report, turn.names
        latest = turn.time.latest if turn.time is not None and turn.time.flexible else None
        known, equipment = self.knowledge, self.equipment
        search = equipment.begin_turn(known.side, known.repeated())
        evaluations = equipment.evaluations
        cache_before = equipment.cache_use
        self.begin_search(search, share_of(deadline, time.monotonic(), SAMPLING_SHARE), turn.stop)
        turn_report = TurnReport(
            self.options, known.belief, names, turn.limits.received, chess960=self.chess960
        )

        def describe(progress: Progress) -> SearchInfo:
            return turn_report.searched(progress, equipment.evaluations - evaluations, search)

        strength = self.options.strength
        progress = search.run(
            Limits(deadline, _fewer(turn.limits.nodes, strength), latest),
            turn.stop,
            None if report is None else lambda progress: report(describe(progress)),
        )
        if strength is not None and strength.temperature:
            progress.action_values = search.action_values()
        info = describe(progress)
        if equipment.cache_use is not None and cache_before is not None:
            use = equipment.cache_use.since(cache_before)
            info = dataclasses.replace(info, cache=use if use.lookups else None)
        turn.tell(info)
        if len(progress.policy) != len(names):
            # There was no time to expand even one position of our infoset. Any move will do.
            return Choice(names[self.random().integers(len(names))], info=info)
        played = turn_report.played(progress)
        return Choice(names[int(self.random().choice(len(names), p=played))], info=info)


def _fewer(nodes: int | None, strength: Strength | None) -> int | None:
    """The nodes that a search may add, by `go` and by the strength; None: there is no limit."""
    if strength is None:
        return nodes
    return strength.nodes if nodes is None else min(nodes, strength.nodes)
