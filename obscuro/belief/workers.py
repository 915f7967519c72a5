"""Running compiled code on several threads; it releases Python's lock meanwhile."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Workers:
    """A team of `threads` threads, the calling one among them. Threads start when first needed."""

    def __init__(self, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"at least one thread is needed, not {threads}")
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None

    def run(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """Do the jobs, the first one in this thread; return their results in order.

        If jobs raise, this waits for all of them and raises the first exception again.
        """
        if len(jobs) <= 1:
            return [job() for job in jobs]
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="belief")
        futures = [self._executor.submit(job) for job in jobs[1:]]
        try:
            first = jobs[0]()
        finally:
            for future in futures:
                future.exception()
        return [first, *(future.result() for future in futures)]

    def close(self) -> None:
        """End the threads; they start again if needed."""
        if self._executor is not None:
            self._executor.shutdown()
            self._executor = None
