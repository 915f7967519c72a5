"""The start of a game: reads and checks the user's FEN, so that all other code can rely on it."""

import chess

from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.protocol_error import ProtocolError

_PROMOTED = 8  # pawns, hence at most so many pieces beyond the first set
_FIRST_SET = {chess.KNIGHT: 2, chess.BISHOP: 2, chess.ROOK: 2, chess.QUEEN: 1}


def start_board(fen: str | None) -> FogOfWarBoard:
    """Return the board of a FEN; None: the usual start.

    Castling rights and an en passant square that mean nothing are removed. The FEN's last four
    fields may be missing. Raises ProtocolError if a side does not have one king, has more pieces
    than promotions can give, or has a pawn on a back rank. A king may stand where it can be
    captured.
    """
    if fen is None:
        return FogOfWarBoard()
    if not fen.isascii() or "~" in fen:
        raise ProtocolError(f"bad FEN, it has a character that no FEN has: {fen!r}")
    if len(fen.split()) < 2:
        raise ProtocolError(f"bad FEN, pieces and side to move are needed: {fen!r}")
    try:
        board = FogOfWarBoard(fen)
    except ValueError as error:
        raise ProtocolError(f"bad FEN, {error}") from None
    for color in chess.COLORS:
        if wrong := _wrong_pieces(board, color):
            raise ProtocolError(f"bad FEN, {chess.COLOR_NAMES[color]} has {wrong}: {fen!r}")
    board.castling_rights = board.clean_castling_rights()
    if not board.has_pseudo_legal_en_passant() or board.status() & chess.STATUS_INVALID_EP_SQUARE:
        board.ep_square = None
    return board


def _wrong_pieces(board: chess.Board, color: chess.Color) -> str:
    """Say what is wrong with a side's pieces; empty if nothing is."""
    kings = len(board.pieces(chess.KING, color))
    if kings != 1:
        return f"{kings} kings" if kings else "no king"
    pawns = board.pieces(chess.PAWN, color)
    if pawns & chess.BB_BACKRANKS:
        return "a pawn on a back rank"
    extra = sum(
        max(0, len(board.pieces(kind, color)) - count) for kind, count in _FIRST_SET.items()
    )
    if len(pawns) + extra > _PROMOTED:
        return "more pieces than promotions can give"
    return ""
