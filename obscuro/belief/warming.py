"""Loading or compiling every kernel of a belief ahead of the first game."""

from __future__ import annotations

from threading import Event

import chess
import numpy as np

from obscuro.belief.belief import Belief
from obscuro.belief.hashing import new_ranking
from obscuro.belief.record import RECORD_WORDS
from obscuro.belief.table import PADDING, cut, rank_below, spread
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, from_fen


def warm_up() -> None:
    """Call all kernels as a `Belief` does; no update waits for the compiler afterwards.

    It takes a moment if they are in the cache, else some seconds. It leaves the naive kernels out.
    """
    belief = Belief(from_board(chess.Board()), 0, max_positions=5)
    belief.after_own_move("e2e4", Observation.of(from_fen(_AFTER_E4), 0))
    belief.expect(Observation.of(from_fen(_AFTER_E5), 0), Event())
    belief.after_opponent_move(Observation.of(from_fen(_AFTER_E5), 0))
    belief.rebuild(Observation.of(from_fen(_AFTER_E5), 0))
    belief.contains(belief.any_position())
    belief.certain_enemy_king()
    belief.common_observation()
    belief.sample(1, np.random.default_rng(0), {0})
    find_move(belief.any_position(), "g1f3")
    # An update calls these only if there are too many positions, or a rook is captured in its
    # corner.
    sizes = np.zeros(1, dtype=np.int64)
    records = belief.positions[:1, :3].copy()
    ranking = new_ranking(np.random.default_rng(0), 1)
    cut(records, sizes, rank_below(records, sizes, ranking, np.uint64(0)))
    empty = np.zeros((PADDING + 1, RECORD_WORDS), dtype=np.uint64)
    spread(empty, 1, sizes, ranking)
    belief = Belief(from_fen(_BEFORE_CAPTURE), 0)
    belief.after_opponent_move(Observation.of(from_fen(_CAPTURE), 0))
    belief.after_own_move("h1h8", None)


_AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
_AFTER_E5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
# The hidden king may have gone to several squares, so that there is something to put in a table.
_BEFORE_CAPTURE = "k6r/8/8/8/8/8/8/4K2R b K - 0 1"
_CAPTURE = "1k5r/8/8/8/8/8/8/4K2R w K - 0 2"
