"""The players that come with the program, by the names under which an event knows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from obscuro.client.engine import engine_command
from obscuro.engine.player_kind import PlayerKind
from obscuro.matches.game_record import Contestant
from obscuro.matches.light_contestant import LightContestant, set_options
from obscuro.matches.uci_player import UciPlayer
from obscuro.players.roster import PLAYERS

Warn = Callable[[str], None]


class BuiltInPlayer(NamedTuple):
    """How a player of this program is checked and made.

    about: one line for help texts. check: takes the options, and raises ValueError (one clear line)
    if the player cannot take them. make: takes the player's name in the event, its options, a
    function that receives warnings, and whether the player is to say where the true position was in
    its search (`Turn.coverage`). Both import what is heavy only when they are called.
    """

    about: str
    check: Callable[[Mapping[str, str]], None]
    make: Callable[[str, Mapping[str, str], Warn, bool], Contestant]


def _built_in(kind: PlayerKind) -> BuiltInPlayer:
    """Return how a match makes a player of this kind.

    A player that is not light gets a process of its own, so that its turns are measured fairly.
    """

    def check(options: Mapping[str, str]) -> None:
        if kind.lack is not None:
            raise ValueError(kind.lack)
        set_options(kind, options)  # OptionError is a ValueError

    def make(name: str, options: Mapping[str, str], warn: Warn, coverage: bool) -> Contestant:
        if kind.light:
            return LightContestant(kind, name, options, warn)
        return UciPlayer(
            engine_command(kind.name),
            name=name,
            options=options,
            coverage=coverage,
            on_warning=warn,
        )

    return BuiltInPlayer(kind.about, check, make)


BUILT_IN: Mapping[str, BuiltInPlayer] = {name: _built_in(kind) for name, kind in PLAYERS.items()}
