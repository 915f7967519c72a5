"""A thread that says now and then what a long job is doing."""

import threading
import time
from collections.abc import Callable
from types import TracebackType

TICK_SECONDS = 1.0
"""Between two signs of life. GUIs are promised one every 5 s, and the compiler can keep Python from
saying it for seconds."""


class Ticker:
    """While its `with` block runs, says every `seconds` what is being done."""

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
        """Start the thread."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread."""
        self._over.set()
        self._thread.join()
