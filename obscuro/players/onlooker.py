"""A player without a belief: it chooses by what its side sees at the moment.

No compiled code is loaded.
"""

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from threading import Event

import chess

from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Comparison, Coverage, GoLimits, SearchInfo
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView

Rule = Callable[[SideView, random.Random], str | None]
"""Chooses one of the view's moves, on this side's turn; None if there is none."""


class Onlooker:
    """Plays by a rule that knows what its side sees now, and nothing else.

    Its random numbers in a turn depend on the seed and on what the side has done and seen so far.
    """

    evaluator = ""
    belief_size = None
    belief_exact = False

    def __init__(self, options: Options, rule: Rule) -> None:
        self.seed = 1
        self._options = options
        self._rule = rule
        self._view = SideView(chess.WHITE, FogOfWarBoard())
        self._trail = b""  # a hash of what the side has done and seen

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Do nothing: the player is ready."""

    def set_options(self, options: Options) -> None:
        """Take over options; the seed holds from the next game on."""
        self._options = options

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `side` (0 = White) from a position known to both, without counters."""
        self.seed = self._options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        self._view = SideView(side == 0, FogOfWarBoard(fen))
        self._trail = b""
        self._note(f"{side} {fen}")

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Take the own move `uci` and what was seen after it (None: not told)."""
        self._view.push(uci)
        self._view.see_own_move(observation)
        self._note(f"{uci} {self._view.observation.text()}")

    def opponent_move(self, observation: Observation) -> None:
        """Take what was seen after a move of the other side."""
        self._view.see_other_move(observation)
        self._note(observation.text())

    def search(self, limits: GoLimits, stop: Event, report: Callable[[SearchInfo], None]) -> Choice:
        """Choose a move at once. There is nothing to report."""
        return Choice(self._rule(self._view, random.Random(self._trail + str(self.seed).encode())))

    def update(self) -> None:
        """Do nothing: there is no belief."""

    def belief_fens(self, count: int) -> Sequence[str]:
        """Return nothing: there is no belief."""
        return ()

    def coverage_of_fen(self, fen: str) -> Coverage | None:
        """Return None: there is no belief."""
        return None

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Return None: there is no tree."""
        return None

    def ponder(self, stop: Event) -> None:
        """Do nothing: there is nothing to think about."""

    def close(self) -> None:
        """Do nothing: the player holds no resources."""

    def _note(self, what: str) -> None:
        self._trail = hashlib.blake2b(self._trail + what.encode(), digest_size=16).digest()


def random_move(view: SideView, chance: random.Random) -> str | None:
    """Choose every move with the same probability."""
    moves = sorted(view.moves())
    return chance.choice(moves) if moves else None
