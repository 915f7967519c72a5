"""The slow belief that the fast one is compared with: it makes every move and looks at all that is seen.

It shares the records, the table and what happens to them with the fast belief, and replaces only
the two kernels that decide which positions fit.
"""

from __future__ import annotations

import numpy as np

from obscuro.belief.belief import Belief, Words
from obscuro.belief.fit import observes, requirements_of
from obscuro.belief.own_move import Conditions, Keep
from obscuro.belief.record import OUR_SIDE, pack, unpack
from obscuro.belief.successors import Streams, Visit, offer
from obscuro.belief.table import Ranking
from obscuro.kernels import kernel
from obscuro.rules.layout import KINGS, MAX_MOVES, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves
from obscuro.rules.observation import Observation
from obscuro.rules.tables import TABLES


class NaiveBelief(Belief):
    """A belief by the slow kernels."""

    @classmethod
    def of(cls, belief: Belief) -> NaiveBelief:
        """An independent copy of a belief that goes on by the slow kernels."""
        other = belief.copy()
        other.__class__ = cls
        assert isinstance(other, cls)
        return other

    def _own_move_pass(
        self, move: int, needed: Conditions, known: Words, observation: Observation | None
    ) -> Keep:
        records, before = self._records, self._known
        observed = requirements_of(observation, self.side)[0]
        told = observation is not None

        def keep(first: int, last: int, target: int) -> int:
            moves = np.empty(MAX_MOVES, dtype=np.uint32)
            span = (first, last, target)
            return int(
                follow(TABLES, records, span, np.uint64(move), before, told, observed, moves)
            )

        return keep

    def _successor_pass(self, known: Words | None, observation: Observation) -> Visit | None:
        if super()._successor_pass(known, observation) is None:
            return None
        records, before = self._records, self._known
        observed = requirements_of(observation, self.side)[0]

        def visit(first: int, last: int, ranking: Ranking, streams: Streams) -> int:
            moves = np.empty(MAX_MOVES, dtype=np.uint32)
            span = (first, last)
            return int(expand(TABLES, records, span, before, observed, ranking, moves, streams))

        return visit


@kernel
def has_kings(pos):
    """Whether both sides have a king."""
    white = pos[KINGS] & pos[WHITE]
    return white != 0 and white != pos[KINGS]


@kernel
def follow(tables, records, span, move, known, told, observed, moves):
    """As `own_move.follow`: keep the rows first, last from the row target on, and count them.

    span: (first, last, target). known: before the move. told: whether there is an observation.
    """
    first, last, target = span
    side = np.int64(known[OUR_SIDE])
    end = target
    for row in range(first, last):
        pos = unpack(known, records[row, 0], records[row, 1], records[row, 2])
        for k in range(generate_moves(tables, pos, moves)):
            if np.uint64(moves[k]) != np.uint64(move):
                continue
            child = make_move(pos, move)
            if told and not observes(tables, child, side, observed):
                continue
            if not has_kings(child) or generate_moves(tables, child, moves) == 0:
                continue
            a, b, c = pack(child, side)
            records[end, 0], records[end, 1], records[end, 2] = a, b, c
            end += 1
            break
    return end - target


@kernel
def expand(tables, parents, span, known, observed, ranking, moves, streams):
    """As `successors.expand`. span: (first, last)."""
    first, last = span
    side = np.int64(known[OUR_SIDE])
    for row in range(first, last):
        if streams.enough[1]:
            return row
        pos = unpack(known, parents[row, 0], parents[row, 1], parents[row, 2])
        for k in range(generate_moves(tables, pos, moves)):
            child = make_move(pos, moves[k])
            if observes(tables, child, side, observed) and has_kings(child):
                a, b, c = pack(child, side)
                offer(streams, ranking, a, b, c)
    return last
