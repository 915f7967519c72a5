"""A thread that does one job after the other, and one that says that a long job still goes on."""

import queue
import threading
import time
from collections.abc import Callable
from types import TracebackType

Job = Callable[[], None]

TICK_SECONDS = 1.0
"""Between two signs of life. GUIs are promised one every 5 s, and the compiler can keep Python for
seconds from saying it."""


class Worker:
    """Does jobs in order, in a thread of its own. A job must not raise."""

    def __init__(self, last: Job) -> None:
        """Start the thread. last: the job that ends it."""
        self._last = last
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def post(self, job: Job) -> None:
        """Have a job done when those before it are; does not wait."""
        self._jobs.put(job)

    def end(self, seconds: float) -> bool:
        """Have the last job done and wait so long for it; tell whether all is done."""
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
        self._last()


class Ticker:
    """While the `with` block runs, says every few seconds what is being done."""

    def __init__(self, say: Callable[[str], None], seconds: float = TICK_SECONDS) -> None:
        self._say = say
        self._seconds = seconds
        self._what = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ticker", daemon=True)

    def tell(self, what: str) -> None:
        """Note what is being done now."""
        self._what = what

    def _run(self) -> None:
        begin = time.monotonic()
        while not self._over.wait(self._seconds):
            what = f": {self._what}" if self._what else ""
            self._say(f"info string compiling, {time.monotonic() - begin:.0f} s so far{what}")

    def __enter__(self) -> "Ticker":
        """Start the clock."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        self._over.set()
        self._thread.join()
