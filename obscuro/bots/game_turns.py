"""The turns of a game on a server: ours until the server has our move, and the other side's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from obscuro.bots.bot_settings import GameSettings
from obscuro.bots.events import GameState, OpponentGone
from obscuro.bots.our_view import OurView
from obscuro.client.engine import Think

FIRST_MOVE_MS = 8_000
"""The most for our first move. The clock does not run yet, but servers abort games not begun."""
FIRST_MOVE_SHARE = 20
"""Our first move takes at most the clock divided by this."""
FIRST_CLOCK_PLIES = 2
"""No clock runs until both sides have moved."""
ECHO_SECONDS = 2.0
"""The server's stream shows our move so soon after the answer to it, or the move was not made."""
OVERDUE_SECONDS = 60.0
"""We look how the game stands if no news comes this long after the other side's clock ran out."""
OVERDUE_LOOKS = 3
"""The game is given up after this many looks without news: the server has forgotten it."""

Overdue = Literal["claim", "abort", "look", "give up"]


@dataclass(slots=True)
class OurTurn:
    """Our turn at one position, from when the server first told us.

    since: the second of that. clock: our time then, in ms. chosen: the engine's move. in_doubt:
    whether we don't know if it has arrived; only the whole game, told anew, tells. refused: the
    moves that the server did not take.
    """

    position: str
    number: int
    since: float
    clock: int | None
    chosen: str | None = None
    sending: bool = False
    in_doubt: bool = False
    refused: list[str] = field(default_factory=list)

    def think(self, view: OurView, state: GameState, settings: GameSettings) -> Think:
        """Return the request for a move."""
        clocks, movetime = None, None
        white, black, ours = state.wtime, state.btime, self.clock
        if ours is None:
            movetime = settings.movetime
        elif view.plies < FIRST_CLOCK_PLIES:
            movetime = max(1, min(FIRST_MOVE_MS, ours // FIRST_MOVE_SHARE))
        else:
            clocks = (
                ours if white is None else white,
                ours if black is None else black,
                state.winc,
                state.binc,
            )
        return Think(
            number=self.number,
            position=self.position,
            moves=view.legal_moves(),
            side=view.side,
            clocks=clocks,
            movetime=movetime,
            since=self.since,
        )


class EchoWatch:
    """Watches whether the stream shows the move of ours that the server has taken.

    A server may answer 200 and make no move: pychess.org does so if it is not our turn any more,
    since the other side took its move back. A server that never shows our moves is not watched any
    more once that is known.
    """

    def __init__(self) -> None:
        self.move: str | None = None
        """The move that is not shown yet."""
        self.shows: bool | None = None
        """Whether the server shows our moves; None: not known yet."""
        self._due = 0.0
        self._asked = False  # whether the game is told anew because of the move

    def sent(self, move: str, now: float) -> None:
        """Begin to wait for a move that the server has taken."""
        self.move, self._due, self._asked = move, now + ECHO_SECONDS, False

    def seen(self, shown: bool) -> None:
        """Take note of a state of the stream. shown: whether the move is its last one."""
        if self.move is not None and shown:
            self.shows = True
        self.move = None

    def seen_anew(self) -> None:
        """Take note that the game told anew has the move, which the stream did not show."""
        if self.move is not None and self._asked:
            self.shows = False
        self.move = None

    def overdue(self, now: float) -> bool:
        """Return, once for each move, whether the game must be told anew to know of the move."""
        if self.move is None or self._asked or self.shows is False or now < self._due:
            return False
        self._asked = True
        return True

    def doubts(self) -> bool:
        """Return, once for each move, whether a game without it may have been told before it."""
        if self.move is None or self._asked or self.shows is True:
            return False
        self._asked = True
        return True


class OpponentWatch:
    """The other side's turn. abort_seconds: how long to wait for its first move."""

    def __init__(self, abort_seconds: float) -> None:
        self.since = 0.0
        """When its turn began."""
        self._abort_seconds = abort_seconds
        self._looks = 0
        self._claim_at: float | None = None

    def began(self, now: float) -> None:
        """Take note of news."""
        self.since, self._looks = now, 0

    def gone(self, message: OpponentGone, now: float) -> None:
        """Take note of whether the other side is there, and when we may claim the win."""
        claim_in = message.claim_in
        self._claim_at = now + claim_in if message.gone and claim_in is not None else None

    def overdue(self, view: OurView, state: GameState, now: float) -> Overdue | None:
        """Return what to do about a move that does not come; None: wait on."""
        if view.our_turn:
            return None
        if self._claim_at is not None and now >= self._claim_at:
            self._claim_at = None
            return "claim"
        waited = now - self.since
        if view.plies < FIRST_CLOCK_PLIES and waited > self._abort_seconds:
            return "abort"
        clock = state.clock(not view.side)
        if clock is None or waited < clock / 1000 + OVERDUE_SECONDS * (self._looks + 1):
            return None
        self._looks += 1
        return "give up" if self._looks > OVERDUE_LOOKS else "look"
