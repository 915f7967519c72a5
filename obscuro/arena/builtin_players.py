"""The players that come with the program, by the names under which an event knows them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from obscuro.arena.game_record import Contestant
from obscuro.arena.players import RandomPlayer, UciPlayer
from obscuro.engine.options import Options
from obscuro.engine.player_kind import OBSCURO

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


def engine_command(player: str = OBSCURO.name) -> list[str]:
    """Return the command that starts this very program as a UCI engine.

    player: a name of `obscuro.opponents.roster`.
    """
    command = [sys.executable, "-P", "-m", "obscuro.cli.main", "uci"]
    return command if player == OBSCURO.name else [*command, "--player", player]


def refuse_options(player: str) -> Callable[[Mapping[str, str]], None]:
    """Return a check for a player that has no options."""

    def check(options: Mapping[str, str]) -> None:
        if options:
            raise ValueError(f"{player} has no options")

    return check


def _check_obscuro(options: Mapping[str, str]) -> None:
    known = Options()
    for name, value in options.items():
        known.set(name, value)  # OptionError is a ValueError


def _make_obscuro(name: str, options: Mapping[str, str], warn: Warn, coverage: bool) -> Contestant:
    return UciPlayer(engine_command(), name=name, options=options, on_warning=warn)


def _make_random(name: str, options: Mapping[str, str], warn: Warn, coverage: bool) -> Contestant:
    return RandomPlayer(name)


BUILT_IN: Mapping[str, BuiltInPlayer] = {
    "obscuro": BuiltInPlayer("this engine, as a UCI process", _check_obscuro, _make_obscuro),
    "random": BuiltInPlayer("any legal move", refuse_options("random"), _make_random),
}
