"""Make evaluators by the names that the engine's options use; each has another to fall back on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from obscuro.evaluation.evaluator import (
    ChildValues,
    Evaluator,
    EvaluatorFailed,
    EvaluatorNotReady,
)
from obscuro.evaluation.plugins import make_plugin, plugin_names
from obscuro.evaluation.scale import TAU

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from obscuro.evaluation.cache import ExpansionCache

FAILURES = 3  # in a row, after which FallbackEvaluator gives the primary one up


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


BUILT_IN = ("stockfish", "nnue", "simple", "material")


def evaluator_names() -> tuple[str, ...]:
    """Return the names of all evaluators, the built-in ones first and then the plug-ins."""
    plugins = (name for name in plugin_names() if name not in BUILT_IN)
    return (*BUILT_IN, *plugins)


def make_evaluator(
    name: str,
    *,
    stockfish: str | None = None,
    tau: float = TAU,
    cache: ExpansionCache | None = None,
    on_warning: Callable[[str], None] = lambda warning: None,
) -> Evaluator:
    """Make the evaluator called `name`, one of `evaluator_names`. Loads numba.

    The evaluator starts at its `start` or at its first batch. It never fails: `material` replaces
    Stockfish if that is missing or fails for good, and Stockfish replaces `nnue` if the network
    cannot be read.

    stockfish: the option's value, a path or a name in PATH; None or empty: the usual places.
    tau: the number of pawns worth tanh(1). cache: a cache for evaluators slower than a lookup; all
    evaluators that share it must have the same name and options. on_warning: receives a line when
    an evaluator is replaced, and when a lost Stockfish process is.

    Raises ValueError if no evaluator has this name.
    """
    from obscuro.evaluation.material import MaterialEvaluator  # noqa: PLC0415 - loads numba

    material = MaterialEvaluator(tau)
    evaluator: Evaluator
    fallback: Evaluator = material
    if name == "material":
        return material
    from obscuro.evaluation.cache import CachedEvaluator  # noqa: PLC0415

    if name == "stockfish":
        from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator  # noqa: PLC0415

        # A side that can capture the king plays nothing else, and the other moves cost ten times
        # as much as an ordinary position.
        evaluator = StockfishEvaluator(
            stockfish or None, tau, search_dominated=False, on_warning=on_warning
        )
    elif name == "nnue":
        from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator  # noqa: PLC0415
        from obscuro.evaluation.stockfish_program import stockfish_path  # noqa: PLC0415

        is_installed = stockfish_path(stockfish or None) is not None
        evaluator = NnueEvaluator(stockfish or None, tau)
        fallback = make_evaluator(
            "stockfish" if is_installed else "material",
            stockfish=stockfish,
            tau=tau,
            on_warning=on_warning,
        )
    elif name == "simple":
        from obscuro.evaluation.simple_evaluator import SimpleEvaluator  # noqa: PLC0415

        evaluator = SimpleEvaluator(tau)
    elif name in plugin_names():
        evaluator = make_plugin(name, tau)
    else:
        names = ", ".join(evaluator_names())
        raise ValueError(f"there is no evaluator {name!r}; there are {names}")
    if cache is not None:
        evaluator = CachedEvaluator(evaluator, cache)
    # A running Stockfish process costs memory; material costs nothing.
    return FallbackEvaluator(evaluator, fallback, on_warning, start_both=fallback is material)


def unwrapped(evaluator: Evaluator) -> Evaluator:
    """Return the evaluator that `make_evaluator` put behind a fallback and a cache, or itself.

    For tests and measurements. Loads numba.
    """
    from obscuro.evaluation.cache import CachedEvaluator  # noqa: PLC0415

    if isinstance(evaluator, FallbackEvaluator):
        evaluator = evaluator.primary
    return evaluator.uncached if isinstance(evaluator, CachedEvaluator) else evaluator
