"""Games in which the rare rules are frequent: sparse positions, and moves chosen for what they are.

It shares no code with the package: the rules are those of `tests.reference`.
"""

from __future__ import annotations

import random
from typing import NamedTuple

import chess

from tests import reference

PROMOTION = "promotion"
CAPTURING_PROMOTION = "promotion by capture"
EN_PASSANT = "en passant"
CASTLING = "castling"
CASTLING_IN_ATTACK = "castling out of, through or into attack"
KING_INTO_ATTACK = "king into attack"
PASSING_PUSH = "double push past a capturing pawn"
HOME_ROOK = "capture of a rook that could castle"
KINDS = (
    PROMOTION,
    CAPTURING_PROMOTION,
    EN_PASSANT,
    CASTLING,
    CASTLING_IN_ATTACK,
    KING_INTO_ATTACK,
    PASSING_PUSH,
    HOME_ROOK,
)

# How often a move is drawn from those of a kind, if there are any. Pawn moves lead to rare ones.
OFTEN, SELDOM, PAWN_MOVES, ALL_MOVES = 6, 1, 2, 2


class MoveList(NamedTuple):
    """A game: where it starts and its moves. The game goes on after each of them but the last."""

    fen: str
    moves: list[chess.Move]


def kinds_of(board: chess.Board, move: chess.Move) -> set[str]:
    """What is rare about a move: some of KINDS."""
    kinds = set()
    victim = board.piece_at(move.to_square)
    if move.promotion is not None:
        kinds.add(PROMOTION if victim is None else CAPTURING_PROMOTION)
    if board.is_en_passant(move):
        kinds.add(EN_PASSANT)
    if victim is not None and board.clean_castling_rights() & chess.BB_SQUARES[move.to_square]:
        kinds.add(HOME_ROOK)
    kind, enemy = board.piece_type_at(move.from_square), not board.turn
    if board.is_castling(move):
        between = chess.square((move.from_square + move.to_square) // 2 % 8, move.from_square // 8)
        path = (move.from_square, between, move.to_square)
        attacked = any(board.is_attacked_by(enemy, square) for square in path)
        kinds.add(CASTLING_IN_ATTACK if attacked else CASTLING)
    elif kind == chess.KING or (
        kind == chess.PAWN and abs(move.to_square - move.from_square) == 16
    ):
        board.push(move)
        if kind == chess.KING and board.is_attacked_by(enemy, move.to_square):
            kinds.add(KING_INTO_ATTACK)
        if kind == chess.PAWN and reference.ep_captures(board):
            kinds.add(PASSING_PUSH)
        board.pop()
    return kinds


def rare_game(seed: int, plies: int = 40) -> MoveList:
    """A game of at most so many plies, from a sparse position, in which rare moves are frequent.

    Kings are left to be taken, but are taken only if there is no other move.
    """
    rng = random.Random(seed)
    board = sparse_position(rng)
    fen = board.fen()
    while len(board.move_stack) < plies and reference.goes_on(board):
        board.push(_choose(board, rng))
    return MoveList(fen, board.move_stack)


def _choose(board: chess.Board, rng: random.Random) -> chess.Move:
    moves = reference.fog_moves(board)
    moves = [m for m in moves if board.piece_type_at(m.to_square) != chess.KING] or moves
    groups = {"all": (moves, ALL_MOVES)}
    if pawn_moves := [m for m in moves if board.piece_type_at(m.from_square) == chess.PAWN]:
        groups["pawn"] = (pawn_moves, PAWN_MOVES)
    for move in moves:
        for kind in kinds_of(board, move):
            weight = SELDOM if kind == KING_INTO_ATTACK else OFTEN
            groups.setdefault(kind, ([], weight))[0].append(move)
    chosen = rng.choices(sorted(groups), [groups[name][1] for name in sorted(groups)])[0]
    return rng.choice(groups[chosen][0])


def sparse_position(rng: random.Random) -> chess.Board:
    """A position with few pieces: many kings and rooks at home, many pawns that meet or promote."""
    while True:
        board = chess.Board(None)
        for color in chess.COLORS:
            _place(board, color, rng)
        board.turn = rng.random() < 0.5
        board.castling_rights = _some_rights(board, rng)
        if reference.goes_on(board):
            return board


def _place(board: chess.Board, color: chess.Color, rng: random.Random) -> None:
    """Put the pieces of one side on empty squares."""
    home = chess.square(4, 0 if color else 7)
    at_home = rng.random() < 0.6 and board.piece_at(home) is None
    board.set_piece_at(home if at_home else _empty(board, rng), chess.Piece(chess.KING, color))
    for file in (0, 7) if at_home else ():
        corner = chess.square(file, home // 8)
        if rng.random() < 0.7 and board.piece_at(corner) is None:
            board.set_piece_at(corner, chess.Piece(chess.ROOK, color))
    for _ in range(rng.randint(1, 2)):  # a pawn at home, and one that waits for its double push
        file = rng.randrange(8)
        _place_pawn(board, color, file, 1)
        _place_pawn(board, not color, file + rng.choice((-1, 1)), 4)
    for _ in range(rng.randint(0, 3)):
        _place_pawn(board, color, rng.randrange(8), rng.choice((6, rng.randint(1, 6))))
    for _ in range(rng.randint(0, 2)):
        kind = rng.choice((chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN))
        board.set_piece_at(_empty(board, rng), chess.Piece(kind, color))


def _place_pawn(board: chess.Board, color: chess.Color, file: int, rank: int) -> None:
    """Put a pawn there, if that is an empty square of the board. rank: from its side, from 0."""
    square = chess.square(file % 8, rank if color else 7 - rank)
    if 0 <= file < 8 and board.piece_at(square) is None:
        board.set_piece_at(square, chess.Piece(chess.PAWN, color))


def _empty(board: chess.Board, rng: random.Random) -> chess.Square:
    return rng.choice([square for square in chess.SQUARES if board.piece_at(square) is None])


def _some_rights(board: chess.Board, rng: random.Random) -> chess.Bitboard:
    """Castling rights that fit the pieces, most of them kept."""
    board.castling_rights = chess.BB_CORNERS
    possible = list(chess.SquareSet(board.clean_castling_rights()))
    return chess.SquareSet(square for square in possible if rng.random() < 0.85).mask
