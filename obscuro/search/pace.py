"""When a search that may take more or less time than planned ends: the time management of a clock.

It ends early if one action has been overwhelming for long, and goes on if the strategy is not settled
near the planned end. What it looks at is cheap: our infoset's top action, its probability, our value.
"""

from typing import NamedTuple

from obscuro.search.parameters import (
    EASY_FROM,
    EASY_PROBABILITY,
    EXTENSION,
    LOOKS,
    SOLVER_TAIL,
    STABLE_SINCE,
    UNSETTLED_LOSS,
    UNSETTLED_SINCE,
)


class Look(NamedTuple):
    """The strategy at our infoset at one time."""

    seconds: float  # since the search began
    top: int  # the likeliest action
    probability: float  # its
    value: float  # ours, [-1, 1]


class Pace:
    """The plan of one search's end. Times are `time.monotonic` seconds.

    begin: of the search; deadline: the end as planned; latest: what it may be put off to.
    """

    def __init__(self, begin: float, deadline: float, latest: float) -> None:
        self._begin = begin
        self._planned = max(deadline - begin, 0.0)
        self._longest = max(latest - begin, self._planned)
        self._interval = self._planned / LOOKS
        self._looks: list[Look] = []

    def due(self, now: float) -> bool:
        """Whether some time has passed since the last look."""
        last = self._looks[-1].seconds if self._looks else 0.0
        return now - self._begin >= last + self._interval

    def look(
        self, now: float, slice_seconds: float, top: int, probability: float, value: float
    ) -> float:
        """Take a look at the strategy; returns the end as it is planned now.

        slice_seconds: how long it may take until the next look. The solver's tail follows on the
        expanders' end, so that the decision to go on has to come before that.
        """
        elapsed = now - self._begin
        self._looks.append(Look(elapsed, top, probability, value))
        ahead = elapsed + max(self._interval, 2 * slice_seconds)
        if ahead >= (1 - SOLVER_TAIL) * self._planned and self._unsettled(elapsed):
            self._planned = min(EXTENSION * self._planned, self._longest)
        elif elapsed >= EASY_FROM * self._planned and self._easy(elapsed):
            self._planned = min(self._planned, elapsed / (1 - SOLVER_TAIL))
        return self._begin + self._planned

    def _easy(self, elapsed: float) -> bool:
        """Whether one action has been overwhelming since STABLE_SINCE of the time that has passed."""
        top = self._looks[-1].top
        return all(
            look.top == top and look.probability >= EASY_PROBABILITY
            for look in self._since(STABLE_SINCE * elapsed)
        )

    def _unsettled(self, elapsed: float) -> bool:
        """Whether another action has come to the top of late, or the value has fallen much."""
        recent = self._since(UNSETTLED_SINCE * elapsed)
        fell = max(look.value for look in recent) - recent[-1].value
        return fell >= UNSETTLED_LOSS or any(look.top != recent[-1].top for look in recent)

    def _since(self, seconds: float) -> list[Look]:
        """What was seen since then, and what was the case then: the last look before."""
        before = [index for index, look in enumerate(self._looks) if look.seconds <= seconds]
        return self._looks[before[-1] if before else 0 :]
