"""Which track a worker gets, when it leaves one, and what the queue holds."""

from __future__ import annotations

import threading

import pytest

from obscuro.queries.query_reader import QueryError
from obscuro.queries.work_queue import HeldQuery, Track, WorkQueue
from tests.hanging import HANG_SECONDS


class Queue(WorkQueue):
    """A queue whose workers are the test itself. started: how many are wanted. stopped: tracks."""

    def __init__(self, most: int = 100, most_bytes: int = 10_000, workers: int = 1) -> None:
        self.started = 0
        self.stopped: list[str] = []
        super().__init__(most, most_bytes, workers, self._count)

    def _count(self) -> None:
        self.started += 1

    def hold(self, identifier: str, views: int = 1, priority: int = 0, line: str = "x") -> None:
        self.check(identifier, len(line))
        self.add(HeldQuery(identifier, line, views, priority))

    def next(self) -> Track:
        track = self.take(lambda: self.stopped.append("stop"))
        assert track is not None
        return track

    def finish(self, track: Track) -> HeldQuery | None:
        return self.leave(track, ended=True)


def test_tracks_come_by_priority_and_then_in_the_order_of_the_queries() -> None:
    queue = Queue()
    for identifier, priority in (("a", 0), ("b", 5), ("c", 0), ("d", -1), ("e", 5)):
        queue.hold(identifier, priority=priority)
    order = []
    for _ in range(5):
        track = queue.next()
        order.append(track.query.id)
        queue.finish(track)
    assert order == ["b", "e", "a", "c", "d"]


def test_a_worker_leaves_its_track_for_a_higher_priority_and_comes_back() -> None:
    queue = Queue()
    queue.hold("a")
    queue.hold("b")
    track = queue.next()
    queue.note(track, failed=False)
    assert not queue.must_leave(track), "b has the same priority"
    queue.hold("c", priority=1)
    assert queue.must_leave(track)
    assert queue.leave(track, ended=False) is None
    first = queue.next()
    assert first.query.id == "c"
    queue.finish(first)
    again = queue.next()
    assert again is track and again.turns_done == 1, "before b, which came later"


def test_a_worker_stays_while_another_one_is_idle() -> None:
    queue = Queue(workers=2)
    queue.hold("a")
    track = queue.next()
    queue.hold("b", priority=1)
    assert queue.started == 2
    assert not queue.must_leave(track), "the other worker will take b"
    assert queue.next().query.id == "b"
    queue.hold("c", priority=2)
    assert queue.must_leave(track)


def test_workers_are_started_as_they_are_needed() -> None:
    queue = Queue(workers=3)
    queue.hold("a")
    assert queue.started == 1
    queue.finish(queue.next())
    queue.hold("b")
    assert queue.started == 1, "the first one is idle"
    queue.hold("c", views=2)
    assert queue.started == 3
    queue.hold("d", views=2)
    assert queue.started == 3, "there may be no more"


def test_a_query_ends_with_its_last_track() -> None:
    queue = Queue(workers=2)
    queue.hold("a", views=2)
    tracks = [queue.next(), queue.next()]
    queue.note(tracks[0], failed=False)
    queue.note(tracks[1], failed=True)
    with pytest.raises(QueryError, match="has not ended yet"):
        queue.check("a", 1)
    assert queue.finish(tracks[0]) is None
    query = queue.finish(tracks[1])
    assert query is not None
    done = query.done()
    assert (done.id, done.results, done.errors, done.terminated) == ("a", 1, 1, False)
    queue.check("a", 1)  # the id is free


def test_a_full_queue_says_so() -> None:
    queue = Queue(most=2, most_bytes=10)
    queue.hold("a", line="12345678")
    with pytest.raises(QueryError, match=r"queue is full.*8 bytes.*send it again later") as raised:
        queue.check("b", 3)
    assert (raised.value.field, raised.value.id) == (None, "b")
    queue.hold("b", line="12")
    with pytest.raises(QueryError, match="queue is full: 2 queries have not ended"):
        queue.check("c", 0)
    queue.finish(queue.next())
    queue.hold("c", line="12345678")


def test_terminate_takes_what_waits_and_stops_what_runs() -> None:
    queue = Queue()
    for identifier in ("a", "b", "c"):
        queue.hold(identifier)
    running = queue.next()
    count, ended = queue.terminate("b")
    assert (count, [query.id for query in ended], queue.stopped) == (1, ["b"], [])
    assert ended[0].done().terminated
    assert queue.terminate("b") == (0, []), "it has ended"
    assert queue.terminate("unknown") == (0, [])
    count, ended = queue.terminate(None)
    assert (count, [query.id for query in ended], queue.stopped) == (2, ["c"], ["stop"])
    assert queue.terminate(None) == (0, []), "a ends with its turn"
    assert queue.must_leave(running) and running.query.cancel.is_set()
    query = queue.leave(running, ended=False)
    assert query is running.query and query.done().terminated
    queue.close()
    assert queue.take(lambda: None) is None


def test_one_track_runs_while_the_other_one_waits_when_a_query_is_terminated() -> None:
    queue = Queue()
    queue.hold("a", views=2)
    track = queue.next()
    assert queue.terminate("a") == (1, [])
    assert queue.leave(track, ended=False) is track.query


def test_a_closed_queue_gives_out_what_is_left() -> None:
    queue = Queue(workers=2)
    queue.hold("a")
    track = queue.next()
    queue.close()
    ends: list[Track | None] = []
    other = threading.Thread(target=lambda: ends.append(queue.take(lambda: None)))
    other.start()
    assert not ends, "the track may come back"
    queue.finish(track)
    other.join(HANG_SECONDS)
    assert ends == [None]
