"""Evaluators by name, as the engine's options choose them."""

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
    """All evaluators that can be made: ours, and those that were plugged in."""
    plugged_in = (name for name in plugin_names() if name not in BUILT_IN)
    return (*BUILT_IN, *plugged_in)


def make_evaluator(
    name: str,
    *,
    stockfish: str | None = None,
    tau: float = TAU,
    cache: ExpansionCache | None = None,
    on_warning: Callable[[str], None] = lambda warning: None,
) -> Evaluator:
    """Make the evaluator called `name`, one of `evaluator_names`; it starts with `start` or when used.

    stockfish: the option's value, a path or a name in PATH; empty: the usual places. tau: pawns
    worth tanh(1). cache: for evaluators that take longer than to look something up; those that share
    one must be of the same kind. on_warning: told if Stockfish is missing or fails for good, and
    material takes over, or if it was lost and another one started; for `nnue` if its network can't be
    read, and Stockfish takes over. Raises ValueError if there is no
    such evaluator. Loads numba.
    """
    from obscuro.evaluation.material import MaterialEvaluator  # noqa: PLC0415 - loads numba

    material = MaterialEvaluator(tau)
    evaluator: Evaluator
    instead: Evaluator = material
    if name == "material":
        return material
    from obscuro.evaluation.cache import CachedEvaluator  # noqa: PLC0415
    from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415

    if name == "stockfish":
        from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator  # noqa: PLC0415

        # Moves beside a king's capture matter to nobody who sees it, and cost ten times as much.
        evaluator = StockfishEvaluator(
            stockfish or None, tau, search_dominated=False, on_warning=on_warning
        )
    elif name == "nnue":
        from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator  # noqa: PLC0415
        from obscuro.evaluation.stockfish.process import stockfish_path  # noqa: PLC0415

        there = stockfish_path(stockfish or None) is not None  # and its network can't be read
        evaluator = NnueEvaluator(stockfish or None, tau)
        instead = make_evaluator(
            "stockfish" if there else "material",
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
    # A second Stockfish costs something to have ready; material does not.
    return FallbackEvaluator(evaluator, instead, on_warning, start_both=instead is material)


def unwrapped(evaluator: Evaluator) -> Evaluator:
    """Return the evaluator that `make_evaluator` put behind a fallback and a cache, or itself.

    For tests and measurements. Loads numba.
    """
    from obscuro.evaluation.cache import CachedEvaluator  # noqa: PLC0415
    from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415

    if isinstance(evaluator, FallbackEvaluator):
        evaluator = evaluator.primary
    return evaluator.uncached if isinstance(evaluator, CachedEvaluator) else evaluator
