"""How a belief becomes exact again: by an observation that allows one position only."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obscuro.belief.record import OUR_SIDE, RECORD_WORDS
from obscuro.rules.layout import KINGS, PAWNS, ROOKS, WHITE
from obscuro.rules.observation import Observation

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]

_HOMES = ((0x10, 0x81), (0x10 << 56, 0x81 << 56))  # king and rooks of White, of Black


def only_record(known: Words, observation: Observation, enemies: int) -> Records | None:
    """The record uint64[1, 3] of the one position that an observation allows; else None.

    There is only one if our side sees all pieces of the other side, and none of them may still
    castle. What they did before does not matter then, since a position has no history.

    known: uint64[KNOWN_WORDS], see `record`. enemies: the number of pieces that the other side has.
    """
    side = int(known[OUR_SIDE])
    enemy = observation.pieces(1 - side)
    if enemy.bit_count() != enemies:
        return None
    pawns, knights, bishops, rooks, queens, kings = (
        board & enemy for board in observation.boards[PAWNS:WHITE]
    )
    king, corners = _HOMES[1 - side]
    if observation.boards[KINGS] & king and observation.boards[ROOKS] & enemy & corners:
        return None
    record = (kings | queens | rooks, knights | bishops | queens, pawns | bishops | rooks)
    return np.array(record, dtype=np.uint64).reshape(1, RECORD_WORDS)
