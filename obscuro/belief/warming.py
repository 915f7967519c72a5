"""Loading or compiling every kernel of a belief ahead of the first game."""

from __future__ import annotations

import chess
import numpy as np

from obscuro.belief.belief import Belief
from obscuro.belief.buffers import Buffers
from obscuro.belief.pool import Batch, Pool
from obscuro.belief.workers import Workers
from obscuro.board.layout import WORDS
from obscuro.board.position import find_move, from_board, from_fen
from obscuro.fog.observation import Observation


def warm_up() -> None:
    """Call all kernels as a `Belief` does; afterwards no update has to wait for the compiler.

    Takes a moment if they are in the cache, else some seconds. The naive kernels are left out.
    """
    belief = Belief(from_board(chess.Board()), 0, max_positions=5)
    belief.after_own_move("e2e4", Observation.of(from_fen(_AFTER_E4), 0))
    belief.after_opponent_move(Observation.of(from_fen(_AFTER_E5), 0))
    belief.rebuild(Observation.of(from_fen(_AFTER_E5), 0))
    belief.contains(belief.positions[0])
    belief.certain_enemy_king()
    belief.sample(1, np.random.default_rng(0), {0})
    find_move(belief.positions[0], "g1f3")
    _fill_a_pool()


def _fill_a_pool() -> None:
    """Make a pool grow, and drop what is too much."""
    count = 20_000
    children = np.arange(count * WORDS, dtype=np.uint64).reshape(count, WORDS)
    hashes = np.arange(count, dtype=np.uint64)
    for distinct in (False, True):
        pool = Pool(0, count // 2, Workers(1), Buffers(), small=False, distinct=distinct)
        pool.add([Batch(children, hashes, count)])
        pool.positions()


_AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
_AFTER_E5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
