"""How the bridge behaves: which challenges it accepts, and what it does in a game."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from obscuro.bots.events import FOG_VARIANTS, Challenge


class Decline(StrEnum):
    """The reasons that the API has; the server turns them into a sentence for the challenger."""

    LATER = "later"
    TOO_FAST = "tooFast"
    TOO_SLOW = "tooSlow"
    TIME_CONTROL = "timeControl"
    RATED = "rated"  # please send a rated one
    CASUAL = "casual"  # please send a casual one
    VARIANT = "variant"
    NO_BOT = "noBot"
    ONLY_BOT = "onlyBot"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which challenges to accept. Times are seconds.

    games: how many at a time. leave_after: how many in all; None: any number. unlimited: whether to
    play without a clock, and correspondence. block: names of those who are not played.
    opponent_games: how many with one opponent within a day; None: any number. chess960: whether to
    play from the starts of Chess960.
    """

    games: int = 1
    leave_after: int | None = None
    rated: Literal["any", "rated", "casual"] = "any"
    opponents: Literal["any", "human", "bot"] = "any"
    least_base: float = 30
    most_base: float = 1800
    least_increment: float = 0
    most_increment: float = 30
    unlimited: bool = False
    block: tuple[str, ...] = ()
    opponent_games: int | None = 50
    chess960: bool = False

    def judge(self, challenge: Challenge, running: int) -> Decline | None:
        """Return why to decline a challenge; None: accept it. running: how many games go on now."""
        if challenge.variant not in FOG_VARIANTS:
            return Decline.VARIANT
        if challenge.chess960 and not self.chess960:
            return Decline.VARIANT
        time = challenge.time
        if time is None:
            if not self.unlimited:
                return Decline.TIME_CONTROL
        elif time.base < self.least_base or time.increment < self.least_increment:
            return Decline.TOO_FAST
        elif time.base > self.most_base or time.increment > self.most_increment:
            return Decline.TOO_SLOW
        if self.rated == "rated" and not challenge.rated:
            return Decline.RATED
        if self.rated == "casual" and challenge.rated:
            return Decline.CASUAL
        if self.opponents == "human" and challenge.is_bot:
            return Decline.NO_BOT
        if self.opponents == "bot" and not challenge.is_bot:
            return Decline.ONLY_BOT
        return Decline.LATER if running >= self.games else None


@dataclass(frozen=True, slots=True)
class GameSettings:
    """How to behave in a game. Scores are the engine's, in centipawns for our side.

    draw_score: accept a draw if the last score is at most this and draw_plies have been made; None:
    never. resign_score: resign after resign_moves scores of at most this; None: never. movetime:
    milliseconds for each move if no clock runs. abort_seconds: how long to wait for the other
    side's first move. greeting, farewell: said to people in the chat; "": nothing is said.
    en_passant_hidden: whether our side is shown no more than pychess.org shows a player.
    """

    draw_score: int | None = -100
    draw_plies: int = 40
    resign_score: int | None = None
    resign_moves: int = 3
    movetime: int = 10_000
    abort_seconds: float = 120.0
    greeting: str = ""
    farewell: str = ""
    en_passant_hidden: bool = False
