"""King and pawn against king: which positions White wins by chess theory.

The table is worked out backwards from the promotions that Black can't answer. White has the pawn,
on the files a to d; the other files are their mirror. A promotion wins if Black's king does not
capture the piece. Stalemate after a promotion to a queen does not matter: a rook wins there too.
"""

from __future__ import annotations

import functools

import chess
import numpy as np
import numpy.typing as npt

PAWNS = tuple(square for square in range(8, 56) if chess.square_file(square) < 4)
"""The pawn's squares that the table knows, a2 to d7."""
_NEAR = np.array(
    [[chess.square_distance(one, other) <= 1 for other in range(64)] for one in range(64)]
)
_STEPS = [[s for s in range(64) if chess.square_distance(s, square) == 1] for square in range(64)]

Table = npt.NDArray[np.bool_]


@functools.cache
def won_positions() -> tuple[Table, Table]:
    """Return what White wins with White to move and with Black to move.

    Both are bool[64, 64, 64], by the squares of the pawn, White's king and Black's king. Illegal
    positions are False, and so are pawns on the files e to h.
    """
    to_white = np.zeros((64, 64, 64), dtype=np.bool_)
    to_black = np.zeros((64, 64, 64), dtype=np.bool_)
    for pawn in reversed(PAWNS):  # a pawn only goes ahead, so the ranks can be done one by one
        white, black = to_white[pawn], to_black[pawn]
        ahead = _after_push(pawn, to_black)
        legal = _legal(pawn)
        safe = _safe_squares(pawn)
        while True:
            before = int(white.sum()) + int(black.sum())
            black[:] = legal & _black_is_lost(white, safe)
            attacked = list(chess.SquareSet(chess.BB_PAWN_ATTACKS[True][pawn]))
            white[:] = ahead
            for king in range(64):
                white[king] |= black[_STEPS[king]].any(axis=0)
            white &= legal
            white[:, attacked] = False  # Black's king could be captured
            if int(white.sum()) + int(black.sum()) == before:
                break
    return to_white, to_black


def is_won(board: chess.Board) -> bool:
    """Return whether the side with the pawn wins this position of two kings and a pawn.

    Raises ValueError if there are other pieces.
    """
    pawns = board.pieces(chess.PAWN, chess.WHITE) | board.pieces(chess.PAWN, chess.BLACK)
    if len(pawns) != 1 or chess.popcount(board.occupied) != 3:
        raise ValueError(f"{board.fen()} is not an ending of two kings and a pawn")
    pawn = pawns.pop()
    strong = board.color_at(pawn)
    assert strong is not None
    kings = [board.king(color) for color in (strong, not strong)]
    squares = [square for square in (pawn, *kings) if square is not None]
    if strong == chess.BLACK:
        squares = [chess.square_mirror(square) for square in squares]
    if chess.square_file(squares[0]) > 3:
        squares = [square ^ 7 for square in squares]
    table = won_positions()[board.turn != strong]
    return bool(table[squares[0], squares[1], squares[2]])


def _legal(pawn: int) -> Table:
    """Return where the kings may stand, bool[64, 64], whoever is to move."""
    legal = ~_NEAR
    legal[pawn] = False
    legal[:, pawn] = False
    return legal


def _safe_squares(pawn: int) -> Table:
    """Return where Black's king may go, bool[64, 64], by White's king and the target square."""
    safe = ~_NEAR
    safe[:, list(chess.SquareSet(chess.BB_PAWN_ATTACKS[True][pawn]))] = False
    return safe


def _after_push(pawn: int, to_black: Table) -> Table:
    """Return where pushing the pawn wins, bool[64, 64] by the kings."""
    ahead = pawn + 8
    wins: Table
    if ahead >= 56:
        guarded = _NEAR[:, ahead][:, None]
        wins = np.broadcast_to(guarded | ~_NEAR[ahead][None, :], (64, 64)).copy()
    else:
        wins = to_black[ahead].copy()
        if pawn < 16:
            wins |= to_black[ahead + 8]
    wins[ahead] = False
    wins[:, ahead] = False
    return wins


def _black_is_lost(white: Table, safe: Table) -> Table:
    """Return where Black has a move and each one loses, bool[64, 64] by the kings.

    A captured pawn leaves a draw: the pawn's square is never won for White in `white`.
    """
    lost = np.zeros((64, 64), dtype=np.bool_)
    for king in range(64):
        steps = _STEPS[king]
        may = safe[:, steps]
        lost[:, king] = may.any(axis=1) & (white[:, steps] | ~may).all(axis=1)
    return lost
