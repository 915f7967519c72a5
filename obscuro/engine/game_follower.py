"""What all players with a belief have in common: one side's game, ply by ply, as it lives it.

A subclass says how it searches, and what its last search knew of a position.
"""

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from threading import Event
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.engine.knowledge import GameError, Knowledge
from obscuro.engine.options import Options
from obscuro.engine.report import Comparison, Coverage
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, to_fen

Words = npt.NDArray[np.uint64]


class LastTurn(NamedTuple):
    """When our last move was chosen."""

    plies: int  # of the game
    searched: bool  # whether the move needed a search


class GameFollower(ABC):
    """Follows one game at a time for one side, and answers questions about it.

    warn: called with one line for each thing that a user should know.

    last_turn: for subclasses, which set it when a move is chosen; None: nobody can ask about it.
    """

    def __init__(self, warn: Callable[[str], None]) -> None:
        self.warn = warn
        self.last_turn: LastTurn | None = None
        self._known: Knowledge | None = None
        self._seed = 1

    # -- what a subclass adds --------------------------------------------------------------------

    @abstractmethod
    def new_game(self, side: int, start: Words) -> None:
        """Start a game in which we play `side` (0 = White) from a position both sides know.

        start: uint64[8].
        """

    @abstractmethod
    def covered(self, words: Words, in_belief: bool) -> Coverage:
        """Say what the last search knew of a position uint64[8]. in_belief: whether it is in P."""

    def follow(
        self,
        side: int,
        start: Words,
        options: Options,
        *,
        threads: int,
        buffers: Buffers,
        lost_place: Callable[[], None],
        tell_rebuilds: bool = True,
    ) -> None:
        """Take up a new game, for `new_game`. The last one ends, and its memory is free.

        start: uint64[8]. options: with `Seed` and `Max Positions`. tell_rebuilds: whether the user
        should know that the belief was rebuilt. The rest is as in `Knowledge`.
        """
        self._seed = options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        self.last_turn = None
        if self._known is not None:
            self._known.release()
        self._known = Knowledge(
            side,
            start,
            max_positions=options.integer("Max Positions"),
            threads=threads,
            seed=self._seed,
            buffers=buffers,
            warn=self.warn if tell_rebuilds else lambda text: None,
            lost_place=lost_place,
        )

    # -- the game --------------------------------------------------------------------------------

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
        """Bring the belief up to date; a search does it by itself. See `Knowledge.update`."""
        self.knowledge.update(deadline)

    def ponder(self, stop: Event) -> None:
        """Use the other side's time: see `Knowledge.expect`. Ends soon after `stop` is set."""
        self.knowledge.update(None, stop)
        self.knowledge.expect(stop)

    # -- questions -------------------------------------------------------------------------------

    @property
    def seed(self) -> int:
        """The seed of all random numbers of this game: the option `Seed`, or from the clock."""
        return self._seed

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

    def coverage(self, words: Words) -> Coverage:
        """Say what the last search knew of a position uint64[8]. The question changes nothing.

        Raises GameError if no move was chosen in this game, or if the belief has gone on since.
        """
        turn = self._last_turn()
        in_belief = bool(self.knowledge.belief.contains(words))
        return self.covered(words, in_belief) if turn.searched else Coverage(in_belief)

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Say what the last search thinks of two of our moves. The question changes nothing.

        move: in UCI. other: None for the move that the search prefers to all but `move`. Returns
        None for a player that keeps no tree. Raises GameError as `coverage`, if the move needed no
        search, or if one of the two was no move of ours.
        """
        if not self._last_turn().searched:
            raise GameError("the last move needed no search")
        return self.compared(move, other)

    def compared(self, move: str, other: str | None) -> Comparison | None:
        """Say what the last search thinks of two moves, as `compare` does; None: there is no tree.

        A subclass that keeps a tree overrides this.
        """
        return None

    def coverage_of_fen(self, fen: str) -> Coverage:
        """Say what the last search knew of a position; see `coverage`."""
        return self.coverage(from_fen(fen))

    def _last_turn(self) -> LastTurn:
        turn, known = self.last_turn, self.knowledge
        if turn is None:
            raise GameError("there is no search to ask about")
        if turn.plies != known.plies:
            raise GameError("the game has gone on since the last search")
        return turn

    def random(self) -> np.random.Generator:
        """A generator for this turn: the same for the same seed and information key."""
        material = f"{self._seed} {self.knowledge.key}".encode()
        digest = hashlib.blake2b(material, digest_size=8).digest()
        return np.random.default_rng(int.from_bytes(digest, "little"))
