"""One game on a server, as a state machine: messages in, actions out.

It does no I/O and reads no clock, so that tests can try every order of messages: the server's late,
doubled or missing ones, the engine's answers, and failures of either.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import chess

from obscuro.bridge.capabilities import FOG_VARIANTS
from obscuro.bridge.events import GameEnd, GameFull, GameState, OpponentGone
from obscuro.bridge.messages import (
    Action,
    Ask,
    Connected,
    Finish,
    Message,
    Missing,
    Note,
    Resync,
    Send,
    Sent,
    StopThinking,
    Think,
    Thought,
    Wait,
)
from obscuro.bridge.our_view import OurView, ViewError

FIRST_MOVE_MS = 8_000
"""The most for our first move. The clock does not run yet, but servers abort games not begun."""
FIRST_MOVE_SHARE = 20
"""Our first move takes at most the clock divided by this."""
FIRST_CLOCK_PLIES = 2
"""No clock runs until both sides have moved."""
OVERDUE_SECONDS = 60.0
"""We look how the game stands if the other side's clock ran out so long ago and no news came."""
OVERDUE_LOOKS = 3
"""The game is given up after so many looks without news: the server has forgotten it."""
GIVEN_UP = "given up: the other side's clock has run out, and the server says nothing"
MOST_REFUSALS = 3
"""The game is given up if the server refuses more moves of one turn."""
MOST_DOUBTS = 3
"""We believe that a game is shorter than we know it if the server says so more often than this."""


@dataclass(frozen=True, slots=True)
class GameSettings:
    """How to behave in a game. Scores are the engine's, in centipawns for our side.

    draw_score: accept a draw if the last score is at most this and draw_plies have been made; None:
    never. resign_score: resign after resign_moves scores of at most this; None: never. movetime:
    milliseconds for each move if no clock runs. abort_seconds: how long to wait for the other
    side's first move.
    """

    draw_score: int | None = -100
    draw_plies: int = 40
    resign_score: int | None = None
    resign_moves: int = 3
    movetime: int = 10_000
    abort_seconds: float = 120.0


@dataclass(slots=True)
class _Turn:
    """Our turn at one position, from when we first heard of it.

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


class ServerGame:
    """The state of one game. `handle` takes a message and returns the actions to take, in order.

    user: our name on the server. A message may come again: the number of its moves tells whether a
    state is new. Only the first state of a fresh stream may take moves back.
    """

    def __init__(self, game_id: str, user: str, settings: GameSettings) -> None:
        self.id = game_id
        self.opponent = "?"
        self.finished = False
        self._user = user
        self._settings = settings
        self._view: OurView | None = None
        self._state = GameState(())
        self._turn: _Turn | None = None
        self._number = 0
        self._fresh = False  # whether the stream's next `GameFull` is its first
        self._doubts = (0, 0)  # our plies when the server's game was shorter, and how often
        self._heard_at = 0.0  # when the other side's turn began
        self._looks = 0
        self._scores: list[int] = []
        self._asked: set[str] = set()  # so that nothing is asked twice at the same ply
        self._claim_at: float | None = None

    @property
    def view(self) -> OurView | None:
        """Our view of the game, once the game is known."""
        return self._view

    def handle(self, message: Message, now: float) -> list[Action]:
        """Return the actions after a message. now: seconds of a clock that never goes back."""
        if self.finished:
            return []
        actions = self._handle(message, now)
        if any(isinstance(action, Finish) for action in actions):
            self.finished = True
        return actions

    def _handle(self, message: Message, now: float) -> list[Action]:
        match message:
            case Connected():
                self._fresh = True
                return []
            case GameFull():
                return self._full(message, now)
            case GameState():
                return self._news(message, now)
            case GameEnd():
                state = replace(self._state, status=message.status, winner=message.winner)
                return [*self._stop(), Finish(self._result(state))]
            case Missing(why):
                return [*self._stop(), Finish(why, known=False)]
            case OpponentGone(gone, claim_in):
                self._claim_at = now + claim_in if gone and claim_in is not None else None
                return self._look_at_clock(now)
            case Thought():
                return self._thought(message, now)
            case Sent():
                return self._sent(message, now)
            case _:
                return self._look_at_clock(now)

    # -- the server's side ------------------------------------------------------------------

    def _full(self, full: GameFull, now: float) -> list[Action]:
        fresh, self._fresh = self._fresh, False
        if self._view is None:
            return self._begin(full, now)
        if not fresh or full.state.over:
            return self._news(full.state, now)
        if not self._is_stale(full.state):
            self._doubts = (0, 0)
            if self._turn is not None:
                self._turn.in_doubt = False
            return self._take(full.state, now)
        # The server wrote it before our move arrived, or it waited in the last connection's queue.
        # A move chosen by it could be taken for another turn's. So we look again.
        known = self._view.plies
        self._doubts = (known, self._doubts[1] + 1 if self._doubts[0] == known else 1)
        return [Resync()] if self._doubts[1] <= MOST_DOUBTS else self._take(full.state, now)

    def _begin(self, full: GameFull, now: float) -> list[Action]:
        """Take up a game, which may be in its middle."""
        side = full.color_of(self._user)
        if full.variant and full.variant not in FOG_VARIANTS:
            return [Finish(f"not Fog of War chess but {full.variant}, left alone")]
        if side is None:
            return [Finish(f"{self._user} plays neither side, left alone")]
        self._state = full.state
        try:
            self._view = OurView(side, full.start)
        except ViewError as error:
            return self._hopeless(str(error))
        self._heard_at = now
        self.opponent = min(full.black if side == chess.WHITE else full.white, default="?")
        move = len(full.state.moves) // 2 + 1
        said = Note(f"{chess.COLOR_NAMES[side]} against {self.opponent}, from move {move}")
        return [said, *self._take(full.state, now)]

    def _news(self, state: GameState, now: float) -> list[Action]:
        """Take a state from the middle of a stream; it may be old."""
        if self._view is None:
            return []  # it is left from another connection: a `GameFull` comes first
        if state.over:
            return self._take(state, now)
        return [] if self._is_stale(state) else self._take(state, now)

    def _is_stale(self, state: GameState) -> bool:
        assert self._view is not None
        return len(state.moves) < self._view.plies

    def _take(self, state: GameState, now: float) -> list[Action]:
        """Take a state as the present one."""
        assert self._view is not None
        view, before = self._view, self._view.moves
        if state.over:
            return [*self._stop(), Finish(self._result(state))]
        try:
            view.follow(state.moves)
        except ViewError as error:
            return self._hopeless(str(error))
        self._state = state
        if view.moves != before:
            self._heard_at, self._looks = now, 0
            self._asked.clear()
        if view.decided:
            return [*self._stop(), Finish(self._result(state), known=False)]
        return [*self._answer_offers(state), *self._play(now)]

    def _hopeless(self, why: str) -> list[Action]:
        """Leave a game that can't be followed: abort it if the server lets us, else resign."""
        ask = "abort" if len(self._state.moves) < FIRST_CLOCK_PLIES else "resign"
        return [*self._stop(), Note(why), Ask(ask), Finish(f"can't be followed: {why}")]

    def _answer_offers(self, state: GameState) -> list[Action]:
        assert self._view is not None
        other = not self._view.side
        actions: list[Action] = []
        if state.offers_draw(other):
            settings, last = self._settings, self._scores[-1:]
            wanted = (
                settings.draw_score is not None
                and self._view.plies >= settings.draw_plies
                and bool(last)
                and last[0] <= settings.draw_score
            )
            actions += self._ask_once("draw/yes" if wanted else "draw/no")
        if state.asks_takeback(other):
            actions += self._ask_once("takeback/no")
        return actions

    def _ask_once(self, path: str) -> list[Action]:
        if path in self._asked:
            return []
        self._asked.add(path)
        return [Ask(path)]

    def _look_at_clock(self, now: float) -> list[Action]:
        """See whether something is overdue. Every sign of life of the stream leads here."""
        view, state = self._view, self._state
        if view is None or view.our_turn:
            return []
        if self._claim_at is not None and now >= self._claim_at:
            self._claim_at = None
            return [Ask("claim-victory")]
        waited = now - self._heard_at
        if view.plies < FIRST_CLOCK_PLIES and waited > self._settings.abort_seconds:
            return self._ask_once("abort")
        clock = state.clock(not view.side)
        if clock is None or waited < clock / 1000 + OVERDUE_SECONDS * (self._looks + 1):
            return []
        self._looks += 1
        if self._looks > OVERDUE_LOOKS:
            return [Finish(GIVEN_UP, known=False)]
        return [Resync()]

    # -- our side ---------------------------------------------------------------------------

    def _play(self, now: float) -> list[Action]:
        """Ask for a move if it is our turn and none is on its way."""
        assert self._view is not None
        view = self._view
        position = view.position()
        if not view.our_turn:
            return [*self._stop(), Wait(position)]
        turn = self._turn
        if turn is None or turn.position != position:
            stopped = self._stop()
            self._number += 1
            clock = self._state.clock(view.side)
            self._turn = _Turn(position, self._number, now, clock)
            return [*stopped, self._think(self._turn)]
        if turn.chosen is None or turn.sending or turn.in_doubt:
            return []
        return self._send(turn, turn.chosen)  # the server doesn't have it, even if it took it

    def _think(self, turn: _Turn) -> Think:
        assert self._view is not None
        view, state = self._view, self._state
        clocks, movetime = None, None
        white, black, ours = state.wtime, state.btime, turn.clock
        if ours is None:
            movetime = self._settings.movetime
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
            number=turn.number,
            position=turn.position,
            moves=view.legal_moves(),
            side=view.side,
            clocks=clocks,
            movetime=movetime,
            since=turn.since,
        )

    def _thought(self, thought: Thought, now: float) -> list[Action]:
        turn = self._turn
        if turn is None or thought.number != turn.number or turn.chosen is not None:
            return []
        turn.chosen = thought.move
        if thought.score is not None:
            self._scores.append(thought.score)
            if self._is_lost():
                return [Ask("resign"), Finish("lost: we resigned", known=True)]
        return self._send(turn, thought.move)

    def _is_lost(self) -> bool:
        settings = self._settings
        last = self._scores[-settings.resign_moves :]
        limit = settings.resign_score
        return limit is not None and len(last) == settings.resign_moves and max(last) <= limit

    def _send(self, turn: _Turn, move: str) -> list[Action]:
        turn.sending = True
        return [Send(turn.number, move)]

    def _sent(self, sent: Sent, now: float) -> list[Action]:
        turn = self._turn
        if turn is None or sent.number != turn.number:
            return []
        turn.sending = False
        if sent.error is not None:
            turn.in_doubt = True
            return self._refused(turn, sent.move, sent.error) if sent.refused else [Resync()]
        assert self._view is not None
        # Some servers don't send our own move back.
        moves = (*self._view.moves, sent.move)
        try:
            self._view.follow(moves)
        except ViewError as error:
            return self._hopeless(str(error))
        self._turn = None
        self._heard_at, self._looks = now, 0
        self._asked.clear()
        if self._view.decided:
            return [Finish(self._result(self._state), known=False)]
        return [Wait(self._view.position())]

    def _refused(self, turn: _Turn, move: str, error: str) -> list[Action]:
        """Handle a refused move: the game is over, the move was made before, or the rules differ.

        The game as the server tells it anew shows which. If it is still our turn, another move is
        tried.
        """
        assert self._view is not None
        turn.refused.append(move)
        said = Note(f"the server refuses {move}: {error}")
        if len(turn.refused) > MOST_REFUSALS:
            return [said, Ask("resign"), Finish("given up: the server refuses our moves")]
        others = [uci for uci in self._view.legal_moves() if uci not in turn.refused]
        turn.chosen = others[0] if others else move
        return [said, Resync()]

    def _stop(self) -> list[Action]:
        turn, self._turn = self._turn, None
        return [StopThinking()] if turn is not None and turn.chosen is None else []

    # -- the end ----------------------------------------------------------------------------

    def _result(self, state: GameState) -> str:
        """Say how the game ended, as far as we know."""
        view = self._view
        if view is None:
            return "over"
        how = state.status if state.over else ""
        if state.winner is not None:
            return f"{'won' if state.winner == view.side else 'lost'}{how and f': {how}'}"
        if how in ("draw", "stalemate"):
            return f"drawn: {how}"
        if view.decided:
            return f"{'won' if view.won else 'lost'}: king captured"
        return how or "over"
