"""Which challenges to accept, and the reason to decline the others."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from obscuro.bots.capabilities import FOG_VARIANTS
from obscuro.bots.events import Challenge


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

    games: how many at a time. unlimited: whether to play without a clock, and correspondence.
    """

    games: int = 1
    rated: Literal["any", "rated", "casual"] = "any"
    opponents: Literal["any", "human", "bot"] = "any"
    least_base: float = 30
    most_base: float = 3 * 3600
    least_increment: float = 0
    most_increment: float = 180
    unlimited: bool = False

    def judge(self, challenge: Challenge, running: int) -> Decline | None:
        """Return why to decline a challenge; None: accept it. running: how many games go on now."""
        if challenge.variant not in FOG_VARIANTS or challenge.chess960:
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
