"""Evaluators by name, as the engine's options choose them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.scale import TAU

if TYPE_CHECKING:
    from obscuro.evaluation.cache import ExpansionCache

EVALUATORS = ("stockfish", "material")


def make_evaluator(
    name: str,
    *,
    stockfish: str | None = None,
    tau: float = TAU,
    cache: ExpansionCache | None = None,
    on_warning: Callable[[str], None] = lambda warning: None,
) -> Evaluator:
    """Make the evaluator called `name`, one of EVALUATORS; it starts with `start` or when used.

    stockfish: the option's value, a path or a name in PATH; empty: the usual places. tau: pawns
    worth tanh(1). cache: for evaluators that take longer than to look something up; those that share
    one must be of the same kind. on_warning: told if Stockfish is missing or fails for good, and
    material takes over, or if it was lost and another one started. Raises ValueError if there is no
    such evaluator. Loads numba.
    """
    from obscuro.evaluation.material import MaterialEvaluator  # noqa: PLC0415 - loads numba

    if name == "material":
        return MaterialEvaluator(tau)
    if name == "stockfish":
        from obscuro.evaluation.cache import CachedEvaluator  # noqa: PLC0415
        from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415
        from obscuro.evaluation.stockfish import StockfishEvaluator  # noqa: PLC0415

        # Moves beside a king's capture matter to nobody who sees it, and cost ten times as much.
        searching: Evaluator = StockfishEvaluator(
            stockfish or None, tau, search_dominated=False, on_warning=on_warning
        )
        if cache is not None:
            searching = CachedEvaluator(searching, cache)
        return FallbackEvaluator(searching, MaterialEvaluator(tau), on_warning)
    raise ValueError(f"there is no evaluator {name!r}; there are {', '.join(EVALUATORS)}")
