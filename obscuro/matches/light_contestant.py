"""Players so cheap that a match plays them in its own process: those of a kind with `light`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Event

import chess

from obscuro.engine.options import OptionError, Options
from obscuro.engine.player_kind import PlayerKind
from obscuro.matches.game_record import OWN_OBSERVATIONS, Turn
from obscuro.matches.time_control import Allowance
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard

_MOST_SEED = 2**31 - 1


class LightContestant:
    """A player in this process. It learns only what its side sees.

    options: the player's. If they set no `Seed`, each game's own seed is used. warn: receives the
    player's warnings.
    """

    told = OWN_OBSERVATIONS

    def __init__(
        self, kind: PlayerKind, name: str, options: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
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
        self._player.new_game_from_fen(
            0 if color == chess.WHITE else 1, board.epd(en_passant="fen")
        )

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        """Choose a move from what the side was told so far."""
        begin = time.monotonic()
        choice = self._player.search(allowance.limits(begin), Event(), lambda info: None)
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
