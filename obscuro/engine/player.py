"""One side's player: what it saw comes in, a move goes out. No hidden fact reaches it.

A turn (Obscuro, Fig. 8): bring the belief up to date, build the subgame around the kept tree and
sampled positions, search, choose.
"""

import contextlib
import dataclasses
import hashlib
import time
from collections.abc import Callable
from threading import Event

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.update import reserve
from obscuro.board.layout import STATE, WORDS
from obscuro.board.make import make_move
from obscuro.board.position import legal_moves, move_squares, move_to_uci, to_fen
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.constants import BELIEF_SHARE, SAMPLING_SHARE
from obscuro.engine.kernel_loading import load_kernels
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.memory import usable_mebibytes
from obscuro.engine.options import LEAST_HASH, MEBIBYTE, Options
from obscuro.engine.report import Choice, GoLimits, SearchInfo
from obscuro.engine.roots import build_subgame
from obscuro.engine.turn_time import TurnTime, turn_time
from obscuro.evaluation.cache import ExpansionCache
from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.factory import make_evaluator
from obscuro.evaluation.scale import centipawns_of_value
from obscuro.fog.observation import Observation
from obscuro.search.choice import purify
from obscuro.search.progress import Limits, Progress
from obscuro.search.search import Search

Words = npt.NDArray[np.uint64]


class Player:
    """Plays one side of one game at a time. See the module.

    options: read when something is made from them; `set_options` changes them. warn: told, in one
    line each, what a user should know (Stockfish missing, belief rebuilt).
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        self._options = options.copy()
        self._warn = warn
        self._warned: set[str] = set()  # by an evaluator, in this search
        self._evaluators: list[Evaluator] = []
        self._games: list[ChessGame] = []
        self._cache: ExpansionCache | None = None
        self._search: Search | None = None
        self._known: Knowledge | None = None
        self._buffers = Buffers()
        self._reserved = False
        self._searched_at = 0  # plies of the game at the last search
        self._seed = 1

    # -- life ------------------------------------------------------------------------------------

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        old, self._options = self._options, options.copy()

        def changed(*names: str) -> bool:
            return any(old.get(name) != options.get(name) for name in names)

        if changed("Threads", "Evaluator", "Stockfish", "Tau", "Eval Cache"):
            self.close()
        elif changed("Hash"):
            self._search = None
        elif self._search is not None:
            self._search.parameters = options.search_parameters()

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Compile or load all kernels and start the evaluators, so that a search starts at once.

        progress: told what comes next. Quick when all is up already.
        """
        tell = progress or (lambda text: None)
        load_kernels(tell)
        if not self._reserved:
            with contextlib.suppress(MemoryError):  # then it is taken when it is needed
                reserve(
                    self._buffers,
                    self._options.integer("Max Positions"),
                    self._options.integer("Threads"),
                )
            self._reserved = True
        tell("starting the evaluator")
        self._ensure_search()
        for evaluator in self._evaluators:
            evaluator.start()

    def close(self) -> None:
        """End all child processes and drop the tree. The game goes on if a search is asked for."""
        for evaluator in self._evaluators:
            evaluator.close()
        self._evaluators, self._games, self._cache, self._search = [], [], None, None

    # -- the game --------------------------------------------------------------------------------

    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White) from a position both sides know.

        start: uint64[8].
        """
        seed = self._options.integer("Seed")
        self._seed = seed or time.time_ns() & 0x7FFFFFFF or 1
        self._searched_at = 0
        if self._known is not None:
            self._known.release()
        self._known = Knowledge(
            side,
            start,
            max_positions=self._options.integer("Max Positions"),
            threads=self._options.integer("Threads"),
            seed=self._seed,
            buffers=self._buffers,
            warn=self._warn,
            lost_place=self._forget_tree,
        )
        self._forget_tree()
        for evaluator in self._evaluators:
            evaluator.forget()

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Our side played `uci` and then saw `observation` (None: not told). Worked off later."""
        self._knowledge().own_move(uci, observation)

    def opponent_move(self, observation: Observation) -> None:
        """The other side moved, and we then saw `observation`. Worked off later."""
        self._knowledge().opponent_move(observation)

    def update(self, deadline: float | None = None) -> None:
        """Bring the belief up to date; `search` does it by itself. See `Knowledge.update`."""
        self._knowledge().update(deadline)

    def ponder(self, stop: Event) -> None:
        """Use the other side's time: see `Knowledge.expect`. Ends soon after `stop` is set."""
        self._knowledge().update(None, stop)
        self._knowledge().expect(stop)

    @property
    def seed(self) -> int:
        """What all chance of this game comes from; the option `Seed`, or from the clock."""
        return self._seed

    @property
    def evaluator(self) -> str:
        """What evaluates, for logs: `material`, `stockfish, Stockfish 15.1`; empty before `prepare`."""
        for evaluator in self._evaluators:
            version = getattr(evaluator, "engine_name", None)
            return f"{evaluator.name}, {version}" if version else evaluator.name
        return ""

    @property
    def belief_size(self) -> int:
        """Number of positions held possible."""
        return len(self._knowledge().belief)

    @property
    def belief_exact(self) -> bool:
        """Whether the belief holds exactly the positions that fit all that was seen."""
        return bool(self._knowledge().belief.exact)

    @property
    def belief_rebuilds(self) -> int:
        """How often the belief was rebuilt in this game, for want of a position that fits."""
        return self._knowledge().belief.rebuilds

    def belief_fens(self, count: int) -> list[str]:
        """The first `count` positions of the belief, in sorted order, as FENs without counters."""
        return sorted(to_fen(words) for words in self._knowledge().belief.positions)[:count]

    def belief_contains(self, words: Words) -> bool:
        """Whether the belief, brought up to date, holds a position: uint64[8]. For tests and matches."""
        self.update()
        return bool(self._knowledge().belief.contains(words))

    @property
    def observation(self) -> Observation:
        """What our side saw last, as far as the updates have come."""
        return self._knowledge().observation

    def legal_moves(self) -> list[str]:
        """Our side's moves now; we always know them exactly. Empty when it is not our turn."""
        self.update()
        return [move_to_uci(move) for move in self._knowledge().legal_moves()]

    # -- the turn --------------------------------------------------------------------------------

    def search(
        self,
        limits: GoLimits,
        stop: Event,
        report: Callable[[SearchInfo], None] | None = None,
    ) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        No move is chosen if there is none, or if `stop` is set before the belief is up to date.
        report is called at most every 0.5 s and once at the end. Raises GameError as `update`.
        """
        known = self._knowledge()
        turn = turn_time(limits, known.side, self._options.integer("Move Overhead"))
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
            info = self._forced_info(limits, *forced)
            if report is not None:
                report(info)
            return Choice(forced[0], info=info)
        return self._search_moves(limits, turn, stop, moves, report)

    def _search_moves(
        self,
        limits: GoLimits,
        turn: TurnTime | None,
        stop: Event,
        moves: npt.NDArray[np.uint32],
        report: Callable[[SearchInfo], None] | None,
    ) -> Choice:
        deadline = None if turn is None else turn.deadline
        latest = turn.latest if turn is not None and turn.flexible else None
        search = self._ensure_search()
        search.parameters = self._options.search_parameters()
        self._warned.clear()
        evaluated = sum(game.evaluations for game in self._games)
        cache_before = self._cache.use if self._cache is not None else None
        known = self._knowledge()
        for game in self._games:
            game.set_turn(known.side, known.repeated())
        self._build_subgame(search, _share_of(deadline, time.monotonic(), SAMPLING_SHARE), stop)
        names = [move_to_uci(move) for move in moves]

        def describe(progress: Progress) -> SearchInfo:
            total = sum(game.evaluations for game in self._games) - evaluated
            return self._describe(progress, limits, names, total, self._line())

        progress = search.run(
            Limits(deadline, limits.nodes, latest),
            stop,
            None if report is None else lambda progress: report(describe(progress)),
        )
        info = describe(progress)
        if self._cache is not None and cache_before is not None:
            use = self._cache.use.since(cache_before)
            info = dataclasses.replace(info, cache=use if use.lookups else None)
        if report is not None:
            report(info)
        if len(progress.policy) != len(moves):
            # Not one position of our infoset has been expanded: too little time. Any move will do.
            return Choice(names[self._random().integers(len(names))], info=info)
        played = self._played(progress)
        return Choice(names[int(self._random().choice(len(names), p=played))], info=info)

    def _build_subgame(self, search: Search, deadline: float | None, stop: Event) -> None:
        """Make the search's tree that of this turn; expanding its roots ends at deadline or stop."""
        known = self._knowledge()

        def late() -> bool:
            return stop.is_set() or (deadline is not None and time.monotonic() >= deadline)

        self._searched_at = build_subgame(search, known, self._random(), self._searched_at, late)

    # -- choosing and telling --------------------------------------------------------------------

    def _forced_move(self, moves: npt.NDArray[np.uint32]) -> tuple[str, bool] | None:
        """A capture of a king that is certainly there, or the only move; and whether it captures."""
        square = self._knowledge().belief.certain_enemy_king()
        for move in moves:
            if square is not None and move_squares(move)[1] == square:
                return move_to_uci(move), True
        return (move_to_uci(moves[0]), False) if len(moves) == 1 else None

    def _played(self, progress: Progress) -> npt.NDArray[np.float64]:
        """What is sampled from, over our moves."""
        parameters = self._options.search_parameters()
        return purify(
            progress.policy,
            progress.stable,
            progress.resolve,
            parameters.max_support,
            parameters.purification,
        )

    def _describe(
        self,
        progress: Progress,
        limits: GoLimits,
        names: list[str],
        evaluations: int,
        line: list[str],
    ) -> SearchInfo:
        known = len(progress.policy) == len(names)
        return SearchInfo(
            depth=progress.depth,
            seldepth=progress.seldepth,
            nodes=progress.nodes,
            milliseconds=int((time.monotonic() - limits.received) * 1000),
            value=progress.value,
            centipawns=self._centipawns(progress.value),
            line=line,
            belief=self.belief_size,
            exact=self.belief_exact,
            sampled=progress.sampled,
            carried=progress.carried,
            infosets=progress.infosets,
            iterations=progress.iterations,
            expansions=progress.expansions,
            evaluations=evaluations,
            gadget="resolve" if progress.resolve else "maxmargin",
            policy=_ranked(names, progress.policy) if known else [],
            play=_ranked(names, self._played(progress)) if known else [],
        )

    def _forced_info(self, limits: GoLimits, move: str, wins: bool) -> SearchInfo:
        """The report of a move that was not searched: worth a win, or what the last search said."""
        last = self._search.last_value if self._search is not None else None
        progress = Progress(
            value=1.0 if wins else last or 0.0,
            policy=np.ones(1, dtype=np.float32),
            stable=np.ones(1, dtype=np.bool_),
        )
        return self._describe(progress, limits, [move], 0, [move])

    def _centipawns(self, value: float) -> int:
        return centipawns_of_value(value, self._options.integer("Tau") / 100)

    def _line(self) -> list[str]:
        """The likeliest line of play as moves."""
        found = self._search.line() if self._search is not None else None
        if found is None:
            return []
        state, actions = found
        names = []
        position = state[:WORDS]
        for action in actions:
            moves = legal_moves(position)
            if action >= len(moves):
                break
            names.append(move_to_uci(moves[action]))
            position = np.array(make_move(tuple(position), moves[action]), dtype=np.uint64)
        return names

    # -- inside ----------------------------------------------------------------------------------

    def _knowledge(self) -> Knowledge:
        if self._known is None:
            raise GameError("no game has been started")
        return self._known

    def _forget_tree(self) -> None:
        if self._search is not None:
            self._search.forget(self._seed)

    def _ensure_search(self) -> Search:
        if self._search is None:
            threads = self._options.integer("Threads")
            if not self._evaluators:
                self._cache = self._make_cache()
                self._evaluators = [
                    make_evaluator(
                        self._options.text("Evaluator"),
                        stockfish=self._options.text("Stockfish") or None,
                        tau=self._options.integer("Tau") / 100,
                        cache=self._cache,
                        on_warning=self._warn_once,
                    )
                    for _ in range(max(1, threads - 1))
                ]
                self._games = [ChessGame(evaluator) for evaluator in self._evaluators]
            self._search = self._make_search(threads)
        return self._search

    def _make_cache(self) -> ExpansionCache | None:
        """Make a cache of `Eval Cache` MiB; None without one, or without memory for it."""
        wanted = self._options.integer("Eval Cache")
        try:
            return ExpansionCache(wanted * MEBIBYTE) if wanted else None
        except MemoryError:
            self._warn_once(f"there is no memory for an Eval Cache of {wanted} MiB; doing without")
            return None

    def _warn_once(self, text: str) -> None:
        """Warn, if there has not been this warning since the last search began."""
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)

    def _make_search(self, threads: int) -> Search:
        """Make a search with a tree of `Hash` MiB, or of as many as there is memory for."""
        wanted = self._options.integer("Hash")
        usable = usable_mebibytes()
        size = wanted if usable is None else max(LEAST_HASH, min(wanted, usable))
        while True:
            try:
                search = Search(
                    self._games,
                    self._options.search_parameters(),
                    size * MEBIBYTE,
                    threads=threads,
                    seed=self._seed,
                )
            except MemoryError:
                if size == LEAST_HASH:
                    raise
                size = max(LEAST_HASH, size // 2)
                continue
            if size < wanted:
                self._warn(f"there is no memory for a Hash of {wanted} MiB; it is {size} MiB")
            return search

    def _random(self) -> np.random.Generator:
        """Random numbers for this turn: the same for the same seed, game and ply."""
        material = f"{self._seed} {self._knowledge().key}".encode()
        digest = hashlib.blake2b(material, digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))


def _share_of(deadline: float | None, start: float, share: float) -> float | None:
    """The second at which a share of the time from `start` to `deadline` has passed."""
    return None if deadline is None else start + share * (deadline - start)


def _ranked(names: list[str], probabilities: npt.NDArray[np.floating]) -> list[tuple[str, float]]:
    """The moves with a probability above 0, largest first."""
    pairs = [(name, float(p)) for name, p in zip(names, probabilities, strict=True) if p > 0]
    return sorted(pairs, key=lambda pair: -pair[1])
