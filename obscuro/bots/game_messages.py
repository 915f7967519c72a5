"""What a `ServerGame` is told, and what it asks for: its messages and its actions.

A message comes from the server's streams, from the engine, or from the game's own threads. An
action is something for those threads to do.
"""

from __future__ import annotations

from dataclasses import dataclass

from obscuro.bots.events import GameEvent
from obscuro.bots.game_end import Verdict
from obscuro.client.engine import Think
from obscuro.client.move_report import Report

# -- messages, besides the server's events ------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Connected:
    """The game's stream was opened anew: the next `GameFull` says how the game stands."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The game's stream broke, or could not be opened. Another attempt follows."""


@dataclass(frozen=True, slots=True)
class Thought:
    """The engine's answer to a `Think`.

    score: centipawns for our side; None if unknown. report: what it said of its search.
    """

    number: int
    move: str
    score: int | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of a move of ours.

    error: None if the server took the move. refused: the server said no. Without `refused` the move
    may have arrived, and must not be sent again before we know.
    """

    number: int
    move: str
    error: str | None = None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """The server has no such game, or does not let us see it."""

    why: str


Message = GameEvent | Connected | Disconnected | Thought | Sent | Missing


# -- actions ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StopThinking:
    """Stop the engine: its answer is of no use any more."""


@dataclass(frozen=True, slots=True)
class Send:
    """Make a move on the server."""

    number: int
    move: str


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for the other side's move. An engine that ponders may be told the position."""

    position: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask something else of the server: abort, resign, draw/no, takeback/no, claim-victory."""

    path: str


@dataclass(frozen=True, slots=True)
class Resync:
    """Open the game's stream anew, to be told how the game stands."""


@dataclass(frozen=True, slots=True)
class Note:
    """Tell the user something."""

    text: str


@dataclass(frozen=True, slots=True)
class Say:
    """Say something in the game's chat."""

    text: str


@dataclass(frozen=True, slots=True)
class LookBack:
    """Give the engine back and have the game, which is over, told once more, for its last moves."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Leave the game, which is over for us.

    known: the server says so too, so that the game can't come again.
    """

    verdict: Verdict
    known: bool = True


Action = Think | StopThinking | Send | Wait | Ask | Say | Resync | LookBack | Note | Finish
