"""Which worker analyses what next. It knows queries and their tracks, and no engine."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from obscuro.client.analysis_messages import AnalysisDone
from obscuro.queries.query_reader import QueryError


@dataclass(eq=False, slots=True)
class HeldQuery:
    """A query that has not ended.

    line: the query as it came in; it is read again when a worker takes it up, because it takes a
    tenth of the memory of the game that it tells. views: how many tracks it has. cancel: set once
    it was terminated. results, errors: how many of its turns ended so.
    """

    id: str
    line: str
    views: int
    priority: int = 0
    cancel: threading.Event = field(default_factory=threading.Event)
    results: int = 0
    errors: int = 0
    tracks_left: int = 0

    def done(self) -> AnalysisDone:
        """Return the last answer to the query."""
        return AnalysisDone(
            id=self.id,
            results=self.results,
            errors=self.errors,
            terminated=self.cancel.is_set(),
        )


@dataclass(eq=False, slots=True)
class Track:
    """One side's turns of a query: one worker follows the game through them.

    view: the number of the side's view in the query. number: rises in the order of the queries.
    turns_done: how many of the turns to analyse have been.
    """

    query: HeldQuery
    view: int
    number: int
    turns_done: int = 0

    def __lt__(self, other: Track) -> bool:
        """Return whether this track comes first: by priority, then in the order of the queries."""
        mine, theirs = -self.query.priority, -other.query.priority
        return (mine, self.number) < (theirs, other.number)


class WorkQueue:
    """Tracks that wait, and those that a worker has. Any thread may call its methods.

    most: queries that may be held, waiting or not. most_bytes: of their lines. workers: how many
    there may be. start_worker: called when one more can be of use; the worker then calls `take`.
    """

    def __init__(
        self, most: int, most_bytes: int, workers: int, start_worker: Callable[[], None]
    ) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._spare = workers  # workers that were not started yet
        self._start_worker = start_worker
        self._lock = threading.Condition()
        self._held: dict[str, HeldQuery] = {}
        self._bytes = 0
        self._waiting: list[Track] = []  # a heap
        self._running: dict[Track, Callable[[], None]] = {}  # and what stops its search
        self._idle = 0  # workers that wait for a track, or are about to
        self._tracks = 0  # how many there have been
        self._closed = False

    def check(self, identifier: str, size: int) -> None:
        """Raise QueryError if a query with this id, of so many bytes, has no place."""
        with self._lock:
            if identifier in self._held:
                raise QueryError(f"id: a query {identifier!r} has not ended yet", "id", identifier)
            if len(self._held) >= self._most:
                full = f"{self._most} queries have not ended"
            elif self._bytes + size > self._most_bytes:
                full = f"the queries that have not ended take {self._bytes} bytes"
            else:
                return
        raise QueryError(f"the queue is full: {full}; send it again later", None, identifier)

    def add(self, query: HeldQuery) -> None:
        """Take in a query, which `check` has passed; only one thread adds queries."""
        with self._lock:
            self._held[query.id] = query
            self._bytes += len(query.line)
            query.tracks_left = query.views
            for view in range(query.views):
                self._tracks += 1
                heapq.heappush(self._waiting, Track(query, view, self._tracks))
            while self._spare and self._idle < len(self._waiting):
                self._spare -= 1
                self._idle += 1
                self._start_worker()
            self._lock.notify_all()

    def take(self, stop: Callable[[], None]) -> Track | None:
        """Wait for the next track; None once the queue is closed and nothing is left.

        stop: ends the search of the worker that takes it.
        """
        with self._lock:
            while not self._waiting:
                if self._closed and not self._held:
                    return None
                self._lock.wait()
            track = heapq.heappop(self._waiting)
            self._running[track] = stop
            self._idle -= 1
            return track

    def must_leave(self, track: Track) -> bool:
        """Return whether a worker should leave a track after the turn that it has done.

        That is so if the query was terminated, or if one of a higher priority finds no idle worker.
        """
        with self._lock:
            if track.query.cancel.is_set():
                return True
            first = self._waiting[0] if self._waiting and not self._idle else None
            return first is not None and first.query.priority > track.query.priority

    def note(self, track: Track, *, failed: bool) -> None:
        """Count a turn that was analysed, or that failed."""
        with self._lock:
            track.turns_done += 1
            if failed:
                track.query.errors += 1
            else:
                track.query.results += 1

    def leave(self, track: Track, *, ended: bool) -> HeldQuery | None:
        """Take a track back from its worker; return its query if that has ended now."""
        query = track.query
        with self._lock:
            del self._running[track]
            self._idle += 1
            if not ended and not query.cancel.is_set():
                heapq.heappush(self._waiting, track)
                self._lock.notify_all()
                return None
            query.tracks_left -= 1
            return self._ended(query)

    def terminate(self, identifier: str | None) -> tuple[int, list[HeldQuery]]:
        """End the query with an id, or all; return their number, and those that have ended now.

        The others end when their workers have answered the turns that they are at.
        """
        with self._lock:
            found = [
                query
                for query in self._held.values()
                if identifier in (None, query.id) and not query.cancel.is_set()
            ]
            for query in found:
                query.cancel.set()
            kept = [track for track in self._waiting if not track.query.cancel.is_set()]
            for track in self._waiting:
                track.query.tracks_left -= track.query.cancel.is_set()
            heapq.heapify(kept)
            self._waiting = kept
            # With the lock, so that no worker has gone on to another query meanwhile.
            for track, stop in self._running.items():
                if track.query in found:
                    stop()
            return len(found), [query for query in found if self._ended(query)]

    def close(self) -> None:
        """Let the workers end once nothing is left."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()

    def _ended(self, query: HeldQuery) -> HeldQuery | None:
        """Forget a query of which no track is left, and return it. The caller has the lock."""
        if query.tracks_left:
            return None
        del self._held[query.id]
        self._bytes -= len(query.line)
        self._lock.notify_all()
        return query
