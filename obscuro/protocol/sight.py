"""The text of an observation, read without compiled code, so that errors come at `position`.

The same language as `obscuro.fog.observation.Observation.parse` reads, which needs numba.
"""

import re
from typing import NamedTuple

import chess

from obscuro.fog.board import UNSEEN, fog_placement
from obscuro.protocol.protocol_error import ProtocolError

_ROW = re.compile(r"[1-8pnbrqkPNBRQK*?]*")
_DIGIT = re.compile(r"[1-8]")
_EMPTY = re.compile(r"[.*]+")


class Sight(NamedTuple):
    """What a side saw: the pieces, the mask of squares seen, the en passant square or None."""

    board: chess.BaseBoard
    seen: chess.Bitboard
    ep: chess.Square | None

    def text(self) -> str:
        """Return the observation in its one canonical form (as `FogOfWarBoard.fog_fen`)."""
        placement = fog_placement(self.board, self.seen)
        return placement if self.ep is None else f"{placement},{chess.square_name(self.ep)}"


def parse_sight(text: str) -> Sight:
    """Read an observation, `<placement>[,<ep>]`. Raises ProtocolError.

    What can't be on any board is an error as well: two kings of a side, pawns on back ranks, more than
    16 pieces of a side. Whether it fits the game is for the belief to say.
    """
    placement, _, ep_name = text.partition(",")
    rows = placement.split("/")
    if len(rows) != 8:
        raise ProtocolError(f"an observation has 8 ranks, this has {len(rows)}: {text!r}")
    seen = chess.BB_EMPTY
    ranks = []
    for rank, row in zip(reversed(range(8)), rows, strict=True):
        if not _ROW.fullmatch(row):
            raise ProtocolError(f"rank {rank + 1} has a character that is none of it: {text!r}")
        cells = _DIGIT.sub(lambda digit: "." * int(digit[0]), row.replace("?", UNSEEN))
        if len(cells) != 8:
            raise ProtocolError(f"rank {rank + 1} has {len(cells)} squares, not 8: {text!r}")
        for file, cell in enumerate(cells):
            if cell != UNSEEN:
                seen |= chess.BB_SQUARES[chess.square(file, rank)]
        ranks.append(_EMPTY.sub(lambda run: str(len(run[0])), cells))
    board = chess.BaseBoard("/".join(ranks))
    if wrong := _impossible(board):
        raise ProtocolError(f"{wrong}: {text!r}")
    if ep_name in ("", "-"):
        return Sight(board, seen, None)
    if ep_name not in chess.SQUARE_NAMES:
        raise ProtocolError(f"no such en passant square: {ep_name!r}")
    return Sight(board, seen, chess.parse_square(ep_name))


def _impossible(board: chess.BaseBoard) -> str:
    if board.pawns & chess.BB_BACKRANKS:
        return "there is a pawn on a back rank"
    for color in chess.COLORS:
        own = board.occupied_co[color]
        if chess.popcount(own & board.kings) > 1:
            return f"{chess.COLOR_NAMES[color]} has more than one king"
        if chess.popcount(own) > 16:
            return f"{chess.COLOR_NAMES[color]} has more than 16 pieces"
    return ""
