"""One pass of an update over rows of records: by the fast kernels, or by the naive ones.

The naive kernels make every move and compare all that is seen. Tests compare the fast ones with them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obscuro.belief.fit import POSSIBLE
from obscuro.belief.hashing import Ranking
from obscuro.belief.own_move import Conditions, follow, follow_naively, own_task
from obscuro.belief.record import OUR_SIDE
from obscuro.belief.successors import Streams, expand, expand_naively, opponent_task
from obscuro.belief.update import Keep, Visit
from obscuro.rules.layout import MAX_MOVES
from obscuro.rules.tables import TABLES

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]


def own_move_pass(
    records: Records, known_after: Words, needed: Conditions, required: Words
) -> Keep:
    """A pass that keeps the records uint64[n, 3] in which our move is legal and explains what we see.

    known_after: uint64[KNOWN_WORDS], after the move. needed: the conditions of the move. required:
    uint64[REQUIREMENT_WORDS] of what we then see, or zeros if we were not told.
    """
    task = own_task(needed, known_after, required)

    def keep(first: int, last: int, target: int) -> int:
        kept: int = follow(TABLES, records, first, last, target, task, known_after)
        return kept

    return keep


def naive_own_move_pass(
    records: Records, known: Words, move: int, observed: Words, *, told: bool
) -> Keep:
    """As `own_move_pass`, by the naive kernel.

    move: a move word. observed: uint64[9], what we then see; told: whether we know it.
    """
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    before = (np.uint64(move), known, int(known[OUR_SIDE]))

    def keep(first: int, last: int, target: int) -> int:
        kept: int = follow_naively(
            TABLES, records, first, last, target, *before, told, observed, moves
        )
        return kept

    return keep


def successor_pass(
    records: Records, known: Words, known_after: Words | None, observed: Words, required: Words
) -> Visit | None:
    """A pass that offers the children of records uint64[n, 3] by the other side's moves that fit.

    known, known_after: uint64[KNOWN_WORDS], before and after the move. observed: uint64[9], what we
    then see; required: uint64[REQUIREMENT_WORDS], what follows from it. None if nothing can fit.
    """
    if known_after is None or not required[POSSIBLE]:
        return None
    task = opponent_task(known, known_after, observed, required)
    if task is None:
        return None

    def visit(first: int, last: int, ranking: Ranking, streams: Streams) -> int:
        reached: int = expand(TABLES, records, first, last, task, ranking, streams)
        return reached

    return visit


def naive_successor_pass(records: Records, known: Words, observed: Words) -> Visit:
    """As `successor_pass`, by the naive kernel.

    records: uint64[n, RECORD_WORDS]. known: uint64[KNOWN_WORDS]. observed: uint64[9].
    """

    def visit(first: int, last: int, ranking: Ranking, streams: Streams) -> int:
        moves = np.empty(MAX_MOVES, dtype=np.uint32)
        before = (TABLES, records, first, last, known, int(known[OUR_SIDE]))
        reached: int = expand_naively(*before, observed, ranking, moves, streams)
        return reached

    return visit
