"""An evaluator that never fails: when the first one does, the second one takes over."""

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

FAILURES = 3  # batches in a row that may fail before the first evaluator is given up


class FallbackEvaluator:
    """Evaluates by `primary` as long as that works, else by `fallback`, which must not fail.

    A batch that fails is evaluated by the fallback. A primary evaluator that can't be started, says
    that it has failed for good, or fails FAILURES batches in a row, is given up until `start` is
    called again. on_warning: called once for each thing that happens, in the evaluating thread, at
    the first batch that fails, or comes before the primary evaluator is ready, and when that is given up.
    start_both: False if the fallback is to start only when the primary one is given up, because it
    costs something to have it ready.
    """

    def __init__(
        self,
        primary: Evaluator,
        fallback: Evaluator,
        on_warning: Callable[[str], None],
        *,
        start_both: bool = True,
    ) -> None:
        """Start neither."""
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
        """The name of the evaluator that is in use."""
        return (self._fallback if self._given_up else self._primary).name

    @property
    def engine_name(self) -> str | None:
        """What the program behind the evaluator in use calls itself; None if there is none."""
        return getattr(self._fallback if self._given_up else self._primary, "engine_name", None)

    def start(self, *, quietly: bool = False) -> None:
        """Start both; try the first one again if it was given up. Never fails.

        quietly: who asks says itself what is used where the first one does not start.
        """
        if self._start_both:
            self._fallback.start()
        self._failures = 0
        self._given_up = False
        try:
            self._primary.start()
        except EvaluatorNotReady as error:
            self._bridge(error)
        except EvaluatorFailed as error:
            self._give_up(error, quietly=quietly)

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """The values of all children of uint64[n, 8]. Never fails. See `Evaluator`."""
        if not self._given_up:
            try:
                values = self._primary.evaluate(positions)
                self._failures = 0
                return values
            except EvaluatorNotReady as error:
                self._bridge(error)
            except EvaluatorFailed as error:
                self._failures += 1
                if error.for_good or self._failures == FAILURES:
                    self._give_up(error)
                else:
                    self._warn_once(f"{error}; a batch is evaluated by {self._fallback.name}")
        return self._fallback.evaluate(positions)

    def _bridge(self, error: EvaluatorNotReady) -> None:
        """Tell that this batch is evaluated by the fallback, and the next ones may not be."""
        self._warn_once(str(error))

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
        """Have both forget. See `Evaluator`."""
        self._primary.forget()
        self._fallback.forget()

    def close(self) -> None:
        """Close both. See `Evaluator`."""
        self._closed = True  # what fails for that is nobody's concern
        self._primary.close()
        self._fallback.close()
