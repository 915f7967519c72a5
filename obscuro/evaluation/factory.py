"""Make evaluators by the names that the engine's options use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.plugins import make_plugin, plugin_names
from obscuro.evaluation.scale import TAU

if TYPE_CHECKING:
    from obscuro.evaluation.cache import ExpansionCache

BUILT_IN = ("stockfish", "nnue", "material")


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
    from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415

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
    from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415

    if isinstance(evaluator, FallbackEvaluator):
        evaluator = evaluator.primary
    return evaluator.uncached if isinstance(evaluator, CachedEvaluator) else evaluator
