"""K's baseline agent: one ply of imperfect information, then Stockfish's own deepening (K, Sec. 6).

"The same algorithm as our agent, except that it only performs imperfect-information search to depth
1, and after that uses Stockfish's perfect-information evaluation with iterative deepening."
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from obscuro.engine.chess_game import ChessGame
from obscuro.evaluation.evaluator import EvaluatorFailed
from obscuro.evaluation.stockfish.process import TimeLimits
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from obscuro.research.zs21.chess_trunk import ChessTrunkGame, state_values
from obscuro.research.zs21.trunk import LEAF, MIN, Trunk

MOST_DEPTH = 40
LONGEST_SEARCH = 0.2
"""Seconds for one position in one pass; past that it keeps what its last depths say."""
PATIENCE = TimeLimits(silence=3 * LONGEST_SEARCH)


class DeepStockfish:
    """A Stockfish process that searches all moves of the roots, a ply deeper in each pass.

    path: of the executable; None: the usual places. tau: pawns worth tanh(1). stalemate: as in
    `ChessGame`. warn: called with one line when a process was lost.
    """

    def __init__(
        self, path: str | None, tau: float, stalemate: str, warn: Callable[[str], None]
    ) -> None:
        self.evaluator = StockfishEvaluator(
            path, tau, PATIENCE, search_dominated=False, on_warning=warn
        )
        self.game = ChessGame(self.evaluator, stalemate)
        self._warn = warn

    def deepen(self, trunk: Trunk, value: float) -> Callable[[float, Callable[[], bool]], int]:
        """Return what makes the values of a trunk of one ply better, as `TurnSearch` asks for it.

        All roots of the trunk are fresh. value: our value at the last turn; no alternate value is
        higher (K, D.3). `game` is set up for the turn.
        """
        depth = 1

        def next_pass(end: float, is_stopped: Callable[[], bool]) -> int:
            nonlocal depth
            depth += 1
            return self._pass(trunk, value, depth, end, is_stopped) if depth <= MOST_DEPTH else 0

        return next_pass

    def _pass(
        self, trunk: Trunk, value: float, depth: int, end: float, is_stopped: Callable[[], bool]
    ) -> int:
        """Search the children of all roots to `depth` - 1 plies; return how many they are."""
        nodes = trunk.nodes
        roots = np.flatnonzero(nodes.first[: trunk.roots] != LEAF)
        trunk_game, found = ChessTrunkGame(self.game), []
        for root in roots:
            left = end - time.monotonic()
            if left <= 0.0 or is_stopped():
                return 0
            milliseconds = max(1, int(1000 * min(left, LONGEST_SEARCH)))
            self.evaluator.go = f"depth {depth} movetime {milliseconds}"
            try:
                found.append(trunk_game.grow(nodes.state[[root]], nodes.key[[root]]))
            except EvaluatorFailed as error:
                self._warn(f"zs21 goes no deeper in this turn: {error}")
                return 0
        for root, growth in zip(roots, found, strict=True):
            first, degree = int(nodes.first[root]), int(nodes.degree[root])
            nodes.value[first : first + degree] = growth.values
            (nodes.value[root],) = state_values(growth)
            trunk.alternate[nodes.sequence[root, MIN]] = min(nodes.value[root], value)
        return sum(len(growth.values) for growth in found)
