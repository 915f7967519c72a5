"""The features of sight in plain python-chess, said as directly as the names say them."""

from __future__ import annotations

from collections.abc import Iterable

import chess

from tests.reference import vision

MINORS = (chess.KNIGHT, chess.BISHOP)
PIECES = (*MINORS, chess.ROOK, chess.QUEEN)


def naive_features(board: chess.Board) -> list[float]:
    """The features with the side to move as the owner, then with the other side."""
    return owners_features(board, board.turn) + owners_features(board, not board.turn)


def owners_features(board: chess.Board, owner: chess.Color) -> list[float]:
    enemy = not owner
    seen, enemy_seen = vision(board, owner), vision(board, enemy)
    out_of_fog, in_sight = [], []
    for square in chess.SquareSet(board.occupied_co[owner]):
        attackers = board.attackers(enemy, square)
        if attackers:
            (in_sight if attackers & seen else out_of_fog).append(square)

    def count(squares: Iterable[int], *kinds: int) -> int:
        return sum(board.piece_type_at(square) in kinds for square in squares)

    def loose(squares: Iterable[int]) -> list[int]:
        return [square for square in squares if not board.attackers(owner, square)]

    own = chess.SquareSet(board.occupied_co[owner])
    theirs = chess.SquareSet(board.occupied_co[enemy])
    last_ranks = (5, 6) if owner == chess.WHITE else (1, 2)
    far = [square for square in own if chess.square_rank(square) in last_ranks]
    king = board.king(enemy)
    hidden = own - enemy_seen
    near = chess.SquareSet(chess.BB_KING_ATTACKS[king]) if king is not None else []
    return [
        count(loose(out_of_fog), chess.PAWN),
        count(out_of_fog, *MINORS),
        count(out_of_fog, chess.ROOK),
        count(out_of_fog, chess.QUEEN),
        count(out_of_fog, chess.KING),
        count(loose(in_sight), chess.PAWN),
        count(loose(in_sight), *MINORS),
        count(in_sight, chess.ROOK),
        count(in_sight, chess.QUEEN),
        count(in_sight, chess.KING),
        len(seen - own) / 10,
        count(seen & theirs, chess.KING),
        count([square for square in far if square not in enemy_seen], chess.PAWN),
        count([square for square in far if square in enemy_seen], chess.PAWN),
        count(hidden, *PIECES),
        sum(bool(board.attackers(owner, square) & hidden) for square in near),
        *(count(own, kind) for kind in (chess.PAWN, *PIECES)),
    ]
