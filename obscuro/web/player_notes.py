"""What a player of the board in the browser knows of the game: the score sheet and the captures.

It is made from the player's own account alone: the start, which both know, its own moves, and what
it saw after each ply.
"""

from __future__ import annotations

from typing import Literal, TypedDict

import chess

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.web.ply_sightings import seen_move

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
        known = seen_move(self.side, self._view.observation, observation)
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
