"""A thread that does one job after the other."""

import queue
import threading
from collections.abc import Callable

Job = Callable[[], None]


class Worker:
    """Does jobs in the order of their posting, in a thread of its own. Jobs must not raise."""

    def __init__(self, last: Job) -> None:
        """Start the thread. last: the job that ends it."""
        self._last = last
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def post(self, job: Job) -> None:
        """Queue a job; does not wait for it."""
        self._jobs.put(job)

    def end(self, seconds: float) -> bool:
        """Queue the last job and wait at most `seconds`; return whether all jobs are done."""
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self._last()
