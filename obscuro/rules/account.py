"""One side's account of a game: its own moves and its observations, ply by ply.

A referee has the whole game on a `FogOfWarBoard`. A player may know only its own moves and its
observation after each ply of either side. All code that follows a game for a player takes the plies
from this module. Importing it loads no compiled code.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import chess

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.starts import fen_of, hidden_fen


class PlyListener(Protocol):
    """Receives a game ply by ply, as `obscuro.engine.player.Player` does."""

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Record the own move and the observation after it (None: unknown)."""

    def opponent_move(self, observation: Observation) -> None:
        """Record the observation after the other side's move."""


class Ply(NamedTuple):
    """One ply of either side, as one side lived it."""

    move: str | None  # the side's own move, in UCI; None: the other side moved
    observation: Observation | None  # what the side saw then; None: it was not told

    def tell(self, listener: PlyListener) -> None:
        """Tell the side's player of it. Raises ValueError if the other side's ply shows nothing."""
        if self.move is not None:
            listener.own_move(self.move, self.observation)
        elif self.observation is not None:
            listener.opponent_move(self.observation)
        else:
            raise ValueError("a side is always told what it saw after the other side's move")


class Account:
    """One side's plies of a game and what it sees now. It keeps nothing else of the board.

    side: whose account it is. start: see `start_fen`.
    observation: what the side sees now.
    """

    def __init__(self, board: FogOfWarBoard, side: chess.Color) -> None:
        """Begin with the plies that the board has behind it."""
        self.side = side
        self.start = start_fen(board, side)
        self.observation = board.observation(side)
        self._plies = list(plies(board, side))

    @property
    def plies(self) -> tuple[Ply, ...]:
        """The plies so far, of both sides."""
        return tuple(self._plies)

    def append(self, board: FogOfWarBoard) -> Ply:
        """Add the last ply of the board and return it. Raises ValueError if it is not the next."""
        if len(board.move_stack) != len(self._plies) + 1:
            raise ValueError(
                f"ply {len(board.move_stack)} of a game can't follow ply {len(self._plies)}"
            )
        self.observation = board.observation(self.side)
        ply = Ply(_own_move(board, self.side), self.observation)
        self._plies.append(ply)
        return ply


def start_fen(board: FogOfWarBoard, side: chess.Color | None = None) -> str | None:
    """Return the FEN where a board's game began; None for the usual start of ordinary chess.

    side: who is told it; None: who is told everything. A side does not know a hidden start.
    """
    root = board.root()
    if board.hidden_start and side is not None:
        return hidden_fen(root, side)
    fen = fen_of(root)
    return None if fen == board.starting_fen else fen


def last_ply(board: FogOfWarBoard, side: chess.Color) -> Ply:
    """Return what a side did and saw in the last ply of a board. Raises IndexError without one."""
    return Ply(_own_move(board, side), board.observation(side))


def plies(board: FogOfWarBoard, side: chess.Color) -> Iterator[Ply]:
    """Yield what a side did and saw, from the position that the board was set up with to the last.

    The board itself is not changed.
    """
    replayed = board.root()
    for move in board.move_stack:
        replayed.push(move)
        yield last_ply(replayed, side)


def play_move(board: FogOfWarBoard, uci: str, players: Sequence[PlyListener]) -> None:
    """Make a move on a referee's board, and tell White's player and Black's, in this order.

    Raises ValueError if the move is not legal; nothing happens then.
    """
    board.push(board.parse_uci(uci))
    for side, player in zip((chess.WHITE, chess.BLACK), players, strict=True):
        last_ply(board, side).tell(player)


def _own_move(board: FogOfWarBoard, side: chess.Color) -> str | None:
    """Return the last move of a board if it was this side's."""
    move = board.peek()
    return None if board.turn == side else move.uci()
