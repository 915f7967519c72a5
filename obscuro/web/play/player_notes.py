"""What a player of the board in the browser knows of the game.

It is made from the player's own account alone: the start, which both know, its own moves, and what
it saw after each ply. Of the other side's move it knows what follows from two observations: before
it and after it. So two games that look the same to the side give the same answer, and nothing out
of the fog can get into it.

A side knows more than the squares it sees. A pawn sees the square ahead only while it is empty, and
a diagonal only while it can capture there. So a square ahead that is not seen is occupied, and a
diagonal that is not seen is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import chess

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView

ColorName = Literal["white", "black"]


class SheetLine(TypedDict):
    """One ply on the score sheet. None: the player does not know it."""

    ply: int  # from 1
    number: int  # of the full move
    mover: ColorName
    san: str | None
    uci: str | None
    note: str | None  # what is known, in words


def color_name(color: chess.Color) -> ColorName:
    """Return the name of a side."""
    return "white" if color == chess.WHITE else "black"


class PlayerNotes:
    """Follows a game with one side's eyes and writes down what this side knows.

    side: whose notes they are. sheet: a line for each ply. taken, lost: the pieces that the side
    captured, and those it lost, in the order of the captures. marked: the squares where something
    is known to have happened in the last ply.
    """

    def __init__(self, side: chess.Color, start: FogOfWarBoard) -> None:
        """Begin at a position that the side knows."""
        self.side = side
        self.sheet: list[SheetLine] = []
        self.taken: list[chess.Piece] = []
        self.lost: list[chess.Piece] = []
        self.marked: tuple[chess.Square, ...] = ()
        self._view = SideView(side, start)
        self._wings = _wings(start, not side)
        self._turn = start.turn
        self._number = start.fullmove_number

    @property
    def observation(self) -> Observation:
        """What the side sees now."""
        return self._view.observation

    @property
    def own_turn(self) -> bool:
        """Whether it is this side's turn."""
        return self._view.our_turn

    def moves(self) -> tuple[str, ...]:
        """Return the side's moves in UCI; none out of turn."""
        return self._view.moves() if self._view.our_turn else ()

    def take(self, ply: Ply) -> None:
        """Take the next ply of either side. Raises ValueError if it shows nothing."""
        if ply.observation is None:
            raise ValueError("a player is always told what it sees")
        own, seen = ply.move, ply.observation
        self.sheet.append(self._other(seen) if own is None else self._own(own, seen))
        self._number += self._turn == chess.BLACK
        self._turn = not self._turn

    def _own(self, uci: str, observation: Observation) -> SheetLine:
        board, move = self._view.board, chess.Move.from_uci(uci)
        # `#` would tell that the other side has no move, which this side can't see.
        san = board.san(move).rstrip("#")
        if board.is_en_passant(move):
            self.taken.append(chess.Piece(chess.PAWN, not self.side))
        elif (captured := board.piece_at(move.to_square)) is not None:
            self.taken.append(captured)
        self.marked = (move.from_square, move.to_square)
        self._view.push(uci)
        self._view.see_own_move(observation)
        return self._line(san, uci, None)

    def _other(self, observation: Observation) -> SheetLine:
        known = seen_move(self.side, self._view.observation, observation, self._wings)
        if known.lost is not None:
            self.lost.append(known.lost)
        self.marked = known.squares
        self._view.see_other_move(observation)
        return self._line(known.san, known.uci, known.note)

    def _line(self, san: str | None, uci: str | None, note: str | None) -> SheetLine:
        return SheetLine(
            ply=len(self.sheet) + 1,
            number=self._number,
            mover=color_name(self._turn),
            san=san,
            uci=uci,
            note=note,
        )


# -- a move of the other side ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeenMove:
    """What a side knows of a move of the other side. None: not known.

    uci, san: only if both squares are known. note: what is known, in words. squares: where
    something happened. lost: the side's piece that was captured.
    """

    uci: str | None = None
    san: str | None = None
    note: str | None = None
    squares: tuple[chess.Square, ...] = ()
    lost: chess.Piece | None = None


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a side knows at one moment. All are masks but `board`.

    hidden: squares not seen on which an enemy must stand. free: squares without an enemy.
    """

    board: chess.BaseBoard
    own: chess.Bitboard
    enemy: chess.Bitboard
    seen: chess.Bitboard
    hidden: chess.Bitboard
    free: chess.Bitboard

    @classmethod
    def of(cls, side: chess.Color, observation: Observation) -> _Sight:
        white = 0 if side == chess.WHITE else 1
        own, enemy = observation.pieces(white), observation.pieces(1 - white)
        seen = observation.seen
        pawns = own & observation.boards[chess.PAWN - 1]
        attacked = 0
        for square in chess.scan_forward(pawns):
            attacked |= chess.BB_PAWN_ATTACKS[side][square]
        ahead, start = (8, chess.BB_RANK_3) if side == chess.WHITE else (-8, chess.BB_RANK_6)
        once = _shift(pawns, ahead)
        twice = _shift(once & start & seen & ~own & ~enemy, ahead)
        return cls(
            observation.board(),
            own,
            enemy,
            seen,
            hidden=(once | twice) & ~seen,
            free=(seen | attacked) & ~enemy,
        )

    def type_at(self, square: chess.Square) -> chess.PieceType | None:
        """Return what stands on a square; None if nothing is seen there."""
        return self.board.piece_type_at(square)

    def may_be(self, square: chess.Square, piece: chess.PieceType) -> bool:
        """Tell whether an enemy's piece of this type may stand on a square."""
        bit = chess.BB_SQUARES[square]
        return not self.free & bit and (not self.enemy & bit or self.type_at(square) == piece)

    def may_be_empty(self, square: chess.Square) -> bool:
        """Tell whether a square may be empty."""
        return not (self.own | self.enemy | self.hidden) & chess.BB_SQUARES[square]


def seen_move(
    side: chess.Color,
    before: Observation,
    after: Observation,
    wings: Sequence[Wing] | None = None,
) -> SeenMove:
    """Return what a side knows of the other side's move between two observations.

    side: the side that looks on. wings: the castlings that the other side may make in this game;
    None: those of ordinary chess.
    """
    if wings is None:
        wings = _wings(chess.Board(), not side)
    old, new = _Sight.of(side, before), _Sight.of(side, after)
    if after.en_passant is not None:
        return _double_step(side, after.en_passant)
    gone = old.own & ~new.own
    if gone:
        return _capture(side, old, new, chess.msb(gone))
    left = list(chess.scan_forward((old.enemy | old.hidden) & new.free))
    came = list(chess.scan_forward((new.enemy | new.hidden) & old.free))
    castlings = [wing for wing in wings if _may_have_castled(wing, old, new, left, came)]
    single = _is_one_piece(old, new, left, came)
    if (left or came) and castlings and not single:
        return _castling(castlings, left, came)
    return _quiet(side, old, new, left, came, certain=single and not castlings)


# -- the kinds of moves ---------------------------------------------------------------------


def _double_step(side: chess.Color, target: chess.Square) -> SeenMove:
    """A pawn that can be captured en passant has just made two steps."""
    back = 8 if side == chess.WHITE else -8
    start, end = target + back, target - back
    name = chess.square_name(end)
    return SeenMove(chess.square_name(start) + name, name, None, (start, end))


def _capture(side: chess.Color, old: _Sight, new: _Sight, square: chess.Square) -> SeenMove:
    """Our piece on a square is gone."""
    lost = old.board.piece_at(square)
    assert lost is not None
    behind = square + (-8 if side == chess.WHITE else 8)
    left = list(chess.scan_forward((old.enemy | old.hidden) & new.free))
    step = chess.BB_RANK_4 if side == chess.WHITE else chess.BB_RANK_5
    passing = (
        lost.piece_type == chess.PAWN
        and bool(chess.BB_SQUARES[square] & step)
        and new.may_be_empty(square)
        and new.may_be(behind, chess.PAWN)
        and old.may_be_empty(behind)
    )
    if passing and not new.seen & chess.BB_SQUARES[square]:
        # A piece may stand there now, or the pawn was captured in passing.
        came = list(chess.scan_forward(new.enemy & old.free))
        if behind not in came:
            return _vague_capture(old, left, square, lost)
    end = behind if passing else square
    kind = chess.PAWN if passing else new.type_at(end)
    words = f"your {_name(lost.piece_type)} on {chess.square_name(square)}"
    if passing:
        words += " en passant"
    origin = left[0] if len(left) == 1 else None
    known = kind if kind is not None else (old.type_at(origin) if origin is not None else None)
    promotes = _promotion(side, old, new, origin, end)
    marked = tuple(dict.fromkeys((*left, end, square)))
    note = f"{_name(known if promotes != '?' else None)} took {words}"
    if origin is None or promotes == "?":
        return SeenMove(None, None, note, marked, lost)
    uci = chess.square_name(origin) + chess.square_name(end) + promotes
    return SeenMove(uci, _san(old.type_at(origin) or known, uci, True), note, marked, lost)


def _vague_capture(
    old: _Sight, left: list[chess.Square], square: chess.Square, lost: chess.Piece
) -> SeenMove:
    kind = old.type_at(left[0]) if len(left) == 1 else None
    note = f"{_name(kind)} took your {_name(lost.piece_type)} on {chess.square_name(square)}"
    return SeenMove(None, None, note, (*left, square), lost)


def _quiet(
    side: chess.Color,
    old: _Sight,
    new: _Sight,
    left: list[chess.Square],
    came: list[chess.Square],
    *,
    certain: bool,
) -> SeenMove:
    """Nothing of ours was captured. certain: one piece made the move, as far as it is known."""
    marked = (*left, *came)
    origin = left[0] if len(left) == 1 else None
    end = came[0] if len(came) == 1 else None
    kind = old.type_at(origin) if origin is not None else None
    if end is not None:
        arrived = new.type_at(end)
        promotes = _promotion(side, old, new, origin, end)
        if origin is not None and certain and promotes != "?":
            uci = chess.square_name(origin) + chess.square_name(end) + promotes
            moved = chess.PAWN if promotes else kind or arrived
            return SeenMove(uci, _san(moved, uci, False), None, marked)
        return SeenMove(note=f"{_name(arrived)} to {chess.square_name(end)}", squares=marked)
    if origin is not None:
        return SeenMove(note=f"{_name(kind)} left {chess.square_name(origin)}", squares=marked)
    return SeenMove(squares=marked)


def _promotion(
    side: chess.Color,
    old: _Sight,
    new: _Sight,
    origin: chess.Square | None,
    end: chess.Square,
) -> str:
    """Return the letter of the piece that a pawn became; empty: none did; `?`: not known."""
    last = 0 if side == chess.WHITE else 7
    if origin is None or chess.square_rank(end) != last:
        return ""
    if abs(chess.square_rank(origin) - last) != 1:
        return ""
    was, became = old.type_at(origin), new.type_at(end)
    if was is not None and was != chess.PAWN:
        return ""
    if became is None or (was is None and became in (chess.QUEEN, chess.ROOK, chess.BISHOP)):
        return "?"
    return chess.piece_symbol(became) if was == chess.PAWN else ""


def _is_one_piece(
    old: _Sight, new: _Sight, left: list[chess.Square], came: list[chess.Square]
) -> bool:
    """Tell whether one piece alone can have made what is known of a move."""
    if len(left) > 1 or len(came) > 1:
        return False
    if not left or not came:
        return True
    was, became = old.type_at(left[0]), new.type_at(came[0])
    if chess.KING in (was, became) and chess.square_distance(left[0], came[0]) > 1:
        return False
    return was is None or became is None or was in (became, chess.PAWN)


# -- castling -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wing:
    """The squares of one castling, its move in UCI, and the squares that must be empty."""

    name: str
    uci: str
    king: tuple[chess.Square, chess.Square]
    rook: tuple[chess.Square, chess.Square]
    between: tuple[chess.Square, ...]


def _wings(start: chess.Board, color: chess.Color) -> tuple[Wing, ...]:
    """Return the castlings that a side may make in a game with this start."""
    king = start.king(color)
    if king is None:
        return ()
    rank = king & 56
    wings = []
    for rook in chess.scan_reversed(start.clean_castling_rights() & chess.BB_RANKS[rank >> 3]):
        short = rook > king
        king_to, rook_to = (6 + rank, 5 + rank) if short else (2 + rank, 3 + rank)
        ways = chess.between(king, king_to) | chess.between(rook, rook_to)
        ways |= chess.BB_SQUARES[king_to] | chess.BB_SQUARES[rook_to]
        ways &= ~(chess.BB_SQUARES[king] | chess.BB_SQUARES[rook])
        uci = chess.square_name(king) + chess.square_name(rook if start.chess960 else king_to)
        name = "O-O" if short else "O-O-O"
        between = tuple(chess.scan_forward(ways))
        wings.append(Wing(name, uci, (king, king_to), (rook, rook_to), between))
    return tuple(wings)


def _may_have_castled(
    wing: Wing, old: _Sight, new: _Sight, left: list[chess.Square], came: list[chess.Square]
) -> bool:
    return (
        set(left) <= {wing.king[0], wing.rook[0]}
        and set(came) <= {wing.king[1], wing.rook[1]}
        and old.may_be(wing.king[0], chess.KING)
        and old.may_be(wing.rook[0], chess.ROOK)
        and all(old.may_be_empty(square) for square in wing.between)
        and new.may_be(wing.king[1], chess.KING)
        and new.may_be(wing.rook[1], chess.ROOK)
        and all(
            new.may_be_empty(square)
            for square in (wing.king[0], wing.rook[0])
            if square not in (wing.king[1], wing.rook[1])
        )
    )


def _castling(wings: list[Wing], left: list[chess.Square], came: list[chess.Square]) -> SeenMove:
    if len(wings) > 1:
        return SeenMove(note="castled", squares=(*left, *came))
    wing = wings[0]
    return SeenMove(wing.uci, wing.name, None, (*wing.king, *wing.rook))


# -- words ----------------------------------------------------------------------------------


def _name(kind: chess.PieceType | None) -> str:
    return "something" if kind is None else chess.piece_name(kind)


def _san(kind: chess.PieceType | None, uci: str, captures: bool) -> str | None:
    """Return the move as a score sheet has it; None if it is not known what moved.

    Where two pieces could go there, a score sheet says which one; that would need the fog.
    """
    if kind is None:
        return None
    end, promoted = uci[2:4], uci[4:]
    if kind == chess.PAWN:
        return (f"{uci[0]}x" if captures else "") + end + (f"={promoted.upper()}" * bool(promoted))
    return chess.piece_symbol(kind).upper() + "x" * captures + end


def _shift(mask: chess.Bitboard, by: int) -> chess.Bitboard:
    return (mask << by if by > 0 else mask >> -by) & chess.BB_ALL
