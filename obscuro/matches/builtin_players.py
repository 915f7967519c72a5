"""How a match makes its players: those that come with the program, and UCI engines by command line.

A player so cheap that a process of its own would cost more than its moves (a kind with `light`)
plays in the process of the match.
"""

from __future__ import annotations

import shlex
import shutil
import time
from collections.abc import Callable, Mapping
from threading import Event as ThreadEvent

import chess

from obscuro.client.engine import engine_command
from obscuro.engine.options import OptionError, Options
from obscuro.engine.player_kind import PlayerKind
from obscuro.matches.event import Entrant
from obscuro.matches.game_record import OWN_OBSERVATIONS, Contestant, Turn
from obscuro.matches.time_control import Allowance
from obscuro.matches.uci_player import UciPlayer
from obscuro.players.roster import PLAYERS
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import hidden_fen
from obscuro.suggestion import did_you_mean

Warn = Callable[[str], None]
MakeContestant = Callable[[Entrant, Warn, bool], Contestant]
"""Makes an entrant's player. The flag: whether it reports coverage."""
_MOST_SEED = 2**31 - 1


def split_command(text: str) -> list[str]:
    """Split a command line as a shell does. Raises ValueError."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"can't read the command {text!r}: {error}") from None


def check_entrant(entrant: Entrant) -> None:
    """Raise ValueError, with one clear line, if the player can't be made on this machine."""
    kind = PLAYERS.get(entrant.player)
    if kind is not None:
        if kind.lack is not None:
            raise ValueError(kind.lack)
        set_options(kind, entrant.options)  # OptionError is a ValueError
        return
    command = split_command(entrant.player)
    if not command or shutil.which(command[0]) is None:
        names = ", ".join(PLAYERS)
        raise ValueError(
            f"{entrant.player!r} is neither a built-in player ({names}) nor a program"
            + did_you_mean(entrant.player, PLAYERS)
        )


def make_contestant(entrant: Entrant, warn: Warn, coverage: bool = False) -> Contestant:
    """Make the entrant's player, which starts its process at its first game.

    A built-in player that is not light gets a process too, so that its turns are measured fairly.
    warn: receives the player's warnings. coverage: whether the player is to say where the true
    position was in its search, if it can.
    """
    kind = PLAYERS.get(entrant.player)
    if kind is not None and kind.light:
        return LightContestant(kind, entrant.name, entrant.options, warn)
    return UciPlayer(
        split_command(entrant.player) if kind is None else engine_command(kind.name),
        name=entrant.name,
        options=entrant.options,
        coverage=coverage,
        on_warning=warn,
    )


class LightContestant:
    """A player in this process. It learns only what its side sees.

    options: the player's. If they set no `Seed`, each game's own seed is used. warn: receives the
    player's warnings.
    """

    told = OWN_OBSERVATIONS

    def __init__(self, kind: PlayerKind, name: str, options: Mapping[str, str], warn: Warn) -> None:
        self.name = name
        self._options = set_options(kind, options)
        self._player = kind.make(self._options, warn)
        self._color: chess.Color = chess.WHITE

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        """Start a new game from this position."""
        options = self._options.copy()
        if not options.integer("Seed"):
            options.set("Seed", str(seed % _MOST_SEED + 1))
        self._color = color
        self._player.set_options(options)
        start = (
            hidden_fen(board, color)
            if board.hidden_start
            else board.epd(shredder=board.chess960, en_passant="fen")
        )
        self._player.new_game_from_fen(0 if color == chess.WHITE else 1, start)

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move from what the side was told so far."""
        begin = time.monotonic()
        choice = self._player.search(allowance.limits(begin), ThreadEvent(), lambda info: None)
        return Turn(choice.move or "(none)", time.monotonic() - begin)

    def after_ply(self, board: FogOfWarBoard) -> None:
        """Tell the player what its side did and saw."""
        last_ply(board, self._color).tell(self._player)

    def close(self) -> None:
        """Close the player."""
        self._player.close()


def set_options(kind: PlayerKind, options: Mapping[str, str]) -> Options:
    """Return a kind's options with these values. Raises OptionError, which names the player."""
    known = Options(kind.options)
    try:
        for name, value in options.items():
            known.set(name, value)
    except OptionError as error:
        raise OptionError(f"{error} (player {kind.name})") from None
    return known
