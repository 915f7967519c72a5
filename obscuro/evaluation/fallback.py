"""An evaluator that never fails: a fallback takes over when the primary evaluator fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from obscuro.evaluation.evaluator import (
    ChildValues,
    Evaluator,
    EvaluatorFailed,
    EvaluatorNotReady,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FAILURES = 3  # FallbackEvaluator gives the primary one up after so many failures in a row


class FallbackEvaluator:
    """Evaluates by `primary` while it works, else by `fallback`, which must not fail.

    The fallback evaluates every batch at which the primary evaluator fails. It evaluates all
    batches, until the next call of `start`, after the primary evaluator did not start, failed for
    good, or failed at FAILURES batches in a row.

    on_warning: receives each different warning once, in the evaluating thread: when a batch fails,
    when the primary evaluator is not ready, and when the fallback takes over. start_both: whether
    `start` starts the fallback too; if not, it starts when it takes over.
    """

    def __init__(
        self,
        primary: Evaluator,
        fallback: Evaluator,
        on_warning: Callable[[str], None],
        *,
        start_both: bool = True,
    ) -> None:
        """Store both evaluators without starting them."""
        self._primary = primary
        self._fallback = fallback
        self._warn = on_warning
        self._start_both = start_both
        self._failures = 0  # in a row
        self._given_up = False
        self._warned: set[str] = set()
        self._closed = False

    @property
    def primary(self) -> Evaluator:
        """The first evaluator, whether it is in use or was given up."""
        return self._primary

    @property
    def name(self) -> str:
        """The name of the evaluator in use."""
        return (self._fallback if self._given_up else self._primary).name

    @property
    def engine_name(self) -> str | None:
        """The own name of the program behind the evaluator in use; None if there is no program."""
        return getattr(self._fallback if self._given_up else self._primary, "engine_name", None)

    def start(self, *, quietly: bool = False) -> None:
        """Start both evaluators; try the primary one again if it was given up. Never fails.

        quietly: no warning if the primary evaluator fails to start, because the caller's own
        warning names the evaluator in use.
        """
        if self._start_both:
            self._fallback.start()
        self._failures = 0
        self._given_up = False
        try:
            self._primary.start()
        except EvaluatorNotReady as error:
            self._warn_once(str(error))
        except EvaluatorFailed as error:
            self._give_up(error, quietly=quietly)

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Return the values of all children of uint64[n, 8]. Never fails. See `Evaluator`."""
        if not self._given_up:
            try:
                values = self._primary.evaluate(positions)
                self._failures = 0
                return values
            except EvaluatorNotReady as error:
                self._warn_once(str(error))
            except EvaluatorFailed as error:
                self._failures += 1
                if error.for_good or self._failures == FAILURES:
                    self._give_up(error)
                else:
                    self._warn_once(f"{error}; {self._fallback.name} evaluates this batch")
        return self._fallback.evaluate(positions)

    def _give_up(self, error: EvaluatorFailed, *, quietly: bool = False) -> None:
        self._given_up = True
        if isinstance(self._fallback, FallbackEvaluator):
            self._fallback.start(quietly=True)
        elif not self._start_both:
            self._fallback.start()
        if not quietly:
            self._warn_once(f"{error}; evaluating by {self._fallback.name} from now on")

    def _warn_once(self, warning: str) -> None:
        if warning not in self._warned and not self._closed:
            self._warned.add(warning)
            self._warn(warning)

    def forget(self) -> None:
        """Let both evaluators forget. See `Evaluator`."""
        self._primary.forget()
        self._fallback.forget()

    def close(self) -> None:
        """Close both evaluators. See `Evaluator`."""
        self._closed = True  # a failure caused by closing is no reason for a warning
        self._primary.close()
        self._fallback.close()
