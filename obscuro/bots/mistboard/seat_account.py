"""Our side's account of a game on Mistboard, from its observations: what `position fog` is made of.

The server's observations have all that ours have but one thing: the square on which our side can
capture en passant. For our own turn the legal moves tell it. For turns gone by it follows from where
the other side's pawn landed (`en_passant_target`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import chess

from obscuro.bots.mistboard.engine_messages import (
    INITIAL,
    OTHER_MOVE,
    OWN_MOVE,
    MessageError,
    Sighting,
    WireMove,
)
from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.uci.positions import fog_position


class SeatAccount:
    """What our side did and saw in a game from the usual start.

    side: ours. seen: what it saw last; after a move whose observation it was not told, what it saw
    before.
    """

    def __init__(self, side: chess.Color) -> None:
        self.side = side
        self.seen = FogOfWarBoard().observation(side)
        self._plies: list[Ply] = []

    @classmethod
    def of(cls, side: chess.Color, sightings: Sequence[Sighting]) -> SeatAccount:
        """Return the account of a whole transcript. Raises MessageError if it is none."""
        account = cls(side)
        if not sightings or sightings[0].kind != INITIAL or sightings[0].ply != 0:
            raise MessageError("the transcript does not begin at ply 0")
        if sightings[0].observation != account.seen:
            raise MessageError("the game does not begin from the usual start")
        for sighting in sightings[1:]:
            account.add(sighting)
        return account

    @property
    def ply(self) -> int:
        """How many plies have been played."""
        return len(self._plies)

    @property
    def our_turn(self) -> bool:
        """Whether our side is to move."""
        return (self.ply % 2 == 0) == self.side

    def add(self, sighting: Sighting) -> None:
        """Take the next ply. Raises MessageError if it is another one; nothing changes then."""
        kind = OWN_MOVE if self.our_turn else OTHER_MOVE
        if (sighting.ply, sighting.kind) != (self.ply + 1, kind):
            raise MessageError(
                f"ply {self.ply} can't be followed by ply {sighting.ply}, {sighting.kind}"
            )
        seen = sighting.observation
        if sighting.own_move is not None:
            self._plies.append(Ply(sighting.own_move.uci(self.seen), seen))
        else:
            before = self._plies[-1].observation if self._plies else self.seen
            target = en_passant_target(self.side, before, sighting)
            seen = replace(seen, en_passant=target)
            self._plies.append(Ply(None, seen))
        self.seen = seen

    def add_untold(self, move: WireMove) -> None:
        """Take a move of ours whose observation the server has not told. It must be our turn."""
        self._plies.append(Ply(move.uci(self.seen), None))

    def correct_en_passant(self, moves: Iterable[WireMove]) -> None:
        """Let our legal moves, at our turn, say where our side can capture en passant."""
        if self._plies:
            target = next((m.to_square for m in moves if self._is_en_passant(m)), None)
            self.seen = replace(self.seen, en_passant=target)
            self._plies[-1] = self._plies[-1]._replace(observation=self.seen)

    def _is_en_passant(self, move: WireMove) -> bool:
        """Whether a legal move is a pawn's move to an empty square of another file."""
        pawns = self.seen.boards[0] & self.seen.pieces(0 if self.side == chess.WHITE else 1)
        files = chess.square_file(move.from_square), chess.square_file(move.to_square)
        occupied = self.seen.pieces(0) | self.seen.pieces(1)
        return bool(
            pawns >> move.from_square & 1
            and files[0] != files[1]
            and not occupied >> move.to_square & 1
        )

    def position(self) -> str:
        """Return the command that tells an engine this account."""
        return fog_position(self.side, self._plies)


def en_passant_target(
    side: chess.Color, before: Observation | None, sighting: Sighting
) -> chess.Square | None:
    """Return where `side` could capture en passant after a move of the other side; None: nowhere.

    before: what the side saw before that move; None if it was not told. A pawn that has just made
    two steps is seen if it can be captured, and so is the square behind it. A pawn that made one
    step stood on that square before, where our pawn attacked it and saw it. A pawn that captured a
    piece took one of ours.
    """
    landing, seen = sighting.landing, sighting.observation
    rank = 4 if side == chess.WHITE else 3
    if landing is None or chess.square_rank(landing) != rank or sighting.lost == landing:
        return None
    ours, theirs = (seen.boards[0] & seen.pieces(s) for s in ((0, 1) if side else (1, 0)))
    beside = chess.BB_FILES[chess.square_file(landing)]
    beside = (beside << 1 & ~chess.BB_FILE_A | beside >> 1 & ~chess.BB_FILE_H) & chess.BB_ALL
    target = landing + (8 if side == chess.WHITE else -8)
    occupied = seen.pieces(0) | seen.pieces(1)
    if not (
        theirs >> landing & 1
        and ours & beside & chess.BB_RANKS[rank]
        and seen.seen & ~occupied & chess.BB_SQUARES[target]
    ):
        return None
    one_step = before is not None and before.boards[0] & chess.BB_SQUARES[target]
    return None if one_step else target
