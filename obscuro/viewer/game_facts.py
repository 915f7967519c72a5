"""What the fog did in a game, by rules alone: unseen attackers, kings lost to them, and scouting.

No belief and no engine takes part, so thousands of games take seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import chess
import chess.pgn

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import first_board

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
"""What a man is worth, in pawns."""
SOON = 2
"""A man is won soon if it is captured by one of the next two moves of the side that found it."""
_OPENING_PLIES = 4


class LostMan(NamedTuple):
    """A man that was captured.

    ply: the capture's, from 1. value: in pawns; 0 for a king. unseen: whether its owner did not see
    the attacker's square just before the capture.
    """

    ply: int
    owner: chess.Color
    kind: chess.PieceType
    value: int
    unseen: bool


class Scouting(NamedTuple):
    """A move that brought enemy men into sight.

    ply: from 1. seen: how many men that the mover did not see before its move. won: what the mover
    won of them soon, in pawns; 0 if nothing. king: whether it was the king.
    """

    ply: int
    side: chess.Color
    seen: int
    won: int = 0
    king: bool = False

    @property
    def paid(self) -> bool:
        """Return whether the move led to a gain."""
        return self.won > 0 or self.king


class SideFacts(NamedTuple):
    """One side of a game. Values are in pawns.

    lost, lost_value: men but the king. unseen, unseen_value: those of them that were lost to
    attackers that the owner did not see. king_lost: whether its king was captured; king_unseen: by
    such an attacker. scouted: moves that brought men into sight. paid: those that won one of them
    soon, won_value: what they won; a king is worth nothing here.
    """

    lost: int
    lost_value: int
    unseen: int
    unseen_value: int
    king_lost: bool
    king_unseen: bool
    scouted: int
    paid: int
    won_value: int


class FogFacts(NamedTuple):
    """A game of a file. number: in the file, from 1. opening: its name, or its first moves."""

    number: int
    white: str
    black: str
    result: str
    ending: str
    opening: str
    plies: int
    men: tuple[LostMan, ...]
    scouting: tuple[Scouting, ...]

    def side(self, color: chess.Color) -> SideFacts:
        """Return the sums of one side."""
        own = [man for man in self.men if man.owner == color]
        men = [man for man in own if man.kind != chess.KING]
        unseen = [man for man in men if man.unseen]
        kings = [man for man in own if man.kind == chess.KING]
        scouted = [each for each in self.scouting if each.side == color]
        return SideFacts(
            len(men),
            sum(man.value for man in men),
            len(unseen),
            sum(man.value for man in unseen),
            bool(kings),
            any(man.unseen for man in kings),
            len(scouted),
            sum(each.paid for each in scouted),
            sum(each.won for each in scouted),
        )


def game_facts(game: chess.pgn.Game, number: int) -> FogFacts:
    """Follow a game's main line; see `game_file.read_game`."""
    board = first_board(game)
    start = board.copy()
    moves = list(game.mainline_moves())
    men: list[LostMan] = []
    watch = {color: _Scout(color) for color in chess.COLORS}
    for ply, move in enumerate(moves, 1):
        mover = board.turn
        man = _captured(board, move, ply)
        before = board.vision_mask(mover)
        board.push(move)
        if man is not None:
            men.append(man)
        watch[mover].moved(board, ply, before, move, man)
        watch[not mover].answered(move, man)
    headers = game.headers
    return FogFacts(
        number,
        headers["White"],
        headers["Black"],
        headers["Result"],
        headers.get("Termination", ""),
        _opening(headers, start, moves),
        len(moves),
        tuple(men),
        tuple(sorted((*watch[chess.WHITE].found, *watch[chess.BLACK].found))),
    )


def _captured(board: FogOfWarBoard, move: chess.Move, ply: int) -> LostMan | None:
    """Return the man that a move captures. board: before it."""
    square = move.to_square
    if board.is_en_passant(move):
        square = chess.square(chess.square_file(square), chess.square_rank(move.from_square))
    kind = board.piece_type_at(square)
    owner = not board.turn
    if kind is None or board.is_castling(move):
        return None
    seen = board.vision_mask(owner) & chess.BB_SQUARES[move.from_square]
    return LostMan(ply, owner, kind, VALUES.get(kind, 0), not seen)


class _Scout:
    """Follows what one side's moves bring into sight, and what it captures of it soon."""

    def __init__(self, side: chess.Color) -> None:
        self.found: list[Scouting] = []
        self._side = side
        self._fresh: dict[chess.Square, int] = {}  # where a man stands, and who found it
        self._moves: list[int] = []  # the places in `found` of the last moves; -1: found nothing
        self._capture: tuple[int, int, chess.Square, int] | None = None  # until it is answered

    def moved(
        self,
        board: FogOfWarBoard,
        ply: int,
        before: chess.Bitboard,
        move: chess.Move,
        man: LostMan | None,
    ) -> None:
        """Take a move of the side. board: after it. before: what the side saw before its move."""
        self._capture = None
        finder = self._fresh.pop(move.to_square, None)
        if finder is not None and man is not None:
            capturer = board.piece_type_at(move.to_square) or chess.PAWN
            risk = VALUES.get(chess.PAWN if move.promotion else capturer, 0)
            if man.kind == chess.KING:
                self.found[finder] = self.found[finder]._replace(king=True)
            else:
                self._capture = finder, man.value, move.to_square, risk
                self._add(finder, man.value)
        theirs = board.occupied_co[not self._side]
        new = board.vision_mask(self._side) & theirs & ~before
        place = -1
        if new:
            place = len(self.found)
            self.found.append(Scouting(ply, self._side, new.bit_count()))
            self._fresh |= dict.fromkeys(chess.scan_forward(new), place)
        self._moves.append(place)
        recent = set(self._moves[-SOON:])
        self._fresh = {square: who for square, who in self._fresh.items() if who in recent}

    def answered(self, move: chess.Move, man: LostMan | None) -> None:
        """Take a move of the other side. man: what it captured."""
        if self._capture is not None and man is not None:
            finder, won, square, risk = self._capture
            if move.to_square == square:
                self._add(finder, -min(won, risk))
        self._capture = None
        moved = self._fresh.pop(move.from_square, None)
        if moved is not None:
            self._fresh[move.to_square] = moved

    def _add(self, finder: int, value: int) -> None:
        found = self.found[finder]
        self.found[finder] = found._replace(won=found.won + value)


def _opening(headers: Mapping[str, str], board: FogOfWarBoard, moves: list[chess.Move]) -> str:
    """Return the opening's name if the file tells it, or else the first moves."""
    named = headers.get("Opening", "?")
    if named.strip("?") and named != "none":
        return named
    if board.fen() != board.starting_fen:
        return "from a position"
    return board.variation_san(moves[:_OPENING_PLIES]) or "no moves"
