"""One game on a server, as a state machine: messages in, actions out.

It does no I/O and reads no clock, so that tests can try every order of messages: the server's late
or missing ones, moves that are taken back, the engine's answers, and failures of either.

A stream tells in order, so its last word is how the game stands. Two things are not so simple. What
waited in a queue of the server while no stream was open comes first on a new stream: so states before
the stream's first `GameFull` are not read. And a move of ours may be in the game, or not, before
the stream shows it.
"""

from __future__ import annotations

from collections.abc import Callable

import chess

from obscuro.bots.bot_settings import GameSettings
from obscuro.bots.events import FOG_VARIANTS, GameEnd, GameFull, GameState, OpponentGone
from obscuro.bots.game_end import (
    LOOK_BACK_SECONDS,
    GameEnding,
    OurResult,
    Verdict,
    by_board,
    by_server,
    late_side,
    left,
    missed,
)
from obscuro.bots.game_log import GameLog
from obscuro.bots.game_messages import (
    Action,
    Ask,
    Connected,
    Disconnected,
    Finish,
    LookBack,
    Message,
    Missing,
    Note,
    Resync,
    Say,
    Send,
    Sent,
    StopThinking,
    Thought,
    Wait,
)
from obscuro.bots.game_turns import FIRST_CLOCK_PLIES, EchoWatch, OpponentWatch, OurTurn
from obscuro.bots.our_view import OurView, ViewError
from obscuro.client.score_history import ScoreHistory
from obscuro.rules.board import FogOfWarBoard, PychessBoard

GIVEN_UP = "given up: the other side's clock has run out, and the server says nothing"
MOST_REFUSALS = 3
"""The game is given up if the server refuses more moves of one turn."""
MOST_IGNORED = 10
"""The game is given up if the server ignores the same move more often."""
MOST_UNREADABLE = 3
"""The game is left if it can't be followed, and can't again this often when it is told anew."""
RESIGNED = "I resign."
"""Said in the chat, since not every server tells the other side that we resigned."""


class ServerGame:
    """The state of one game. `handle` takes a message and returns the actions to take, in order.

    user: our name on the server. resumed: whether we knew the game before; then we don't greet.
    refuse: returns why we don't play an opponent, by name; None: we do.
    """

    def __init__(
        self,
        game_id: str,
        user: str,
        settings: GameSettings,
        *,
        resumed: bool = False,
        refuse: Callable[[str], str | None] = lambda opponent: None,
    ) -> None:
        self.id = game_id
        self.opponent = "?"
        self.finished = False
        self.log = GameLog()
        self._user = user
        self._settings = settings
        self._resumed = resumed
        self._refuse = refuse
        self._chat = GameChat(settings)
        self._view: OurView | None = None
        self._state = GameState(())
        self._turn: OurTurn | None = None
        self._number = 0
        self._fresh = False  # whether the stream's first `GameFull` has yet to come
        self._settling = False  # whether the stream may still be behind; then nothing is sent
        self._echo = EchoWatch()
        self._ignored = 0  # how often in a row a move of ours was taken and not made
        self._unreadable = 0
        self._watch = OpponentWatch(settings.abort_seconds)
        self._scores = ScoreHistory(
            settings.draw_score,
            settings.draw_plies,
            settings.resign_score,
            settings.resign_moves,
        )
        self._asked: set[str] = set()  # so that nothing is asked twice at the same ply
        self._ending: GameEnding | None = None
        self._ended_before: GameEnd | None = None  # the end, told before the game itself

    @property
    def view(self) -> OurView | None:
        """Our view of the game, once the game is known."""
        return self._view

    @property
    def ended(self) -> bool:
        """Whether the server has ended the game; we may still be looking for how it ended."""
        return self.finished or self._ending is not None

    def summary(self, verdict: Verdict) -> str:
        """Return the line for the log that says how the game ended."""
        if self._view is None:
            return str(verdict)
        side, moves = chess.COLOR_NAMES[self._view.side], (self._view.plies + 1) // 2
        return f"{verdict}; {moves} moves as {side} against {self.opponent}"

    def handle(self, message: Message, now: float) -> list[Action]:
        """Return the actions after a message. now: seconds of a clock that never goes back."""
        if self.finished:
            return []
        if self._ending is not None and self._view is not None:
            actions = self._look_back(message, now, self._ending, self._view)
        else:
            actions = self._handle(message, now)
        for action in actions:
            if isinstance(action, Finish):
                self.finished = True
                return [*self._chat.farewell(action.verdict), *actions]
        return actions

    def _handle(self, message: Message, now: float) -> list[Action]:
        match message:
            case Connected() | Disconnected():
                self._fresh = True
                return []
            case GameFull():
                return self._full(message, now)
            case GameState():
                return self._news(message, now)
            case GameEnd(status=status, winner=winner):
                return self._end(status, winner, now, moves_known=False)
            case Missing(why):
                return [*self._stop(), Finish(left(why), known=False)]
            case OpponentGone():
                self._watch.gone(message, now)
                return self._look_at_clock(now)
            case Thought():
                return self._thought(message, now)
            case Sent():
                return self._sent(message, now)
            case _:
                return self._alive(now)

    # -- the server's side ------------------------------------------------------------------

    def _full(self, full: GameFull, now: float) -> list[Action]:
        fresh, self._fresh = self._fresh, False
        view = self._view
        if view is None:
            return self._begin(full, now)
        if not fresh or full.state.over:
            return self._news(full.state, now)
        unmade = self._echo.move if full.state.moves == view.moves[:-1] else None
        if unmade is not None and self._echo.doubts():
            return self._resync()
        # What waited in the server's queue may be behind, a `GameFull` too. The rest follows at once.
        self._settling = not view.is_continued_by(full.state.moves)
        if self._turn is not None and self._turn.in_doubt:
            self._turn.in_doubt, self._settling = False, True
        if view.is_continued_by(full.state.moves):
            self._echo.seen_anew()
        if unmade is None:
            return self._take(full.state, now)
        self._ignored += 1
        if self._ignored > MOST_IGNORED:
            return [Finish(left("given up: the server ignores our moves"), known=False)]
        actions = self._take(full.state, now)
        if self._turn is not None:
            self._turn.chosen = unmade
            return [StopThinking(), Note(f"the server did not make {unmade}, we send it again")]
        return actions

    def _begin(self, full: GameFull, now: float) -> list[Action]:
        """Take up a game, which may be in its middle."""
        side = full.color_of(self._user)
        if full.variant and full.variant not in FOG_VARIANTS:
            return [Finish(left(f"not Fog of War chess but {full.variant}, left alone"))]
        if side is None:
            return [Finish(left(f"{self._user} plays neither side, left alone"))]
        self._state = full.state
        self.log.begin(full)
        self.opponent = self.log.black if side == chess.WHITE else self.log.white
        refusal = self._refuse(self.opponent)
        if refusal is not None and len(full.state.moves) < FIRST_CLOCK_PLIES:
            note = Note(f"not played with {self.opponent}: {refusal}")
            return [note, Ask("abort"), Finish(left(refusal))]
        self._chat.begin((not side) not in full.bots, len(full.state.moves), self._resumed)
        try:
            kind = PychessBoard if self._settings.en_passant_hidden else FogOfWarBoard
            self._view = OurView(side, full.start, kind, chess960=full.chess960)
        except ViewError as error:
            return self._hopeless(str(error))
        self._watch.began(now)
        if self._ended_before is not None:
            return [Finish(missed(self._view, full, self._ended_before))]
        move = len(full.state.moves) // 2 + 1
        note = Note(f"{chess.COLOR_NAMES[side]} against {self.opponent}, from move {move}")
        return [note, *self._take(full.state, now)]

    def _news(self, state: GameState, now: float) -> list[Action]:
        """Take a state from the middle of a stream."""
        view = self._view
        if view is None:
            return []  # it is left from another connection: a `GameFull` comes first
        if state.over:
            return self._take(state, now)
        if self._fresh:
            return []
        if self._echo.move is not None and state.moves == view.moves[:-1]:
            # From before our move; or they took back the move before it, and made it again.
            return [] if state.offers else self._resync()
        return self._take(state, now)

    def _take(self, state: GameState, now: float) -> list[Action]:
        """Take a state as the present one."""
        assert self._view is not None
        view, before, position = self._view, self._view.moves, self._view.position()
        goes_on = view.is_continued_by(state.moves)
        try:
            view.follow(state.moves)
        except ViewError as error:
            view.follow(before)
            if state.over:
                return self._end(state.status, state.winner, now)
            return self._unreadable_again(str(error))
        self._unreadable = 0
        self._state = state
        self.log.state(state, view.white_moved)
        if state.over:
            return self._end(state.status, state.winner, now)
        notes: list[Action] = []
        if self._echo.move is not None and goes_on:
            self._ignored = 0
        self._echo.seen(shown=state.moves == before)
        if not goes_on:
            self._scores.clear()
            if view.position() != position:
                notes = [Note(f"moves were taken back: {len(before)} before, now {view.plies}")]
        if view.moves != before:
            self._watch.began(now)
            self._asked.clear()
        if view.decided:
            return [*self._stop(), *notes, Finish(by_board(view) or left("over"), known=False)]
        notes += self._chat.greeting(view)
        return [*notes, *self._answer_offers(state), *self._play(now)]

    def _unreadable_again(self, why: str) -> list[Action]:
        """Have a game that can't be followed told anew; leave it if that does not help."""
        self._unreadable += 1
        if self._unreadable <= MOST_UNREADABLE:
            return [Note(why), *self._resync()]
        return self._hopeless(why)

    def _hopeless(self, why: str) -> list[Action]:
        """Leave a game that can't be followed: abort it if the server lets us, else resign."""
        early = len(self._state.moves) < FIRST_CLOCK_PLIES
        asked = [Ask("abort")] if early else self._resign()
        return [*self._stop(), Note(why), *asked, Finish(left(f"can't be followed: {why}"))]

    def _resign(self) -> list[Action]:
        return [Ask("resign"), *self._chat.resigned()]

    def _resync(self) -> list[Action]:
        """Have the game told anew; what the present stream still says does not count."""
        self._fresh = True
        return [Resync()]

    def _answer_offers(self, state: GameState) -> list[Action]:
        assert self._view is not None
        other = not self._view.side
        actions: list[Action] = []
        if state.offers_draw(other):
            wanted = self._scores.accepts_draw(self._view.plies)
            actions += self._ask_once("draw/yes" if wanted else "draw/no")
        if state.asks_takeback(other):
            actions += self._ask_once("takeback/no")
        return actions

    def _ask_once(self, path: str) -> list[Action]:
        if path in self._asked:
            return []
        self._asked.add(path)
        return [Ask(path)]

    def _alive(self, now: float) -> list[Action]:
        """Act on a sign of life of the stream: the stream has no more to tell before it."""
        if self._fresh or self._view is None:
            return self._look_at_clock(now)
        if self._settling:
            self._settling = False
            return self._play(now)
        if self._echo.overdue(now):
            return self._resync()
        return self._look_at_clock(now)

    def _look_at_clock(self, now: float) -> list[Action]:
        """See whether the other side's move is overdue."""
        if self._view is None:
            return []
        match self._watch.overdue(self._view, self._state, now):
            case "claim":
                return [Ask("claim-victory")]
            case "abort":
                return self._ask_once("abort")
            case "look":
                return self._resync()
            case "give up":
                return [Finish(left(GIVEN_UP), known=False)]
            case None:
                return []

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
            self._turn = OurTurn(position, self._number, now, clock)
            return [*stopped, self._turn.think(view, self._state, self._settings)]
        if turn.chosen is None or turn.sending or turn.in_doubt or self._settling:
            return []
        return self._send(turn, turn.chosen)  # the server doesn't have it, even if it took it

    def _thought(self, thought: Thought, now: float) -> list[Action]:
        turn = self._turn
        if turn is None or thought.number != turn.number or turn.chosen is not None:
            return []
        assert self._view is not None
        turn.chosen = thought.move
        self.log.chose(self._view.plies, thought.move, now - turn.since, thought.report)
        self._scores.add(thought.score)
        if self._scores.resigns():
            return [*self._resign(), Finish(Verdict(OurResult.LOST, "we resigned"))]
        return [] if self._settling else self._send(turn, thought.move)

    def _send(self, turn: OurTurn, move: str) -> list[Action]:
        turn.sending = True
        return [Send(turn.number, move)]

    def _sent(self, sent: Sent, now: float) -> list[Action]:
        turn = self._turn
        if turn is None or sent.number != turn.number:
            return []
        turn.sending = False
        if sent.error is not None:
            turn.in_doubt = True
            return self._refused(turn, sent.move, sent.error) if sent.refused else self._resync()
        assert self._view is not None
        # The stream will show whether it was made; until then we think that it was.
        try:
            self._view.follow((*self._view.moves, sent.move))
        except ViewError as error:
            return self._hopeless(str(error))
        self._turn = None
        self._echo.sent(sent.move, now)
        self._watch.began(now)
        self._asked.clear()
        return [] if self._view.decided else [Wait(self._view.position())]

    def _refused(self, turn: OurTurn, move: str, error: str) -> list[Action]:
        """Handle a refused move: the game is over, the move was made before, or the rules differ.

        The game as the server tells it anew shows which. If it is still our turn, another move is
        tried.
        """
        assert self._view is not None
        turn.refused.append(move)
        note = Note(f"the server refuses {move}: {error}")
        if len(turn.refused) > MOST_REFUSALS:
            given_up = Verdict(OurResult.LOST, "given up: the server refuses our moves")
            return [note, *self._resign(), Finish(given_up)]
        others = [uci for uci in self._view.legal_moves() if uci not in turn.refused]
        turn.chosen = others[0] if others else move
        return [note, *self._resync()]

    def _stop(self) -> list[Action]:
        turn, self._turn = self._turn, None
        return [StopThinking()] if turn is not None and turn.chosen is None else []

    # -- the end ----------------------------------------------------------------------------

    def _end(
        self, status: str, winner: chess.Color | None, now: float, *, moves_known: bool = True
    ) -> list[Action]:
        """Finish a game that the server has ended, or look for what it does not say.

        moves_known: false for a word that may come before the last moves, on another stream.
        """
        view = self._view
        if view is None:
            self._ended_before = GameEnd("", status, winner)
            return []  # the whole game follows
        told = by_server(view, status, winner)
        verdict = told or by_board(view)
        if verdict is not None and (moves_known or view.decided):
            return [*self._stop(), Finish(verdict)]
        turn = self._turn
        began = turn.since if turn is not None else self._watch.since
        self._ending = GameEnding(
            until=now + LOOK_BACK_SECONDS,
            plies=view.plies,
            late=late_side(view, self._state, began, now),
            unmade=turn.chosen if turn is not None and turn.sending else self._echo.move,
            aborted="abort" in self._asked,
            told=told,
        )
        return [*self._stop(), LookBack()]

    def _look_back(
        self, message: Message, now: float, ending: GameEnding, view: OurView
    ) -> list[Action]:
        """Wait for the whole game as the server has kept it, then finish; at last without it."""
        match message:
            case GameFull():
                return [Finish(ending.complete(view, message))]
            case GameState(status=status, winner=winner, moves=moves):
                told = by_server(view, status, winner)
                if told is None:
                    return []
                ending.take(view, moves)
                return [Finish(told)]
            case GameEnd(status=status, winner=winner):
                ending.told = ending.told or by_server(view, status, winner)
                return []
            case Missing():
                return [Finish(ending.judge(view))]
        return [Finish(ending.judge(view))] if now > ending.until else []


class GameChat:
    """What we say in a game's chat: fixed lines, to people only, and nothing about the game."""

    def __init__(self, settings: GameSettings) -> None:
        self._settings = settings
        self._talks = False
        self._greets = False

    def begin(self, to_person: bool, plies: int, resumed: bool) -> None:
        """Take note of whom we play, and whether the game is new to us."""
        self._talks = to_person
        self._greets = to_person and not resumed and plies < FIRST_CLOCK_PLIES

    def greeting(self, view: OurView) -> list[Say]:
        """Greet, once, after the other side's first move.

        Before that it may not look at the board yet, and some servers keep no line for later.
        """
        first = 1 if view.side == chess.BLACK else 2
        if not self._greets or view.plies < first:
            return []
        self._greets = False
        return self._line(self._settings.greeting)

    def farewell(self, verdict: Verdict) -> list[Say]:
        """Say goodbye after a game that was played to its end."""
        over = verdict.outcome in (OurResult.WON, OurResult.LOST, OurResult.DRAWN)
        return self._line(self._settings.farewell) if over else []

    def resigned(self) -> list[Say]:
        """Say that we resign."""
        return self._line(RESIGNED)

    def _line(self, text: str) -> list[Say]:
        return [Say(text)] if text and self._talks else []
