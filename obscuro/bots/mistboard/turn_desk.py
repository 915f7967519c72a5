"""Answers turns: takes up what the server tells, lets the engine choose, and writes the answer."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import chess

from obscuro import __version__
from obscuro.bots.mistboard.engine_messages import (
    PROTOCOL,
    MessageError,
    ObservationPush,
    TurnRequest,
    WireMove,
    read_sighting,
)
from obscuro.bots.mistboard.seat_account import SeatAccount
from obscuro.bots.mistboard.seat_table import EngineSeat, SeatTable
from obscuro.client.engine import Mover, PlayResult, Think
from obscuro.rules.observation import Observation

UNTIMED_MILLISECONDS = 1000
"""For a move in a game without a clock, if the server names no time."""
SAFETY_MILLISECONDS = 300
"""The answer is on its way so much before the server gives up waiting."""

logger = logging.getLogger("obscuro.bots.mistboard")


class TurnDesk:
    """Answers the turns of all games. Any thread may call it.

    clock: seconds, the clock that `Think.since` is read from.
    """

    def __init__(self, seats: SeatTable, clock: Callable[[], float] = time.monotonic) -> None:
        self._seats = seats
        self._clock = clock

    def answer(
        self, request: TurnRequest, budget: int | None = None, deadline: int | None = None
    ) -> dict[str, Any]:
        """Choose a move and return the answer.

        budget: how long to think at most, in ms. deadline: when the server gives up, in ms. Where
        the account cannot be followed, the answer is any legal move, the king's capture if it is
        seen. Raises SeatsBusyError.
        """
        since = self._clock()
        limit = _least(budget, None if deadline is None else deadline - SAFETY_MILLISECONDS)
        patience = UNTIMED_MILLISECONDS if limit is None else limit
        with self._seats.seat(request.session, patience / 1000) as seat:
            try:
                account = _followed(seat, request)
            except MessageError as error:
                logger.error("game %s: %s; making any move", request.game, error)
                seat.account, seat.answered = None, None
                return _reply(request, _any_move(request), {"fault": str(error)})
            seat.account = account
            move, choice = self._chosen(seat, account, request, limit, since)
            seat.answered = account.position(), move, choice
        said = {} if choice.score is None else {"scoreCp": choice.score}
        return _reply(request, move, said)

    def observe(self, push: ObservationPush) -> dict[str, Any]:
        """Take what our side sees after its own move, and return the answer.

        An engine that ponders then thinks on. The same comes again with the next turn.
        """
        with self._seats.idle_seat(push.session) as seat:
            if seat is not None and seat.account is not None:
                try:
                    seat.account.add(push.sighting)
                    seat.mover.watch(push.session, seat.account.position())
                except MessageError as error:
                    logger.debug("game %s: a push is passed over: %s", push.game, error)
        if push.sighting.over:
            self._seats.drop(push.session)
        return _echo(push.game, push.session) | {"received": True}

    def _chosen(
        self,
        seat: EngineSeat,
        account: SeatAccount,
        request: TurnRequest,
        limit: int | None,
        since: float,
    ) -> tuple[WireMove, PlayResult]:
        """Return the engine's move, or the one that this very turn was answered with before."""
        position = account.position()
        if (
            seat.answered is not None
            and seat.answered[0] == position
            and seat.answered[1] in request.moves
        ):
            return seat.answered[1:]
        moves = {move.uci(account.seen): move for move in reversed(request.moves)}
        king = _enemy_king(account.side, account.seen)
        ordered = sorted(moves, key=lambda uci: (moves[uci].to_square != king, uci))
        think = Think(
            number=request.ply,
            position=position,
            moves=tuple(ordered),
            side=request.side,
            clocks=_clocks(request),
            movetime=UNTIMED_MILLISECONDS if limit is None else max(1, limit),
            since=since,
        )
        cancel = threading.Event()
        with _ended_in_time(seat.mover, cancel, limit, self._clock() - since):
            choice = seat.mover.choose(request.session, think, cancel)
        return moves[choice.move], choice


def _followed(seat: EngineSeat, request: TurnRequest) -> SeatAccount:
    """Return our side's account up to this turn. Raises MessageError if it cannot be had."""
    if request.transcript is not None:
        account = SeatAccount.of(request.side, [read_sighting(each) for each in request.transcript])
    elif request.latest is not None:
        account = _continued(seat, request)
    else:
        raise MessageError("there is neither observationTranscript nor latestObservationDelta")
    if account.side != request.side or account.ply != request.ply or not account.our_turn:
        raise MessageError(f"the observations end at ply {account.ply}, the turn is {request.ply}")
    account.correct_en_passant(request.moves)
    return account


def _continued(seat: EngineSeat, request: TurnRequest) -> SeatAccount:
    """Return the seat's account with the latest observation added."""
    sighting, account = read_sighting(request.latest), seat.account
    if sighting.ply == 0:
        return SeatAccount.of(request.side, [sighting])
    if account is None and sighting.ply == 1:  # Black's first turn
        account = SeatAccount(request.side)
    if account is None:
        raise MessageError("the first request of a game must have the observationTranscript")
    if sighting.ply == account.ply:
        return account  # the request comes again
    if sighting.ply == account.ply + 2 and account.our_turn and seat.answered is not None:
        account.add_untold(seat.answered[1])
    account.add(sighting)
    return account


def _any_move(request: TurnRequest) -> WireMove:
    """Return a legal move: the king's capture if the last observation shows it, else the first."""
    king = None
    with contextlib.suppress(MessageError):
        last = request.latest if request.transcript is None else (request.transcript or [None])[-1]
        king = _enemy_king(request.side, read_sighting(last).observation)
    return next((move for move in request.moves if move.to_square == king), request.moves[0])


def _enemy_king(side: chess.Color, seen: Observation) -> chess.Square | None:
    """Return where our side sees the other side's king; None if it does not."""
    return seen.board().king(not side)


def _clocks(request: TurnRequest) -> tuple[int, int, int, int] | None:
    """Return both clocks and increments, in ms. The other side's clock is not told: as ours."""
    if request.remaining is None:
        return None
    return (request.remaining, request.remaining, request.increment, request.increment)


@contextlib.contextmanager
def _ended_in_time(
    mover: Mover, cancel: threading.Event, limit: int | None, gone: float
) -> Iterator[None]:
    """Within this context, end a search that takes longer than the limit, in ms."""

    def end() -> None:
        cancel.set()
        mover.stop()

    if limit is None:
        yield
        return
    timer = threading.Timer(max(0.0, limit / 1000 - gone), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _least(*numbers: int | None) -> int | None:
    known = [number for number in numbers if number is not None]
    return max(1, min(known)) if known else None


def _echo(game: str, session: str) -> dict[str, Any]:
    return {"protocolVersion": PROTOCOL, "gameId": game, "sessionId": session}


def _reply(request: TurnRequest, move: WireMove, said: dict[str, Any]) -> dict[str, Any]:
    diagnostics = {"engine": f"obscuro {__version__}"} | said
    return _echo(request.game, request.session) | {"move": move.json(), "diagnostics": diagnostics}
