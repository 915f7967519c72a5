"""When a search ends, and how far it has come."""

import threading
import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from obscuro.search.pace import Pace
from obscuro.search.parameters import EDGES_PER_EXPANSION, SOLVER_TAIL, STABLE_SINCE


@dataclass(frozen=True, slots=True)
class Limits:
    """When a search ends; None means no such limit. Times are `time.monotonic` seconds.

    nodes counts histories added to the tree. With no limit at all only `stop` ends the search.
    latest: the deadline is a plan, which may be kept early or put off until then; None: it is kept.
    """

    deadline: float | None = None
    nodes: int | None = None
    latest: float | None = None


@dataclass(slots=True)
class Progress:
    """What a search has done so far, in the units of the protocol's info lines."""

    nodes: int = 0  # histories added in this search
    carried: int = 0  # histories kept from the last one
    sampled: int = 0  # positions added at the root
    infosets: int = 0
    iterations: int = 0
    expansions: int = 0
    depth: float = 0.0  # mean plies from the root to an expansion's children
    seldepth: int = 0
    value: float = 0.0  # ▲'s view, at our infoset
    resolve: bool = False  # Resolve in force (p_max > 0), else Maxmargin
    policy: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    stable: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))
    full: bool = False  # no room for more nodes
    exhausted: bool = False  # no leaf that matters is found any more; that may change


class Clock:
    """One search's clock: by time, by nodes, or until it is stopped."""

    def __init__(self, progress: Progress, limits: Limits, stop: threading.Event) -> None:
        self._progress = progress
        self._limits = limits
        self._stop = stop
        self._begin = time.monotonic()
        self._deadline = limits.deadline
        self._pace: Pace | None = None
        if limits.deadline is not None and limits.latest is not None:
            self._pace = Pace(self._begin, limits.deadline, limits.latest)
        self._history: list[tuple[float, int, int]] = []  # (seconds, nodes, iterations by then)
        self._slice_start = self._begin
        self._slowest_slice = 0.0
        self._tail_edges = 0

    def start_slice(self) -> None:
        """Called before each slice of solving."""
        self._slice_start = time.monotonic()
        progress = self._progress
        self._history.append((self._slice_start - self._begin, progress.nodes, progress.iterations))

    def end_slice(self, edges: int) -> None:
        """Called after each slice of solving, with the edges it visited."""
        took = time.monotonic() - self._slice_start
        self._slowest_slice = max(took, 0.9 * self._slowest_slice)
        over = self.expanding_over() or self._progress.exhausted
        self._tail_edges = self._tail_edges + edges if over else 0

    def due(self) -> bool:
        """Whether it is time to `look` at the strategy."""
        return self._pace is not None and self._pace.due(time.monotonic())

    def look(self, top: int, probability: float, value: float) -> None:
        """Plan the end anew: see `Pace.look`. Called by the solver's thread only."""
        assert self._pace is not None
        if not self.expanding_over():
            now = time.monotonic()
            self._deadline = self._pace.look(now, self._slowest_slice, top, probability, value)

    def expanding_over(self) -> bool:
        """Whether expansions have ended for good, so that the solver runs on alone."""
        limits, progress = self._limits, self._progress
        if self._stop.is_set() or progress.full:
            return True
        if limits.nodes is not None and progress.nodes >= limits.nodes:
            return True
        if self._deadline is not None:
            tail = SOLVER_TAIL * (self._deadline - self._begin)
            return time.monotonic() >= self._deadline - tail
        return False

    def over(self) -> bool:
        """Whether the search is to end now, before another slice of solving."""
        limits, progress = self._limits, self._progress
        if self._stop.is_set():
            return True
        if self._deadline is not None:
            return time.monotonic() + self._slowest_slice >= self._deadline
        if limits.nodes is not None and (self.expanding_over() or progress.exhausted):
            # The solver's last part, measured in work so that it repeats itself.
            return self._tail_edges >= SOLVER_TAIL * EDGES_PER_EXPANSION * progress.expansions
        return False

    def iteration_at_half(self) -> int:
        """The number of iterations done when half of the search was over (T½ of Obscuro, C.8)."""
        limited = self._deadline is not None or self._limits.nodes is not None
        elapsed = time.monotonic() - self._begin
        ended = not limited or self._stop.is_set()
        whole = self._share(elapsed, self._progress.nodes) if ended else 1.0
        done = 0
        for seconds, nodes, iterations in self._history:
            if self._share(seconds, nodes) > STABLE_SINCE * whole:
                break
            done = iterations
        return done

    def _share(self, elapsed: float, nodes: int) -> float:
        """Share of the search that was done then, 1 = the end; without a limit, the seconds."""
        shares = []
        if self._deadline is not None:
            shares.append(elapsed / max(self._deadline - self._begin, 1e-9))
        if self._limits.nodes is not None:
            shares.append(nodes / max(self._limits.nodes, 1))
        return max(shares) if shares else elapsed
