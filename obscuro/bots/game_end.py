"""How a game on a server ended: what the server says, what the board shows, and what is left.

A server may end a game without saying how. Then we look for its last moves, and judge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import chess

from obscuro.bots.events import UNDERWAY, GameEnd, GameFull, GameState
from obscuro.bots.our_view import OurView, ViewError

LOOK_BACK_SECONDS = 15.0
"""How long we ask for the last moves of a game whose end is told without a result."""
CLOCK_TOLERANCE_MS = 1000
BOARD = "the board shows it"
CLOCK = "by our count of the clock"
NOTHING_ELSE = "the server does not say; nothing else is left"
FIRST_PLIES = 2
"""A game of at most this many plies can be aborted by either side."""
LONG_PLIES = 600
"""pychess.org declares longer games drawn."""
_DRAWS = frozenset({"draw", "stalemate", "insufficientMaterialClaim"})
_ABORTED = frozenset({"aborted", "noStart"})


class OurResult(StrEnum):
    """What became of a game, for our side."""

    WON = "won"
    LOST = "lost"
    DRAWN = "drawn"
    ABORTED = "aborted"
    UNKNOWN = "over"


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a game ended. source: how we know; "" if the server told, or we decided."""

    outcome: OurResult
    reason: str = ""
    source: str = ""

    def __str__(self) -> str:
        """Return the line for the log, such as `won: king captured (the board shows it)`."""
        named = self.outcome != OurResult.UNKNOWN and self.reason
        text = f"{self.outcome}: {self.reason}" if named else self.reason or str(self.outcome)
        return f"{text} ({self.source})" if self.source else text

    def winner(self, side: chess.Color) -> chess.Color | None:
        """Return who won, if we play *side*; None for a draw, or if the game has no winner."""
        return {OurResult.WON: side, OurResult.LOST: not side}.get(self.outcome)


def left(reason: str) -> Verdict:
    """Return the verdict of a game that we leave without knowing how it ends."""
    return Verdict(OurResult.UNKNOWN, reason)


def by_server(view: OurView | None, status: str, winner: chess.Color | None) -> Verdict | None:
    """Return what the server says; None if its words do not tell who won."""
    how = "" if status in UNDERWAY else status
    if winner is not None and view is not None:
        return Verdict(OurResult.WON if winner == view.side else OurResult.LOST, how)
    if how in _DRAWS:
        return Verdict(OurResult.DRAWN, how)
    if how in _ABORTED:
        return Verdict(OurResult.ABORTED, how.replace("aborted", ""))
    return None


def by_board(view: OurView) -> Verdict | None:
    """Return what the rules say; None if they let the game go on.

    Servers differ about a side without a move. Those that don't say how a game ended call it a
    draw; in the paper it is a loss.
    """
    board = view.board()
    if board.is_variant_end():
        return Verdict(OurResult.WON if view.won else OurResult.LOST, "king captured", BOARD)
    if view.decided:
        return Verdict(OurResult.DRAWN, "a side without a move", BOARD)
    if board.is_repetition(3):
        return Verdict(OurResult.DRAWN, "repetition", BOARD)
    if board.is_fifty_moves():
        return Verdict(OurResult.DRAWN, "fifty moves", BOARD)
    return None


def by_elimination(view: OurView, late: chess.Color | None, unmade: str | None) -> Verdict:
    """Return what can have ended a game that the rules let go on.

    late: the side whose time had run out. unmade: a move of ours that is not in the game.
    """
    if late is not None:
        return Verdict(OurResult.LOST if late == view.side else OurResult.WON, "time", CLOCK)
    if unmade is not None:
        return left(f"over as our move {unmade} was on its way, or because of it")
    if view.plies > LONG_PLIES:
        return left("over after the number of moves at which servers declare a draw")
    if view.plies <= FIRST_PLIES:
        return left("aborted or resigned before the second move; the server does not say")
    return Verdict(OurResult.WON, "the other side resigned or left", NOTHING_ELSE)


@dataclass(slots=True)
class GameEnding:
    """What is known of the end.

    until: the second until which we look for the last moves. plies: how many moves we knew. late:
    the side to move then if its time had run out. unmade: a move of ours that the stream had not
    shown. aborted: whether we asked to abort the game. told: what the server has said of the end.
    """

    until: float
    plies: int
    late: chess.Color | None
    unmade: str | None
    aborted: bool
    told: Verdict | None = None

    def complete(self, view: OurView, full: GameFull) -> Verdict:
        """Take the game as the server has kept it, and judge."""
        told = by_server(view, full.state.status, full.state.winner)
        self.take(view, full.state.moves)
        return told or self.judge(view)

    def take(self, view: OurView, moves: Sequence[str]) -> None:
        """Follow the server's last moves; if they can't be followed, keep those that we know."""
        known = view.moves
        try:
            view.follow(moves)
        except ViewError:
            view.follow(known)

    def judge(self, view: OurView) -> Verdict:
        """Judge by what we know."""
        if self.told is not None:
            return self.told
        if self.unmade is not None and self.unmade in view.moves[self.plies :]:
            self.unmade = None
        if self.aborted and view.plies <= FIRST_PLIES:
            return by_server(view, "aborted", None) or by_elimination(view, None, None)
        late = self.late if view.plies == self.plies else None
        return by_board(view) or by_elimination(view, late, self.unmade)


def late_side(view: OurView, state: GameState, turn_began: float, now: float) -> chess.Color | None:
    """Return the side to move if its time has run out, as far as we can count it."""
    mover = view.side if view.our_turn else not view.side
    clock = state.clock(mover)
    if clock is None or view.plies < FIRST_PLIES:
        return None
    return mover if (now - turn_began) * 1000 >= clock - CLOCK_TOLERANCE_MS else None


def missed(view: OurView, full: GameFull, end: GameEnd) -> Verdict:
    """Judge a game that ended while we were away. end: what the server says of that."""
    ending = GameEnding(until=0.0, plies=0, late=None, unmade=None, aborted=False)
    told = by_server(view, end.status, end.winner)
    found = ending.complete(view, full)
    return told or (found if by_board(view) else left(end.status or "over while we were away"))
