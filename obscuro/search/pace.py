"""When a search ends: at its limits, and under a clock sooner or later than planned.

A search with time to spare ends early if one action has been overwhelming for long. It goes on if
the strategy is not settled near the planned end. What decides is cheap: our infoset's top action,
its probability, and our value.
"""

import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.search.parameters import (
    EASY_FROM,
    EASY_PROBABILITY,
    EDGES_PER_EXPANSION,
    EDGES_PER_SECOND,
    EXTENSION,
    LOOKS,
    SOLVER_TAIL,
    STABLE_SINCE,
    UNSETTLED_LOSS,
    UNSETTLED_SINCE,
)


@dataclass(slots=True)
class Progress:
    """What a search has done so far, in the units of the protocol's info lines."""

    nodes: int = 0  # histories added in this search
    carried: int = 0  # histories kept from the last one
    sampled: int = 0  # positions added at the root
    roots: int = 0  # distinct positions of our infoset, expanded when the search began
    root_infosets: int = 0  # J, ▼'s at the root
    infosets: int = 0
    iterations: int = 0
    expansions: int = 0
    depth: float = 0.0  # mean plies from the root to an expansion's children
    seldepth: int = 0
    value: float = 0.0  # ▲'s view, at our infoset
    resolve: bool = False  # Resolve in force (p_max > 0), else Maxmargin
    policy: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    stable: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    # Our actions' values over all histories of our infoset, ▲'s view; empty unless asked for.
    action_values: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    full: bool = False  # no room for more nodes
    exhausted: bool = False  # no leaf that matters is found at present


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends; None means no such limit. Times are seconds of `time.monotonic`.

    nodes: histories added to the tree. latest: the search may put its deadline off until then, and
    may also end earlier; None: it ends at the deadline. iterations: of the solver; a turn of it is
    not cut short. Without any limit only `stop` ends a search.
    """

    deadline: float | None = None
    nodes: int | None = None
    latest: float | None = None
    iterations: int | None = None


class Look(NamedTuple):
    """The strategy at our infoset at one time."""

    seconds: float  # since the search began
    top: int  # the likeliest action
    probability: float  # of the top action
    value: float  # ours, [-1, 1]


class Pace:
    """The plan of one search's end. Times are seconds of `time.monotonic`.

    begin: of the search; deadline: the planned end; latest: the end may be put off until then.
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
        """Take a look at the strategy; returns the end that is planned now.

        top, probability, value: see `Look`. slice_seconds: how long it may take until the next
        look. Expanding ends before the solver's tail begins, so the decision to go on must come
        before.
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
        """Whether one action has been overwhelming since STABLE_SINCE of the elapsed time."""
        top = self._looks[-1].top
        return all(
            look.top == top and look.probability >= EASY_PROBABILITY
            for look in self._since(STABLE_SINCE * elapsed)
        )

    def _unsettled(self, elapsed: float) -> bool:
        """Whether the top action has changed lately, or the value has fallen much."""
        recent = self._since(UNSETTLED_SINCE * elapsed)
        fell = max(look.value for look in recent) - recent[-1].value
        return fell >= UNSETTLED_LOSS or any(look.top != recent[-1].top for look in recent)

    def _since(self, seconds: float) -> list[Look]:
        """The looks since a second of the search, and the last one before it."""
        before = [index for index, look in enumerate(self._looks) if look.seconds <= seconds]
        return self._looks[before[-1] if before else 0 :]


class Clock:
    """One search's clock: by time, by nodes, or until it is stopped.

    edges_per_expansion: see `SearchParameters`.
    """

    def __init__(
        self,
        progress: Progress,
        limits: Limits,
        stop: threading.Event,
        edges_per_expansion: int = EDGES_PER_EXPANSION,
    ) -> None:
        self._progress = progress
        self._limits = limits
        self._edges_per_expansion = edges_per_expansion
        self._stop = stop
        self._begin = time.monotonic()
        self._deadline = limits.deadline
        self._pace: Pace | None = None
        if limits.deadline is not None and limits.latest is not None:
            self._pace = Pace(self._begin, limits.deadline, limits.latest)
        self._history: list[tuple[float, int, int]] = []  # (seconds, nodes, iterations by then)
        self._slice_start = self._begin
        self._slowest_slice = 0.0
        self._edges_per_second = EDGES_PER_SECOND
        self._tail_edges = 0

    def start_slice(self) -> None:
        """Note that a slice of solving begins."""
        self._slice_start = time.monotonic()
        progress = self._progress
        self._history.append((self._slice_start - self._begin, progress.nodes, progress.iterations))

    def end_slice(self, edges: int) -> None:
        """Note that a slice of solving has ended. edges: how many it visited."""
        took = time.monotonic() - self._slice_start
        self._slowest_slice = max(took, 0.9 * self._slowest_slice)
        if took > 0:
            self._edges_per_second = (self._edges_per_second + edges / took) / 2
        over = self.expanding_over() or self._progress.exhausted
        self._tail_edges = self._tail_edges + edges if over else 0

    def edges_within(self, seconds: float) -> int:
        """How many edges the solver visits in `seconds` at the speed of late slices."""
        return int(seconds * self._edges_per_second)

    def due(self) -> bool:
        """Whether it is time to `look` at the strategy."""
        return self._pace is not None and self._pace.due(time.monotonic())

    def look(self, top: int, probability: float, value: float) -> None:
        """Plan the end anew; see `Pace.look`. Only the solver's thread may call it."""
        assert self._pace is not None
        if not self.expanding_over():
            now = time.monotonic()
            self._deadline = self._pace.look(now, self._slowest_slice, top, probability, value)

    def expanding_over(self) -> bool:
        """Whether no more leaves may be expanded; the solver then runs on alone."""
        limits, progress = self._limits, self._progress
        if self._stop.is_set() or progress.full:
            return True
        if limits.nodes is not None and progress.nodes >= limits.nodes:
            return True
        if limits.iterations is not None and (
            progress.iterations >= (1 - SOLVER_TAIL) * limits.iterations
        ):
            return True
        if self._deadline is not None:
            tail = SOLVER_TAIL * (self._deadline - self._begin)
            return time.monotonic() >= self._deadline - tail
        return False

    def over(self) -> bool:
        """Whether the search ends now, before another slice of solving."""
        limits, progress = self._limits, self._progress
        if self._stop.is_set():
            return True
        if self._deadline is not None and time.monotonic() + self._slowest_slice >= self._deadline:
            return True
        if limits.iterations is not None and progress.iterations >= limits.iterations:
            return True
        if limits.nodes is not None and (
            progress.nodes >= limits.nodes or progress.full or progress.exhausted
        ):
            # The solver's last part, measured in work so that it repeats itself.
            share = SOLVER_TAIL * self._edges_per_expansion
            return self._tail_edges >= share * progress.expansions
        return False

    def iteration_at_half(self) -> int:
        """How many iterations were done when half of the search was over (T½ of Obscuro, C.8)."""
        limits = self._limits
        numbers = (limits.nodes, limits.iterations)
        limited = self._deadline is not None or any(number is not None for number in numbers)
        elapsed = time.monotonic() - self._begin
        ended = not limited or self._stop.is_set()
        progress = self._progress
        whole = self._share(elapsed, progress.nodes, progress.iterations) if ended else 1.0
        done = 0
        for seconds, nodes, iterations in self._history:
            if self._share(seconds, nodes, iterations) > STABLE_SINCE * whole:
                break
            done = iterations
        return done

    def _share(self, elapsed: float, nodes: int, iterations: int) -> float:
        """The share of the search that was done then, 1 = all; without a limit, the seconds."""
        shares = []
        if self._deadline is not None:
            shares.append(elapsed / max(self._deadline - self._begin, 1e-9))
        if self._limits.nodes is not None:
            shares.append(nodes / max(self._limits.nodes, 1))
        if self._limits.iterations is not None:
            shares.append(iterations / max(self._limits.iterations, 1))
        return max(shares) if shares else elapsed
