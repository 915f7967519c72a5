"""One game that this server hosts, as a state machine: it is the referee, and does no I/O.

A person plays an engine, or two engines play. Whoever calls it keeps the game in a file, shows it,
and lets the engines think. Seconds come from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import chess

from obscuro.client.engine import PlayResult, Think
from obscuro.client.move_report import Report
from obscuro.client.score_history import ScoreHistory
from obscuro.matches.game_record import Turn
from obscuro.matches.referee import ending_words
from obscuro.matches.time_control import MILLISECONDS, TimeControl
from obscuro.rules.account import Account, last_ply
from obscuro.uci.positions import account_position
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.player_notes import PlayerNotes

FIRST_CLOCK_PLIES = 2
"""No clock runs until both sides have moved."""
FIRST_MOVE_SHARE = 20
"""An engine's move before the clocks run takes its clock divided by this, at most."""
FIRST_MOVE_MS = 3_000


class Status(StrEnum):
    """Where a game stands. PREPARING: the engine is not ready, and the clocks stand."""

    PREPARING = "preparing"
    PLAYING = "playing"
    OVER = "over"


class RefusedMove(Exception):  # noqa: N818 - it is refused, nothing went wrong
    """What a player asked for is not possible now; nothing has changed. One line for the user."""


@dataclass(frozen=True, slots=True)
class GameResult:
    """How a game ended. winner: None for a draw, and for a game without a result.

    ending: the cause in words. rematch: the id of the next game.
    """

    winner: chess.Color | None
    ending: str
    rematch: str | None = None
    scored: bool = True

    @property
    def text(self) -> str:
        """The result in PGN's notation."""
        if not self.scored:
            return "*"
        if self.winner is None:
            return "1/2-1/2"
        return "1-0" if self.winner == chess.WHITE else "0-1"


@dataclass(frozen=True, slots=True)
class HostedPly:
    """A move of the game. clock: the mover's ms after it; None: there are no clocks.

    score: the engine's, in centipawns for its side; None: it said none.
    """

    turn: Turn
    clock: float | None = None
    score: int | None = None


class GameClock:
    """Both sides' clocks, of which at most one runs. Times of day are seconds of one clock.

    left: milliseconds of White and of Black. A control with a time for each move has no clocks.
    """

    def __init__(self, control: TimeControl, left: dict[chess.Color, float] | None = None) -> None:
        self.timed = control.movetime is None
        self.running: chess.Color | None = None
        """The side whose clock runs."""
        self._increment = control.increment
        self._left = dict(left or dict.fromkeys(chess.COLORS, float(control.base)))
        self._since = 0.0

    def start(self, color: chess.Color, now: float) -> None:
        """Let a side's clock run, if there are clocks. The other one must stand."""
        if self.timed:
            self.running, self._since = color, now

    def stop(self, now: float) -> None:
        """Let both clocks stand."""
        if self.running is not None:
            self._left[self.running] = self.left(self.running, now)
            self.running = None

    def add_increment(self, color: chess.Color) -> None:
        """Add to a clock what its side gains by a move."""
        self._left[color] += self._increment

    def left(self, color: chess.Color, now: float) -> float:
        """Return the milliseconds that a side has left; below 0 its time is over."""
        gone = (now - self._since) * MILLISECONDS if self.running == color else 0.0
        return self._left[color] - gone

    def flag_in(self, now: float) -> float | None:
        """Return the seconds until the time of the running side is over; None: no clock runs."""
        if self.running is None:
            return None
        return max(0.0, self.left(self.running, now)) / MILLISECONDS

    def shown(self, now: float) -> dict[chess.Color, int]:
        """Return what both clocks show, in ms."""
        return {color: max(0, round(self.left(color, now))) for color in chess.COLORS}

    def words(self, now: float) -> tuple[int, int, int, int]:
        """Return White's and Black's time and increment in ms, as `go` states them."""
        white, black = (max(1, int(self.left(color, now))) for color in (chess.WHITE, chess.BLACK))
        return white, black, self._increment, self._increment


class HostedGame:
    """The state of one game. `version` grows with every change.

    plies: of a game that is taken up again. left: both clocks' milliseconds then.
    """

    def __init__(
        self,
        game_id: str,
        setup: GameSetup,
        *,
        plies: Sequence[HostedPly] = (),
        left: dict[chess.Color, float] | None = None,
        result: GameResult | None = None,
        version: int = 1,
    ) -> None:
        self.id = game_id
        self.setup = setup
        self.version = version
        self.plies: list[HostedPly] = []
        self.saved = len(plies)
        """How many of the plies are in the file; `GameStore.save` raises it."""
        self.note: str | None = None
        """The last remark for the player."""
        self.result = result
        self.clock = GameClock(setup.control, left)
        self._ready = False
        self._offered_at = -1  # the ply of the last offer of a draw
        self._since = 0.0  # when the turn began
        self._turn_number = 0
        self._scores = ScoreHistory()
        self._replay(plies)
        for ply in plies:
            self._scores.add(ply.score)

    def _replay(self, plies: Sequence[HostedPly]) -> None:
        """Set all up for the start of the game, and make these moves."""
        self.board = self.setup.board()
        self.plies.clear()
        human = self.setup.human
        self.notes = None if human is None else PlayerNotes(human, self.board.copy())
        self._told = {color: Account(self.board, color) for color in self.setup.engines}
        for ply in plies:
            self._push(ply)

    def _push(self, ply: HostedPly) -> None:
        """Make a legal move on the board, and tell each side of it."""
        self.board.push(chess.Move.from_uci(ply.turn.uci))
        self.plies.append(ply)
        if self.notes is not None:
            self.notes.take(last_ply(self.board, self.notes.side))
        for told in self._told.values():
            told.append(self.board)

    # -- how it stands ----------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """Where the game stands."""
        if self.result is not None:
            return Status.OVER
        return Status.PLAYING if self._ready else Status.PREPARING

    @property
    def turn(self) -> chess.Color:
        """The side to move."""
        return self.board.turn

    @property
    def human_turn(self) -> bool:
        """Whether the person is to move in a game that goes on."""
        return self.result is None and self.turn == self.setup.human

    @property
    def due(self) -> int | None:
        """The number of the turn in which an engine has to choose now; None: none has to."""
        waits = self.status == Status.PLAYING and self.turn != self.setup.human
        return self._turn_number if waits else None

    @property
    def can_take_back(self) -> bool:
        """Whether the person may take back a move now."""
        return self.setup.takebacks and self.result is None and self._kept_plies() is not None

    @property
    def draw_offered(self) -> bool:
        """Whether the person has offered a draw since the last move."""
        return self._offered_at == len(self.plies)

    def think(self) -> Think | None:
        """Return the request for the engine's move that is due; None: none is.

        Its number belongs to this turn; `chosen` takes it back.
        """
        number, color = self.due, self.turn
        if number is None:
            return None
        king = self.board.king(not color)
        moves = sorted(
            self.board.legal_moves, key=lambda move: (move.to_square != king, move.uci())
        )
        clocks, movetime = None, self.setup.control.movetime
        if self.clock.running is not None:
            clocks = self.clock.words(self._since)
        elif movetime is None:
            movetime = min(FIRST_MOVE_MS, self.setup.control.base // FIRST_MOVE_SHARE)
        return Think(
            number=number,
            position=account_position(self._told[color]),
            moves=tuple(move.uci() for move in moves),
            side=color,
            clocks=clocks,
            movetime=movetime,
            since=self._since,
        )

    # -- what happens -----------------------------------------------------------------------

    def ready(self, now: float) -> None:
        """The engines are ready: the game begins, or goes on."""
        if self.result is None and not self._ready:
            self._ready = True
            self._begin_turn(now)

    def unready(self, now: float) -> None:
        """The engines are not there when they are needed: the game and its clocks stand."""
        if self.result is None and self._ready:
            self._ready = False
            self.clock.stop(now)
            self.version += 1

    def move(self, uci: str, ply: int, now: float) -> None:
        """The person moves. ply: how many plies they know of. Raises RefusedMove."""
        self._check_goes_on(now)
        if ply != len(self.plies) or not self.human_turn:
            raise RefusedMove("it is not your turn")
        assert self.notes is not None
        if uci not in self.notes.moves():
            raise RefusedMove("this move is not legal")
        self.note = None
        self._make(uci, now)

    def chosen(self, number: int, choice: PlayResult, now: float) -> None:
        """An engine has chosen; an answer to a question of another turn changes nothing."""
        if number == self.due and not self._is_late(now):
            self._scores.add(choice.score)
            self._make(choice.move, now, choice.score, choice.report)

    def resign(self, now: float) -> None:
        """The person gives up. Raises RefusedMove."""
        human = self._check_goes_on(now)
        self._finish(GameResult(not human, f"{chess.COLOR_NAMES[human]} resigned"), now)

    def offer_draw(self, now: float) -> None:
        """The person offers a draw; the engine answers at once. Raises RefusedMove."""
        self._check_goes_on(now)
        if self.draw_offered:
            raise RefusedMove("you have offered a draw; the next one may come after a move")
        self._offered_at = len(self.plies)
        if self._scores.accepts_draw(len(self.plies)):
            self._finish(GameResult(None, "draw agreed"), now)
        else:
            self.remark("the engine declines the draw")

    def take_back(self, now: float) -> None:
        """Undo the person's last move, and the engine's answer to it. Raises RefusedMove.

        The clocks keep what they show.
        """
        self._check_goes_on(now)
        if not self.setup.takebacks:
            raise RefusedMove("this game was started without takebacks")
        kept = self._kept_plies()
        if kept is None:
            raise RefusedMove("you have made no move yet")
        self._replay(self.plies[:kept])
        self.saved = min(self.saved, kept)
        self._scores.clear()
        self._offered_at = -1
        self.note = "you took your last move back"
        self._begin_turn(now)

    def abort(self, now: float) -> None:
        """The person leaves a game that has not begun. Raises RefusedMove."""
        self._check_goes_on(now)
        if len(self.plies) >= FIRST_CLOCK_PLIES:
            raise RefusedMove("both sides have moved; you can resign")
        self._finish(GameResult(None, "aborted", scored=False), now)

    def tick(self, now: float) -> None:
        """Look at the clocks; a side whose time is over loses."""
        self._is_late(now)

    def remark(self, text: str) -> None:
        """Tell the player something."""
        self.note = text
        self.version += 1

    def set_rematch(self, game_id: str) -> None:
        """Name the game that follows this one."""
        assert self.result is not None
        self.result = replace(self.result, rematch=game_id)
        self.version += 1

    # -- inside -----------------------------------------------------------------------------

    def _check_goes_on(self, now: float) -> chess.Color:
        """Return the person's side. Raises RefusedMove if they can do nothing any more."""
        if self.setup.human is None:
            raise RefusedMove("two engines play this game")
        if self.result is not None or self._is_late(now):
            raise RefusedMove("the game is over")
        return self.setup.human

    def _is_late(self, now: float) -> bool:
        """End the game if the time of the running side is over; return whether it is."""
        color = self.clock.running
        if color is None or self.clock.left(color, now) > 0:
            return False
        self._finish(GameResult(not color, f"{chess.COLOR_NAMES[color]} lost on time"), now)
        return True

    def _kept_plies(self) -> int | None:
        """Return how many plies a takeback leaves; None if the person has made no move."""
        first = int(self.board.root().turn != self.setup.human)
        made = range(first, len(self.plies), 2)
        return made[-1] if made else None

    def _begin_turn(self, now: float) -> None:
        """The side to move has its turn from now on."""
        self.clock.stop(now)
        self._turn_number += 1
        self._since = now
        if self._ready and len(self.plies) >= FIRST_CLOCK_PLIES:
            self.clock.start(self.turn, now)
        self.version += 1

    def _make(
        self, uci: str, now: float, score: int | None = None, report: Report | None = None
    ) -> None:
        """Make a legal move of the side to move."""
        mover = self.turn
        counted = self.clock.running is not None
        self.clock.stop(now)
        if counted:
            self.clock.add_increment(mover)
        left = self.clock.left(mover, now) if self.clock.timed else None
        turn = Turn(uci, max(0.0, now - self._since) if self._ready else 0.0, report)
        self._push(HostedPly(turn, left, score))
        outcome = self.board.outcome()
        if outcome is None:
            self._begin_turn(now)
        else:
            self._finish(GameResult(outcome.winner, ending_words(self.board, outcome)), now)

    def _finish(self, result: GameResult, now: float) -> None:
        self.clock.stop(now)
        self._turn_number += 1
        self.result = result
        self.note = None
        self.version += 1
