"""What a player searches with: evaluators, their cache, and the search with its tree.

All of it is made from the options when it is first needed.
"""

import contextlib
from collections.abc import Callable

from obscuro.belief.buffers import Buffers
from obscuro.belief.update import reserve
from obscuro.engine.chess_game import ChessGame, Words
from obscuro.engine.options import LEAST_HASH, Options
from obscuro.evaluation.cache import ExpansionCache
from obscuro.evaluation.evaluator import CacheUse, Evaluator
from obscuro.evaluation.factory import make_evaluator
from obscuro.machine import MEBIBYTE, usable_mebibytes
from obscuro.search.search import Search

# A change of one of these options makes new evaluators, games and tree; one of `Hash` a new tree.
_GAME_OPTIONS = (
    "Threads",
    "Evaluator",
    "Stockfish",
    "tau",
    "eval_cache",
    "Stalemate",
)


class Equipment:
    """One player's evaluators, cache and search, and the memory that its beliefs work in.

    options: those that count (`Options.effective`); `set_options` replaces them. warn: called with
    one line for each thing that a user should know, such as a missing Stockfish.

    evaluators, games: one for each thread; empty before the first use.
    cache: of the evaluators; None without one. buffers: outlast a game.
    """

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        self.options = options
        self.evaluators: list[Evaluator] = []
        self.games: list[ChessGame] = []
        self.cache: ExpansionCache | None = None
        self.buffers = Buffers()
        self._warn = warn
        self._warned: set[str] = set()  # by an evaluator, since the last turn began
        self._search: Search | None = None
        self._seed = 1
        self._reserved = False

    def set_options(self, options: Options) -> None:
        """Take over options between two searches; what depends on a changed one is made anew."""
        old, self.options = self.options, options

        def changed(*names: str) -> bool:
            return any(old.get(name) != options.get(name) for name in names)

        if changed(*_GAME_OPTIONS):
            self.close()
        elif changed("Hash"):
            self._search = None
        elif self._search is not None:
            self._search.parameters = self.options.search_parameters()

    def reserve_memory(self) -> None:
        """Touch the memory that a large belief begins with; does nothing when called again."""
        if not self._reserved:
            with contextlib.suppress(MemoryError):  # the belief then takes it when it needs it
                reserve(
                    self.buffers,
                    self.options.integer("Max Positions"),
                    self.options.integer("Threads"),
                )
            self._reserved = True

    def start(self) -> None:
        """Make what is missing, and start the evaluators."""
        _ = self.search
        for evaluator in self.evaluators:
            evaluator.start()

    def close(self) -> None:
        """End all child processes and drop the tree; the next use makes all of it anew."""
        for evaluator in self.evaluators:
            evaluator.close()
        self.evaluators, self.games, self.cache, self._search = [], [], None, None

    def new_game(self, seed: int) -> None:
        """Drop the tree and what the evaluators remember. seed: of the search's random numbers."""
        self._seed = seed
        self.forget_tree()
        for evaluator in self.evaluators:
            evaluator.forget()

    def forget_tree(self) -> None:
        """Drop the tree: the next search begins with positions of the belief alone."""
        if self._search is not None:
            self._search.forget(self._seed)

    def begin_turn(self, side: int, repeated: Words) -> Search:
        """Set the search and its games up for a turn, and return the search.

        side: ours, 0 = White. repeated: sightings that would be a third repetition, uint64[n].
        """
        search = self.search
        search.parameters = self.options.search_parameters()
        self._warned.clear()
        for game in self.games:
            game.set_turn(side, repeated)
        return search

    @property
    def search(self) -> Search:
        """The search with its tree; the first use makes it, and the evaluators with it."""
        if self._search is None:
            self._make_evaluators()
            self._search = self._make_search()
        return self._search

    @property
    def last_value(self) -> float | None:
        """Our value after the last search, [-1, 1]; None if there was none in this game."""
        return self._search.last_value if self._search is not None else None

    @property
    def evaluations(self) -> int:
        """How many children the evaluators have evaluated so far."""
        return sum(game.evaluations for game in self.games)

    @property
    def cache_use(self) -> CacheUse | None:
        """How the cache has been used so far; None without a cache."""
        return self.cache.use if self.cache is not None else None

    @property
    def evaluator_name(self) -> str:
        """`material`, or `stockfish, Stockfish 15.1`; empty before the evaluators are made."""
        for evaluator in self.evaluators:
            version = getattr(evaluator, "engine_name", None)
            return f"{evaluator.name}, {version}" if version else evaluator.name
        return ""

    def _make_evaluators(self) -> None:
        """Make the evaluators, with their cache and games, unless they are there."""
        if self.evaluators:
            return
        self.cache = self._make_cache()
        self.evaluators = [
            make_evaluator(
                self.options.text("Evaluator"),
                stockfish=self.options.text("Stockfish") or None,
                tau=self.options.number("tau"),
                cache=self.cache,
                on_warning=self._warn_once,
            )
            for _ in range(self.options.integer("Threads"))
        ]
        stalemate = self.options.text("Stalemate")
        self.games = [ChessGame(evaluator, stalemate) for evaluator in self.evaluators]

    def _make_cache(self) -> ExpansionCache | None:
        """Make a cache of `eval_cache` MiB; None for 0, or if there is no memory for it."""
        wanted = self.options.integer("eval_cache")
        try:
            return ExpansionCache(wanted * MEBIBYTE) if wanted else None
        except MemoryError:
            self._warn_once(f"there is no memory for an eval_cache of {wanted} MiB; doing without")
            return None

    def _make_search(self) -> Search:
        """Make a search with a tree of `Hash` MiB, or of as many as there is memory for."""
        wanted = self.options.integer("Hash")
        usable = usable_mebibytes()
        size = wanted if usable is None else max(LEAST_HASH, min(wanted, usable))
        while True:
            try:
                search = Search(
                    self.games,
                    self.options.search_parameters(),
                    size * MEBIBYTE,
                    threads=self.options.integer("Threads"),
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

    def _warn_once(self, text: str) -> None:
        """Pass a warning on unless the same one has come since the last turn began."""
        if text not in self._warned:
            self._warned.add(text)
            self._warn(text)
