"""A slow reference of the rules in plain python-chess, the oracle of the tests.

It shares no code with the package: positions are plain ``chess.Board`` objects, and everything
is said as directly as it can be, without regard to speed.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import chess

KNIGHT_STEPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
ROOK_STEPS = [(0, 1), (1, 0), (0, -1), (-1, 0)]
BISHOP_STEPS = [(1, 1), (1, -1), (-1, -1), (-1, 1)]
PROMOTIONS = [chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT]
STEPS = {
    chess.KNIGHT: (KNIGHT_STEPS, 1),
    chess.BISHOP: (BISHOP_STEPS, 7),
    chess.ROOK: (ROOK_STEPS, 7),
    chess.QUEEN: (ROOK_STEPS + BISHOP_STEPS, 7),
    chess.KING: (ROOK_STEPS + BISHOP_STEPS, 1),
}


# -- moves ----------------------------------------------------------------------------------


def fog_moves(board: chess.Board) -> list[chess.Move]:
    """List the moves of the side to move: all that a piece can do, kings regardless."""
    return list(_piece_moves(board)) + list(_castling_moves(board))


def has_moves(board: chess.Board) -> bool:
    return next(_piece_moves(board), None) is not None or bool(fog_moves(board))


def _shifted(square: chess.Square, files: int, ranks: int) -> chess.Square | None:
    file, rank = chess.square_file(square) + files, chess.square_rank(square) + ranks
    return chess.square(file, rank) if 0 <= file < 8 and 0 <= rank < 8 else None


def _piece_moves(board: chess.Board) -> Iterator[chess.Move]:
    for square in chess.scan_reversed(board.occupied_co[board.turn]):
        kind = board.piece_type_at(square)
        if kind == chess.PAWN:
            yield from _pawn_moves(board, square)
            continue
        assert kind is not None  # the square is occupied
        steps, reach = STEPS[kind]
        for files, ranks in steps:
            for distance in range(1, reach + 1):
                target = _shifted(square, files * distance, ranks * distance)
                if target is None or board.color_at(target) == board.turn:
                    break
                yield chess.Move(square, target)
                if board.piece_type_at(target) is not None:
                    break


def _pawn_moves(board: chess.Board, square: chess.Square) -> Iterator[chess.Move]:
    forward = 1 if board.turn == chess.WHITE else -1
    home, last = (1, 7) if board.turn == chess.WHITE else (6, 0)
    targets = []

    ahead = _shifted(square, 0, forward)
    if ahead is not None and board.piece_at(ahead) is None:
        targets.append(ahead)
        further = square + 16 * forward
        if chess.square_rank(square) == home and board.piece_at(further) is None:
            targets.append(further)

    for files in (-1, 1):
        aside = _shifted(square, files, forward)
        if aside is None:
            continue
        if board.color_at(aside) == (not board.turn):
            targets.append(aside)
        elif aside == board.ep_square and board.piece_at(aside) is None:
            victim = chess.square(chess.square_file(aside), chess.square_rank(square))
            on_fifth_rank = chess.square_rank(square) == (4 if board.turn == chess.WHITE else 3)
            if on_fifth_rank and board.piece_at(victim) == chess.Piece(chess.PAWN, not board.turn):
                targets.append(aside)

    for target in targets:
        if chess.square_rank(target) == last:
            for promotion in PROMOTIONS:
                yield chess.Move(square, target, promotion)
        else:
            yield chess.Move(square, target)


def _castling_moves(board: chess.Board) -> Iterator[chess.Move]:
    if board.chess960:
        yield from (move for move, _ in castlings_of_chess960(board))
        return
    rank = 0 if board.turn == chess.WHITE else 7
    king = chess.square(4, rank)
    if board.piece_at(king) != chess.Piece(chess.KING, board.turn):
        return
    for rook_file, path_files, target_file in ((7, (5, 6), 6), (0, (1, 2, 3), 2)):
        rook = chess.square(rook_file, rank)
        right = board.castling_rights & chess.BB_SQUARES[rook]
        path = [chess.square(file, rank) for file in path_files]
        at_home = board.piece_at(rook) == chess.Piece(chess.ROOK, board.turn)
        if right and at_home and all(board.piece_at(square) is None for square in path):
            yield chess.Move(king, chess.square(target_file, rank))


def castlings_of_chess960(
    board: chess.Board,
) -> Iterator[tuple[chess.Move, tuple[chess.Square, chess.Square]]]:
    """Yield the castling moves, king takes rook, and where king and rook arrive."""
    rank = 0 if board.turn == chess.WHITE else 7
    king = board.king(board.turn)
    if king is None or chess.square_rank(king) != rank:
        return
    for file in range(8):
        rook = chess.square(file, rank)
        right = board.castling_rights & chess.BB_SQUARES[rook]
        if not right or board.piece_at(rook) != chess.Piece(chess.ROOK, board.turn):
            continue
        files = (6, 5) if rook > king else (2, 3)
        arrivals = (chess.square(files[0], rank), chess.square(files[1], rank))
        ways = [*_way(king, arrivals[0]), *_way(rook, arrivals[1])]
        if all(board.piece_at(square) is None for square in ways if square not in (king, rook)):
            yield chess.Move(king, rook), arrivals


def _way(start: chess.Square, end: chess.Square) -> range:
    return range(min(start, end), max(start, end) + 1)


def ep_captures(board: chess.Board) -> list[chess.Move]:
    """List the en passant captures of the side to move."""
    if board.ep_square is None:
        return []
    return [
        move
        for move in _piece_moves(board)
        if board.piece_type_at(move.from_square) == chess.PAWN
        and chess.square_file(move.from_square) != chess.square_file(move.to_square)
        and board.piece_at(move.to_square) is None
    ]


# -- the fog --------------------------------------------------------------------------------


def vision(board: chess.Board, color: chess.Color) -> chess.SquareSet:
    """Return the squares of *color*'s pieces and those that they could move to."""
    mover = board.copy(stack=False)
    if mover.turn != color:
        mover.turn = color
        mover.ep_square = None
    seen = chess.SquareSet(board.occupied_co[color])
    for move in fog_moves(mover):
        seen.add(move.to_square)
    if board.chess960:
        for _, arrivals in castlings_of_chess960(mover):
            seen.update(arrivals)
    for move in ep_captures(mover):
        seen.add(
            chess.square(chess.square_file(move.to_square), chess.square_rank(move.from_square))
        )
    return seen


class Sight(NamedTuple):
    """What one side is shown after a ply."""

    seen: frozenset[chess.Square]
    pieces: frozenset[tuple[chess.Square, str]]
    ep: chess.Square | None


def sight(board: chess.Board, color: chess.Color) -> Sight:
    """Return what *color* is shown of the position."""
    seen = vision(board, color)
    return Sight(
        frozenset(seen),
        frozenset(
            (square, piece.symbol())
            for square, piece in board.piece_map().items()
            if square in seen
        ),
        board.ep_square if board.turn == color and ep_captures(board) else None,
    )


def observation_text(board: chess.Board, color: chess.Color) -> str:
    """Return the observation of *color* as the protocol writes it."""
    shown = sight(board, color)
    pieces = dict(shown.pieces)
    ranks = []
    for rank in range(7, -1, -1):
        cells = ""
        for file in range(8):
            square = chess.square(file, rank)
            cells += pieces.get(square, "1") if square in shown.seen else "*"
        for run in range(8, 1, -1):
            cells = cells.replace("1" * run, str(run))
        ranks.append(cells)
    ep = "" if shown.ep is None else "," + chess.square_name(shown.ep)
    return "/".join(ranks) + ep


# -- beliefs --------------------------------------------------------------------------------


class Key(NamedTuple):
    """A position as far as it matters: what a belief holds once."""

    placement: str
    turn: chess.Color
    castling: str
    ep: str
    chess960: bool = False  # whether castling is named as the king's move to its rook

    def board(self) -> chess.Board:
        side = "w" if self.turn == chess.WHITE else "b"
        fen = f"{self.placement} {side} {self.castling} {self.ep} 0 1"
        return chess.Board(fen, chess960=self.chess960)


def key(board: chess.Board) -> Key:
    """Name the position; the en passant square counts only where it can be captured on."""
    rights = board.clean_castling_rights()
    castling = "".join(
        letter
        for letter, rook in (("K", "h1"), ("Q", "a1"), ("k", "h8"), ("q", "a8"))
        if rights & chess.BB_SQUARES[chess.parse_square(rook)]
    )
    if board.chess960 and _from_other_start(board, rights):
        castling = board.castling_shredder_fen()
    ep = "-"
    if board.ep_square is not None and ep_captures(board):
        ep = chess.square_name(board.ep_square)
    return Key(board.board_fen(), board.turn, castling or "-", ep, board.chess960)


def _from_other_start(board: chess.Board, rights: int) -> bool:
    """Tell whether some right needs a king or a rook that does not stand as in ordinary chess."""
    kings = [board.king(chess.square_rank(rook) == 0) for rook in chess.scan_forward(rights)]
    return bool(rights & ~chess.BB_CORNERS) or any(king not in (4, 60) for king in kings)


def goes_on(board: chess.Board) -> bool:
    """Tell whether the game is not over: both kings there, and a move for the side to move."""
    kings = [board.king(color) for color in chess.COLORS]
    return all(king is not None for king in kings) and has_moves(board)


class Belief:
    """Every position that one side must think possible, by trying everything.

    Clocks and repetitions are no part of a position. A position in which the game would be
    over drops out: the side was told that it goes on.
    """

    def __init__(self, board: chess.Board, color: chess.Color) -> None:
        self.color = color
        self.positions: set[Key] = {key(board)}

    def after_own_move(self, move: chess.Move, shown: Sight | None = None) -> None:
        """Keep what fits our *move* and what we were *shown* after it (``None``: not told)."""
        self._update([move], shown)

    def after_opponent_move(self, shown: Sight) -> None:
        """Follow every move of the other side, and keep what fits what we were *shown*."""
        self._update(None, shown)

    def _update(self, only: Iterable[chess.Move] | None, shown: Sight | None) -> None:
        after = set()
        for position in self.positions:
            board = position.board()
            moves = fog_moves(board)
            for move in moves if only is None else [move for move in only if move in moves]:
                board.push(move)
                fits = shown is None or (
                    could_be_shown(board, shown) and sight(board, self.color) == shown
                )
                if fits and goes_on(board):
                    after.add(key(board))
                board.pop()
        self.positions = after


def could_be_shown(board: chess.Board, shown: Sight) -> bool:
    """Tell quickly whether the pieces on the seen squares are those shown."""
    seen, pieces = _masks(shown)
    return all(
        board.pieces_mask(kind, color) & seen == squares for (kind, color), squares in pieces
    )


@functools.lru_cache(maxsize=16)
def _masks(shown: Sight) -> tuple[int, list[tuple[tuple[int, bool], int]]]:
    pieces = {(kind, color): 0 for kind in chess.PIECE_TYPES for color in chess.COLORS}
    for square, symbol in shown.pieces:
        piece = chess.Piece.from_symbol(symbol)
        pieces[piece.piece_type, piece.color] |= chess.BB_SQUARES[square]
    return sum(chess.BB_SQUARES[square] for square in shown.seen), list(pieces.items())


# -- games ----------------------------------------------------------------------------------


def random_game(
    rng: random.Random,
    fen: str = chess.STARTING_FEN,
    plies: int = 200,
    *,
    chess960: bool = False,
) -> Iterator[chess.Board]:
    """Play at random from *fen*, yielding the same board before each move and at the end.

    Half of the moves are drawn from the captures, castlings and pawn moves, if there are any,
    so that games make progress and meet promotions and en passant.
    """
    board = chess.Board(fen, chess960=chess960)
    for _ in range(plies):
        yield board
        if not goes_on(board):
            return
        moves = fog_moves(board)
        if rng.random() < 0.5:
            moves = [m for m in moves if board.is_zeroing(m) or board.is_castling(m)] or moves
        board.push(rng.choice(moves))
    yield board
