"""The capture search and what it needs, said recursively on python-chess boards: an oracle."""

from __future__ import annotations

import chess

from obscuro.evaluation.nnue.network import Network
from tests.evaluation.naive import after, king_hangs
from tests.evaluation.nnue import naive
from tests.reference import fog_moves

UNITS = {
    chess.PAWN: 208,
    chess.KNIGHT: 781,
    chess.BISHOP: 825,
    chess.ROOK: 1276,
    chess.QUEEN: 2538,
    chess.KING: 0,
}
INFINITE, MATED = 32_000, 31_000
PLIES, NODES, EVASION_PLIES, RECAPTURE_PLY, MARGIN = 12, 100, 2, 4, 300


def captured_units(board: chess.Board, move: chess.Move) -> int:
    """What a move captures."""
    if board.is_en_passant(move):
        return UNITS[chess.PAWN]
    piece = board.piece_type_at(move.to_square)
    return UNITS[piece] if piece is not None else 0


def captures(board: chess.Board) -> set[chess.Move]:
    """All captures, and all promotions, to a queen only."""
    return {
        move
        for move in fog_moves(board)
        if (captured_units(board, move) or board.is_en_passant(move) or move.promotion)
        and move.promotion in (None, chess.QUEEN)
    }


def exchange(board: chess.Board, move: chess.Move) -> int:
    """The material that a move wins if both sides then capture on its square while that pays.

    A king's move to an attacked square loses a king.
    """
    square, mover = move.to_square, board.turn
    won = captured_units(board, move)
    placed = board.copy(stack=False)
    piece = placed.remove_piece_at(move.from_square)
    assert piece is not None
    placed.set_piece_at(square, piece)
    if piece.piece_type == chess.KING:
        return -INFINITE if placed.attackers(not mover, square) else won
    return won - _best_recapture(placed, square, not mover)


def _best_recapture(board: chess.Board, square: chess.Square, color: chess.Color) -> int:
    attackers = board.attackers(color, square)
    if not attackers:
        return 0
    piece_types = {origin: board.piece_type_at(origin) or 0 for origin in attackers}
    origin = min(attackers, key=lambda origin: (piece_types[origin], origin))
    standing = board.piece_type_at(square)
    assert standing is not None
    placed = board.copy(stack=False)
    piece = placed.remove_piece_at(origin)
    assert piece is not None
    placed.set_piece_at(square, piece)
    if piece.piece_type == chess.KING and placed.attackers(not color, square):
        return 0
    return max(0, UNITS[standing] - _best_recapture(placed, square, not color))


def static_value(network: Network, board: chess.Board) -> int:
    """A position as it stands."""
    values = naive.evaluate(network, board)
    material = values.psqt[values.bucket]
    positional = values.positional[values.bucket]
    if abs(material) >= 1600 * 16:
        certain = 400 if material > 0 else -400
        parts = material * 717 + positional * 102 + certain * 1024 * 16
        return naive.toward_zero(parts, 1024 * 16)
    pieces = sum(
        UNITS[piece.piece_type]
        for piece in board.piece_map().values()
        if piece.piece_type not in (chess.PAWN, chess.KING)
    )
    scale = 967 + 331 * pieces // 16604
    return naive.toward_zero((material + positional) * scale, 1024 * 16)


class CaptureSearch:
    """One search."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.nodes = 0

    def standing(self, board: chess.Board) -> int:
        """The value of a position as it stands, to the side to move."""
        return static_value(self.network, board)

    def value(
        self,
        board: chess.Board,
        alpha: int = -INFINITE,
        beta: int = INFINITE,
        ply: int = 0,
        target: int | None = None,
    ) -> int:
        """The value to the side to move."""
        self.nodes += 1
        goes_on = ply < PLIES and self.nodes < NODES
        moves: list[chess.Move] = []
        if goes_on and ply < EVASION_PLIES and king_hangs(board, board.turn):
            best, standing = ply - MATED, INFINITE
            moves = fog_moves(board)
        else:
            best = standing = self.standing(board)
            if goes_on and best < beta:
                moves = [move for move in captures(board) if self._pays(board, move)]
                if ply >= RECAPTURE_PLY:
                    moves = [move for move in moves if move.to_square == target]
        alpha = max(alpha, best)
        for move in sorted(moves, key=lambda move: order(board, move), reverse=True):
            if alpha >= beta:
                break
            child = after(board, move)
            if king_hangs(child, board.turn):
                continue
            hoped = standing + gain(board, move) + MARGIN
            if hoped <= alpha and not king_hangs(child, not board.turn):
                continue
            value = -self.value(child, -beta, -alpha, ply + 1, move.to_square)
            best = max(best, value)
            alpha = max(alpha, best)
        return best

    def _pays(self, board: chess.Board, move: chess.Move) -> bool:
        return bool(move.promotion) or board.is_en_passant(move) or exchange(board, move) >= 0


def gain(board: chess.Board, move: chess.Move) -> int:
    """What a move wins if nothing is captured back."""
    promoted = UNITS[move.promotion] - UNITS[chess.PAWN] if move.promotion else 0
    return captured_units(board, move) + promoted


def order(board: chess.Board, move: chess.Move) -> tuple[int, int, int, int]:
    """The larger, the sooner a move is tried."""
    piece = board.piece_type_at(move.from_square)
    assert piece is not None
    squares = [move.to_square, move.from_square]
    if board.turn == chess.BLACK:
        squares = [chess.square_mirror(square) for square in squares]
    # A promotion to a knight, a possible answer to check, has no square of its own.
    return (gain(board, move), -piece, *squares)
