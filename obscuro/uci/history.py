"""A game as one side lived it: the only thing that the engine is ever told."""

from dataclasses import dataclass

import chess

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation

_ENDINGS = {
    chess.Termination.FIFTY_MOVES: "fifty moves",
    chess.Termination.THREEFOLD_REPETITION: "threefold repetition",
}
KING_CAPTURED = "king captured"
NO_MOVE = "no move"


@dataclass(frozen=True, slots=True)
class History:
    """What one side did and saw, and what it therefore knows now.

    start: the position from which both sides know that the game began (FEN without counters).
    observation: what the side sees now. moves: the side's legal moves; there are none if it is not
    its turn or if the game is over. over: how the game ended; None while it goes on.
    """

    side: chess.Color
    start: str
    plies: tuple[Ply, ...]
    observation: Observation
    our_turn: bool
    moves: tuple[str, ...]
    over: str | None

    def continues(self, earlier: "History") -> bool:
        """Tell whether this is the same game, as far as the side can tell, with more plies."""
        return (
            self.side == earlier.side
            and self.start == earlier.start
            and len(self.plies) > len(earlier.plies)
            and self.plies[: len(earlier.plies)] == earlier.plies
        )


def start_text(board: FogOfWarBoard) -> str:
    """Return the text that `History.start` holds for a board."""
    return board.epd(en_passant="fen")


def ending(board: FogOfWarBoard) -> str | None:
    """Say how the game on a whole board has ended; None while it goes on."""
    outcome = board.outcome()
    if outcome is None:
        return None
    lost = KING_CAPTURED if board.is_variant_end() else NO_MOVE
    return _ENDINGS.get(outcome.termination, lost)
