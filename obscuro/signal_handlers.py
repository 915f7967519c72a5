"""What the program does on SIGINT and SIGTERM, in one place for all commands."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

LEAVING_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def leaving_signals_handled(handle: Callable[[int], object]) -> Iterator[None]:
    """Within this context, let SIGINT and SIGTERM call `handle` with their number.

    Only the main thread may set handlers; in another one, as in tests, nothing happens.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(number: int, frame: FrameType | None) -> None:
        handle(number)

    before = {number: signal.signal(number, handler) for number in LEAVING_SIGNALS}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
