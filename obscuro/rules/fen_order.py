"""The order in which positions are listed: that of their FENs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from obscuro.rules.layout import STATE
from obscuro.rules.observation import PIECES
from obscuro.rules.position import to_fen

_RANKS = 8


def fen_order(positions: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the order of positions uint64[n, 8] that sorts their `to_fen`: int64[n].

    A belief has few different ranks. Each of them is written out once, because `to_fen` of each
    position takes 0.1 ms.
    """
    if not len(positions):
        return np.zeros(0, dtype=np.int64)
    masks = np.ascontiguousarray(positions[:, :STATE]).astype("<u8").view(np.uint8)
    masks = masks.reshape(len(positions), STATE, _RANKS)
    keys = np.stack([_rank_order(masks[:, :, rank], rank) for rank in range(_RANKS)])
    order: npt.NDArray[np.int64] = np.lexsort(keys)  # the eighth rank, the last key, comes first
    changes = (keys[:, order[1:]] != keys[:, order[:-1]]).any(axis=0)
    if changes.all():
        return order
    for group in np.split(order, np.flatnonzero(changes) + 1):
        if len(group) > 1:  # they differ in castling rights or en passant
            group[:] = sorted(group.tolist(), key=lambda index: to_fen(positions[index]))
    return order


def _rank_order(masks: npt.NDArray[np.uint8], rank: int) -> npt.NDArray[np.int64]:
    """Number the texts of one rank in their order: int64[n].

    masks: pawns, knights, bishops, rooks, queens, kings and white pieces, uint8[n, 7].
    """
    # As one number each, because numpy sorts rows with a slow comparison.
    words = masks.astype(np.uint64) @ (np.uint64(1) << np.arange(0, 56, 8, dtype=np.uint64))
    _, first, members = np.unique(words, return_index=True, return_inverse=True)
    end = "/" if rank else " "  # where a rank ends in a FEN, its end is compared too
    texts = np.array([_rank_text(masks[index].tolist()) + end for index in first], dtype=object)
    places = np.empty(len(texts), dtype=np.int64)
    places[np.argsort(texts)] = np.arange(len(texts))
    return places[members.reshape(-1)]


def _rank_text(masks: list[int]) -> str:
    """Write a rank as in a FEN. masks: pawns … kings and white pieces, a bit for each file."""
    *pieces, white = masks
    text, empty = "", 0
    for file in range(8):
        letters = [letter for letter, mask in zip(PIECES, pieces, strict=True) if mask >> file & 1]
        if letters:
            text += (str(empty) if empty else "") + (
                letters[0].upper() if white >> file & 1 else letters[0]
            )
            empty = 0
        else:
            empty += 1
    return text + (str(empty) if empty else "")
