"""Evaluators by name, as the engine's options choose them."""

from __future__ import annotations

from collections.abc import Callable

from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.scale import TAU

EVALUATORS = ("stockfish", "material")


def make_evaluator(
    name: str,
    *,
    stockfish: str | None = None,
    tau: float = TAU,
    on_warning: Callable[[str], None] = lambda warning: None,
) -> Evaluator:
    """Make the evaluator called `name`, one of EVALUATORS; it starts with `start` or when used.

    stockfish: the option's value, a path or a name in PATH; empty: the usual places. tau: pawns
    worth tanh(1). on_warning: told once if Stockfish is missing or fails for good, and material
    takes over. Raises ValueError if there is no such evaluator. Loads numba.
    """
    from obscuro.evaluation.material import MaterialEvaluator  # noqa: PLC0415 - loads numba

    if name == "material":
        return MaterialEvaluator(tau)
    if name == "stockfish":
        from obscuro.evaluation.fallback import FallbackEvaluator  # noqa: PLC0415
        from obscuro.evaluation.stockfish import StockfishEvaluator  # noqa: PLC0415

        # Moves beside a king's capture matter to nobody who sees it, and cost ten times as much.
        searching = StockfishEvaluator(
            stockfish or None, tau, search_dominated=False, on_warning=on_warning
        )
        return FallbackEvaluator(searching, MaterialEvaluator(tau), on_warning)
    raise ValueError(f"there is no evaluator {name!r}; there are {', '.join(EVALUATORS)}")
