"""Positions: rows of words, their hash, FEN, and conversion from and to `chess.Board`.

The layout of the words is in `layout`. A position's identity is its pieces, side to move, castling
rights and the en passant square if a capture is possible there; it has no move counters.
"""

import chess
import numpy as np
import numpy.typing as npt

from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product
from obscuro.rules.castling import castling_rooks, side_files
from obscuro.rules.layout import (
    CASTLING,
    CASTLING_SHIFT,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
    KIND_SHIFT,
    MAX_MOVES,
    ONE,
    PIECE_SHIFT,
    PROMOTION_SHIFT,
    SIDE_FILES_SHIFT,
    SQUARE_BITS,
    STATE,
    THREE_BITS,
    TO_SHIFT,
)
from obscuro.rules.moves import generate_moves
from obscuro.rules.starts import is_hidden, names_files, possible_starts
from obscuro.rules.tables import TABLES

Words = npt.NDArray[np.uint64]

# The binary digits of π.
_K0 = np.uint64(0x243F6A8885A308D3)
_K1 = np.uint64(0x13198A2E03707344)
_K2 = np.uint64(0xA4093822299F31D0)
_K3 = np.uint64(0x082EFA98EC4E6C89)
_K4 = np.uint64(0x452821E638D01377)
_K5 = np.uint64(0xBE5466CF34E90C6C)
_K6 = np.uint64(0xC0AC29B7C97C50DD)
_K7 = np.uint64(0x3F84D5B5B5470917)
_K8 = np.uint64(0x9216D5D98979FB1B)


@kernel
def load(positions, index):
    """Row `index` of uint64[n, 8] as a tuple of 8 words."""
    return (
        positions[index, 0],
        positions[index, 1],
        positions[index, 2],
        positions[index, 3],
        positions[index, 4],
        positions[index, 5],
        positions[index, 6],
        positions[index, 7],
    )


@kernel
def store(positions, index, pos):
    """Write a tuple of 8 words into row `index` of uint64[n, 8]."""
    positions[index, 0] = pos[0]
    positions[index, 1] = pos[1]
    positions[index, 2] = pos[2]
    positions[index, 3] = pos[3]
    positions[index, 4] = pos[4]
    positions[index, 5] = pos[5]
    positions[index, 6] = pos[6]
    positions[index, 7] = pos[7]


@kernel
def position_hash(pos):
    """A 64-bit hash of a position, never 0. Equal positions have equal hashes.

    It is made of folded products, in which high bits reach low ones too. Otherwise positions that
    differ in two boards towards h8 would collide.
    """
    h = folded_product(pos[0] ^ _K0, pos[1] ^ _K1)
    h ^= folded_product(pos[2] ^ _K2, pos[3] ^ _K3)
    h ^= folded_product(pos[4] ^ _K4, pos[5] ^ _K5)
    h ^= folded_product(pos[6] ^ _K6, pos[7] ^ _K7)
    h = folded_product(h, _K8)
    return h if h else ONE


@kernel
def hash_positions(positions, hashes):
    """Hash each row of uint64[n, 8] into uint64[n]."""
    for index in range(positions.shape[0]):
        hashes[index] = position_hash(load(positions, index))


def from_board(board: chess.Board) -> Words:
    """The words of a python-chess board: uint64[8], without rights that don't fit the pieces.

    The rights of a board with `chess960` may be those of any start.
    """
    en_passant = 0
    if board.ep_square is not None and _can_capture_en_passant(board):
        en_passant = board.ep_square
    state = (0 if board.turn else 1) | _castling_state(board) | en_passant << int(EN_PASSANT_SHIFT)
    return np.array(
        [
            board.pawns,
            board.knights,
            board.bishops,
            board.rooks,
            board.queens,
            board.kings,
            board.occupied_co[chess.WHITE],
            state,
        ],
        dtype=np.uint64,
    )


def _castling_state(board: chess.Board) -> int:
    """Castling rights and files as in the state word."""
    state = 0
    kept = chess.Board.clean_castling_rights(board)
    for side, color in enumerate((chess.WHITE, chess.BLACK)):
        king = board.king(color)
        rooks = list(chess.scan_forward(kept & chess.BB_BACKRANKS & board.occupied_co[color]))
        if king is None or not rooks:
            continue
        far = next((rook & 7 for rook in rooks if rook > king), None)
        near = next((rook & 7 for rook in rooks if rook < king), None)
        rights = (far is not None) | (near is not None) << 1
        state |= rights << int(CASTLING_SHIFT) + 2 * side
        files = side_files(king & 7, far, near)
        state |= files << int(FILES_SHIFT) + int(SIDE_FILES_SHIFT) * side
    return state


def _can_capture_en_passant(board: chess.Board) -> bool:
    square = board.ep_square
    if square is None or chess.square_rank(square) != (5 if board.turn else 2):
        return False
    victim = chess.BB_SQUARES[square + (-8 if board.turn else 8)]
    capturers = (
        chess.BB_PAWN_ATTACKS[not board.turn][square] & board.pawns & board.occupied_co[board.turn]
    )
    return bool(
        capturers
        and victim & board.pawns & board.occupied_co[not board.turn]
        and not board.occupied & chess.BB_SQUARES[square]
    )


def to_board(words: Words) -> chess.Board:
    """A plain `chess.Board` of the words uint64[8]; its move counters are 0 and 1.

    It has `chess960` only if a castling right needs it.
    """
    pawns, knights, bishops, rooks, queens, kings, white, state = (int(w) for w in words)
    board = chess.Board(None)
    board.pawns, board.knights, board.bishops = pawns, knights, bishops
    board.rooks, board.queens, board.kings = rooks, queens, kings
    board.occupied = pawns | knights | bishops | rooks | queens | kings
    board.occupied_co[chess.WHITE] = white
    board.occupied_co[chess.BLACK] = board.occupied ^ white
    board.turn = not state & 1
    board.chess960 = bool(state >> int(FILES_SHIFT))
    board.castling_rights = int(castling_rooks(words[STATE], 0) | castling_rooks(words[STATE], 1))
    en_passant = state >> int(EN_PASSANT_SHIFT) & int(SQUARE_BITS)
    board.ep_square = en_passant or None
    return board


def from_fen(fen: str, *, chess960: bool = False) -> Words:
    """The words of a FEN: uint64[8]. Raises ValueError where python-chess can't read it.

    chess960: whether the letters KQkq are those of X-FEN, the outermost rooks of a king on any file.
    Files as rights, as in Shredder-FEN, need no word.
    """
    return from_board(chess.Board(fen, chess960=chess960 or names_files(fen)))


def start_words(fen: str, side: int) -> Words:
    """The words of all positions in which a game may have begun for `side` (0 = White): uint64[n, 8].

    fen: see `possible_starts`; without unknown squares it is the one start. Raises ValueError.
    """
    fens = possible_starts(fen, side == 0) if is_hidden(fen) else (fen,)
    return np.array([from_fen(start) for start in fens], dtype=np.uint64)


def to_fen(words: Words) -> str:
    """`<pieces> <side> <castling> <en passant>` of uint64[8]: a FEN without its move counters.

    Castling rights are files, as in Shredder-FEN, if king and rooks don't stand as in ordinary chess.
    """
    board = to_board(words)
    en_passant = chess.square_name(board.ep_square) if board.ep_square is not None else "-"
    side = "w" if board.turn else "b"
    castling = board.castling_shredder_fen() if board.chess960 else board.castling_xfen()
    return f"{board.board_fen()} {side} {castling} {en_passant}"


def legal_moves(words: Words) -> npt.NDArray[np.uint32]:
    """All pseudo-legal moves of a position uint64[8], in the generator's order: uint32[n]."""
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    return moves[: generate_moves(TABLES, tuple(words), moves)].copy()


def move_to_uci(move: int, *, chess960: bool = False) -> str:
    """A move word in UCI long algebraic notation.

    Castling is the king's two steps if king and rook stand as in ordinary chess, else the king's move
    to its rook's square. chess960: it is always the latter.
    """
    word = int(move)
    origin = word & int(SQUARE_BITS)
    target = word >> int(TO_SHIFT) & int(SQUARE_BITS)
    promotion = word >> int(PROMOTION_SHIFT) & int(THREE_BITS)
    suffix = " nbrq"[promotion] if promotion else ""
    if chess960 and word >> int(KIND_SHIFT) == CASTLING:
        target = target & 56 | (7 if target > origin else 0)
    return chess.SQUARE_NAMES[origin] + chess.SQUARE_NAMES[target] + suffix


def move_squares(move: int) -> tuple[int, int, int]:
    """Origin, target and piece (0 pawn … 5 king) of a move word."""
    word = int(move)
    return (
        word & int(SQUARE_BITS),
        word >> int(TO_SHIFT) & int(SQUARE_BITS),
        word >> int(PIECE_SHIFT) & int(THREE_BITS),
    )


def find_move(words: Words, uci: str) -> int | None:
    """The move word of a UCI move in a position uint64[8]; None if it is not pseudo-legal there.

    Castling may always be the king's move to its rook's square.
    """
    for move in legal_moves(words):
        if uci in (move_to_uci(move), move_to_uci(move, chess960=True)):
            return int(move)
    return None
