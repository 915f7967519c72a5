"""Entrants of an event: plain data, from which any process or machine can make the player."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from obscuro.matches.builtin_players import BUILT_IN, Warn
from obscuro.matches.game_record import Contestant
from obscuro.matches.time_control import TimeControl
from obscuro.matches.uci_player import UciPlayer


@dataclass(frozen=True, slots=True)
class Entrant:
    """One who plays in an event.

    name: unique in the event. player: the name of a built-in player, or the command line of a UCI
    engine. options: UCI options, set at every start. control: its own time; None: the event's.
    """

    name: str
    player: str
    options: Mapping[str, str] = field(default_factory=dict)
    control: TimeControl | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the entrant as a JSON object."""
        return {
            "name": self.name,
            "player": self.player,
            "options": dict(self.options),
            "control": None if self.control is None else self.control.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entrant:
        """Read what `to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        control = data["control"]
        return cls(
            str(data["name"]),
            str(data["player"]),
            {str(name): str(value) for name, value in data["options"].items()},
            None if control is None else TimeControl.from_json(control),
        )


MakeContestant = Callable[[Entrant, Warn, bool], Contestant]
"""Makes an entrant's player. The flag: whether it reports coverage."""


def split_command(text: str) -> list[str]:
    """Split a command line as a shell does. Raises ValueError."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"can't read the command {text!r}: {error}") from None


def check_entrant(entrant: Entrant) -> None:
    """Raise ValueError, with one clear line, if the player can't be made on this machine."""
    built_in = BUILT_IN.get(entrant.player)
    if built_in is not None:
        built_in.check(entrant.options)
        return
    command = split_command(entrant.player)
    if not command or shutil.which(command[0]) is None:
        names = ", ".join(BUILT_IN)
        raise ValueError(f"{entrant.player!r} is neither a built-in player ({names}) nor a program")


def make_contestant(entrant: Entrant, warn: Warn, coverage: bool = False) -> Contestant:
    """Make the entrant's player, which starts its process at its first game.

    warn: receives the player's warnings. coverage: whether the player is to say where the true
    position was in its search, if it can.
    """
    built_in = BUILT_IN.get(entrant.player)
    if built_in is not None:
        return built_in.make(entrant.name, entrant.options, warn, coverage)
    command = split_command(entrant.player)
    return UciPlayer(
        command, name=entrant.name, options=entrant.options, coverage=coverage, on_warning=warn
    )
