"""A game that the server has ended without saying how: we look for its last moves and judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import chess

from obscuro.bots.events import GameEnd, GameFull, GameState
from obscuro.bots.our_view import OurView, ViewError
from obscuro.bots.verdict import FIRST_PLIES, Verdict, by_board, by_elimination, by_server, left

LOOK_BACK_SECONDS = 15.0
"""How long we ask for the last moves of a game whose end is told without a result."""
CLOCK_TOLERANCE_MS = 1000


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
        said = by_server(view, full.state.status, full.state.winner)
        self.take(view, full.state.moves)
        return said or self.judge(view)

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
    said = by_server(view, end.status, end.winner)
    found = ending.complete(view, full)
    return said or (found if by_board(view) else left(end.status or "over while we were away"))
