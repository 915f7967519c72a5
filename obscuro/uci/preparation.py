"""Preparing the Player in a thread of its own, so that a clock can be watched meanwhile."""

import gc
import threading
from collections.abc import Callable

POLL_SECONDS = 0.01


class Preparation:
    """One call of `Player.prepare`, which may compile for minutes. It starts at once.

    stage: what is being done now, in words for the user.
    """

    def __init__(self, prepare: Callable[[Callable[[str], None]], None]) -> None:
        self.stage = ""
        self._prepare = prepare
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="preparation", daemon=True)
        self._thread.start()

    def wait(self, given_up: Callable[[], bool], tell: Callable[[str], None]) -> bool:
        """Wait for the end; return whether it came before given_up() was true.

        tell: receives the stage now and then. Raises what the preparation has raised.
        """
        while self._thread.is_alive():
            tell(self.stage)
            if given_up():
                return False
            self._thread.join(POLL_SECONDS)
        if self._error is not None:
            raise self._error
        return True

    def _run(self) -> None:
        try:
            self._prepare(self._note)
            # numba keeps 10⁵ objects. Without this, the garbage collector goes over all of them,
            # which takes longer than a move may be late.
            gc.collect()
            gc.freeze()
        except BaseException as error:
            self._error = error

    def _note(self, stage: str) -> None:
        self.stage = stage
