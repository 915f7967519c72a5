"""Kinds of players: what one player is to the front end and to match runners.

The import loads no package, so that `obscuro doctor` can run without any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from threading import Event
from typing import TYPE_CHECKING, Protocol

from obscuro.engine.options import OPTIONS, Option, Options
from obscuro.engine.report import Choice, Comparison, Coverage, GoLimits, SearchInfo
from obscuro.installation import how_to_add
from obscuro.rules.account import PlyListener

if TYPE_CHECKING:  # it loads numba
    from obscuro.belief.marginals import Marginals


class AnyPlayer(PlyListener, Protocol):
    """One side's player, as the front end uses it. One thread at a time calls the methods.

    It is told a game as `PlyListener` says. What it is told waits until `update` or `search`.
    """

    @property
    def seed(self) -> int:
        """The seed of all random numbers of this game: the option `Seed`, or from the clock."""

    @property
    def evaluator(self) -> str:
        """The evaluator's name, for logs; empty if there is none yet."""

    @property
    def belief_size(self) -> int | None:
        """The number of possible positions; None for a player without a belief."""

    @property
    def belief_exact(self) -> bool:
        """Whether the belief holds exactly the positions that fit all that was seen."""

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Load or compile all that a search needs. progress: called with what comes next."""

    def set_options(self, options: Options) -> None:
        """Take over options between two searches."""

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game in which the player plays `side` (0 = White).

        fen: the position that both sides know, without counters.
        """

    def update(self) -> None:
        """Bring the belief up to date."""

    def belief_fens(self, count: int) -> Mapping[str, float | None]:
        """`count` positions of the belief, as FENs without counters, with their probabilities.

        The most likely ones come first. A player that does not know how likely they are lists them
        in sorted order, with None.
        """

    def marginals(self) -> Marginals | None:
        """How likely each enemy piece is on each square; None for a player without a belief."""

    def ponder(self, stop: Event) -> None:
        """Use the other side's time; ends soon after `stop` is set."""

    def search(self, limits: GoLimits, stop: Event, report: Callable[[SearchInfo], None]) -> Choice:
        """Choose a move; blocks until a limit is reached or `stop` is set.

        The choice holds no move if there is none, or if `stop` is set before the player knows any.
        """

    def coverage_of_fen(self, fen: str) -> Coverage | None:
        """Say what the last search knew of a position; None for a player without a belief.

        The question changes nothing. Raises GameError if no move was chosen in this game, or if the
        belief has gone on since.
        """

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Say what the last search thinks of two of our moves; None for a player without a tree.

        move: in UCI. other: None for the one that the search prefers to all but `move`. The
        question changes nothing. Raises GameError as `coverage_of_fen`, if the move needed no
        search, or if one of the two was no move of ours.
        """

    def close(self) -> None:
        """Release all processes and memory. A later search makes them anew."""


MakePlayer = Callable[[Options, Callable[[str], None]], AnyPlayer]
"""Makes a player from its options and a function that takes a line for the user."""


@dataclass(frozen=True, slots=True)
class PlayerKind:
    """A player that can be asked for by its name.

    about: what it does, in a few words. options: all options that act on it. make: makes one, and
    loads what it needs. module: where it is defined; its kernels are kept for this module. title:
    what the protocol calls it. capabilities: what it can do beyond UCI; docs/protocol.md says what
    the words mean. light: whether it is so cheap that a match plays it in its own process; it must
    have the option `Seed`. extra: the package that it needs beyond the program's own, and our extra
    that installs it.
    """

    name: str
    about: str
    options: tuple[Option, ...]
    make: MakePlayer
    module: str = ""
    title: str = "Obscuro"
    capabilities: tuple[str, ...] = ("position-fog",)
    light: bool = False
    extra: tuple[str, str] | None = None

    @property
    def lack(self) -> str | None:
        """A line for the user that says which package is not installed; None if none is missing."""
        if self.extra is None or find_spec(self.extra[0]) is not None:
            return None
        package, extra = self.extra
        return f"{self.name} needs {package}; run: {how_to_add(extra)}"


def made_by(name: str, *rule: str) -> MakePlayer:
    """Return a function that makes a player; the code is imported when the function is called.

    name: `module:class`. rule: the name of a function of the module, the last argument of the class.
    """

    def make(options: Options, warn: Callable[[str], None]) -> AnyPlayer:
        place, _, kind = name.partition(":")
        module = import_module(place)
        given = [getattr(module, each) for each in rule] or [warn]
        player: AnyPlayer = getattr(module, kind)(options, *given)
        return player

    return make


OBSCURO = PlayerKind(
    "obscuro",
    "the engine",
    OPTIONS,
    made_by("obscuro.engine.player:Player"),
    "obscuro.engine.player",
    capabilities=("position-fog", "coverage", "compare", "marginals"),
)
"""The engine itself."""
