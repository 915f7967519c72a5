"""The HTTP service that a Mistboard server asks for moves, on this machine only.

A turn brings all that our side observed, so any engine can answer it. What is kept of a session
saves work: its engine, which holds a search tree, and the last answer, should the turn come again.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import logging
import re
import secrets
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import chess
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from obscuro import __version__
from obscuro.bots.mistboard.engine_messages import (
    PROTOCOL,
    MessageError,
    ObservationPush,
    TurnDetails,
    TurnRequest,
    WireMove,
    read_details,
    read_json,
    read_push,
    read_sighting,
    read_turn,
)
from obscuro.bots.mistboard.seat_account import SeatAccount
from obscuro.client.engine import Mover, PlayResult, Think
from obscuro.client.engine_pool import MoverPool

HOST = "127.0.0.1"
MOST_BYTES = 4_000_000
"""Of a request. A transcript has some 2 kB for each ply."""
SILENCE_SECONDS = 60
"""A connection that is silent for this time is closed."""
RESERVATION_SECONDS = 1800.0
"""A reservation that no turn has used for this time is free again."""
UNTIMED_MILLISECONDS = 1000
"""For a move in a game without a clock, if the server names no time."""
SAFETY_MILLISECONDS = 300
"""The answer is on its way this time before the server gives up waiting."""
_ENGINE = "/internal/engine"

Json = dict[str, Any]
Answer = tuple[int, Json]

logger = logging.getLogger("obscuro.bots.mistboard")


class SeatsBusyError(Exception):
    """All engines are thinking, and none became free in time."""


@dataclass(slots=True)
class EngineSeat:
    """The engine of a session, and what is known of its game.

    account: None until a message has told it. answered: the last turn's position command, our move,
    and what the engine said.
    """

    mover: Mover
    account: SeatAccount | None = None
    answered: tuple[str, WireMove, PlayResult] | None = None


class EngineSeats:
    """Gives each session an engine. A new session takes the one that was used longest ago.

    Only the thread of the event loop may call it. most: how many engines there are.
    """

    def __init__(self, movers: MoverPool, most: int) -> None:
        self._movers = movers
        self._most = most
        self._idle: OrderedDict[str, EngineSeat] = OrderedDict()  # the longest unused first
        self._thinking: set[str] = set()
        self._freed = asyncio.Event()  # set, and replaced, when a seat becomes idle

    @contextlib.asynccontextmanager
    async def seat(self, session: str, patience: float) -> AsyncIterator[EngineSeat]:
        """Yield the seat of a session, a new one if the session is new.

        patience: the most seconds to wait for it. Raises SeatsBusyError.
        """
        try:
            async with asyncio.timeout(patience):
                while (seat := self._claimed(session)) is None:
                    await self._freed.wait()
        except TimeoutError:
            raise SeatsBusyError("all engines are busy") from None
        try:
            yield seat
        finally:
            self._thinking.remove(session)
            self._idle[session] = seat
            self._freed.set()
            self._freed = asyncio.Event()

    def is_idle(self, session: str) -> bool:
        """Tell whether a session has an engine that is not thinking."""
        return session in self._idle

    def retire(self, session: str) -> None:
        """Let the next new session take the engine of a game that is over."""
        if session in self._idle:
            self._idle.move_to_end(session, last=False)

    def _claimed(self, session: str) -> EngineSeat | None:
        if session in self._thinking:
            return None
        seat = self._idle.pop(session, None)
        if seat is None and len(self._idle) + len(self._thinking) < self._most:
            seat = EngineSeat(self._movers.take())
        if seat is None and self._idle:
            seat = EngineSeat(self._idle.popitem(last=False)[1].mover)
        if seat is not None:
            self._thinking.add(session)
        return seat


class EngineRoutes:
    """The routes of the protocol: turns, observations, reservations and capacity.

    token: what requests must bear. movers: the engines. games: played at the same time. clock:
    seconds since the epoch, since the server is told when a reservation ends.
    """

    def __init__(
        self, token: str, movers: MoverPool, games: int, clock: Callable[[], float] = time.time
    ) -> None:
        self._token = token.encode()
        self._games = games
        self._clock = clock
        self._seats = EngineSeats(movers, games)
        self._reserved: dict[str, float] = {}  # until which second
        self._threads = ThreadPoolExecutor(games, "engine")
        self.app = Starlette(
            routes=[
                Route("/health", _health),
                self._route("GET", "capacity", self._capacity),
                self._route("POST", "reservations", self._reserve),
                self._route("POST", "reservations/{number}/release", self._release),
                self._route("POST", "turn", self._turn),
                self._route("POST", "observe", self._observe),
            ],
            exception_handlers={404: _not_found, 405: _not_found},
        )

    def close(self) -> None:
        """Start no more searches."""
        self._threads.shutdown(wait=False)

    def _route(
        self, method: str, path: str, answer: Callable[[Request, bytes], Awaitable[Answer]]
    ) -> Route:
        """Return a route whose requests bear the token, and whose faults are answers."""

        async def endpoint(request: Request) -> Response:
            bears = request.headers.get("authorization", "").encode("utf-8", "replace")
            if not hmac.compare_digest(bears, b"Bearer " + self._token):
                return JSONResponse({"error": "unauthorized"}, 401)
            length = request.headers.get("content-length", "0" if method == "GET" else "")
            if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > MOST_BYTES:
                close = {"Connection": "close"}
                error = f"a body of {length or 'unknown'} bytes"
                return JSONResponse({"error": error}, 413, close)
            try:
                async with asyncio.timeout(SILENCE_SECONDS):
                    body = await request.body()
            except (ClientDisconnect, TimeoutError):
                return JSONResponse({"error": "the body did not come"}, 408)
            try:
                status, content = await answer(request, body)
            except MessageError as error:
                logger.warning("%s: %s", request.url.path, error)
                status, content = 400, {"error": str(error)}
            except SeatsBusyError as error:
                logger.warning("%s: %s", request.url.path, error)
                status, content = 503, {"error": str(error)}
            except Exception:
                logger.exception("%s failed", request.url.path)
                status, content = 500, {"error": "internal_error"}
            return JSONResponse(content, status)

        return Route(f"{_ENGINE}/{path}", endpoint, methods=[method])

    # -- reservations -----------------------------------------------------------------------

    def _taken(self) -> Json:
        now = self._clock()
        self._reserved = {name: end for name, end in self._reserved.items() if end > now}
        return {"activeSeats": len(self._reserved), "maxSeats": self._games}

    async def _capacity(self, request: Request, body: bytes) -> Answer:
        return 200, self._taken()

    async def _reserve(self, request: Request, body: bytes) -> Answer:
        wanted = read_json(body)
        engine = wanted.get("engineId")
        if not isinstance(engine, str) or wanted.get("color") not in ("white", "black"):
            raise MessageError("a reservation needs engineId and color")
        if self._taken()["activeSeats"] >= self._games:
            return 429, {"error": "engine_capacity_full", "capacity": self._taken()}
        number, until = secrets.token_hex(12), self._clock() + RESERVATION_SECONDS
        self._reserved[number] = until
        content = {"reservationId": number, "engineId": engine, "expiresAt": round(until * 1000)}
        return 201, content | {"capacity": self._taken()}

    async def _release(self, request: Request, body: bytes) -> Answer:
        self._reserved.pop(request.path_params["number"], None)
        return 200, {"ok": True}

    # -- turns ------------------------------------------------------------------------------

    async def _turn(self, request: Request, body: bytes) -> Answer:
        number = request.headers.get("x-mistboard-engine-reservation-id")
        if number in self._reserved:
            self._reserved[number] = self._clock() + RESERVATION_SECONDS
        budget = _milliseconds(request, "x-mistboard-engine-compute-budget-ms")
        deadline = _milliseconds(request, "x-mistboard-engine-timeout-ms")
        return 200, await self.answer(read_turn(read_json(body)), budget, deadline)

    async def answer(
        self, request: TurnRequest, budget: int | None = None, deadline: int | None = None
    ) -> Json:
        """Choose a move and return the answer.

        budget: how long to think at most, in ms. deadline: when the server gives up, in ms. If the
        account can't be followed, the answer is any legal move, the king's capture if it is seen.
        Raises SeatsBusyError.
        """
        since = time.monotonic()
        limits = [] if budget is None else [budget]
        limits += [] if deadline is None else [deadline - SAFETY_MILLISECONDS]
        limit = max(1, min(limits)) if limits else None
        patience = UNTIMED_MILLISECONDS if limit is None else limit
        async with self._seats.seat(request.session, patience / 1000) as seat:
            try:
                details = read_details(request)
                seat.account = _followed(seat, request, details)
            except MessageError as error:
                logger.error("game %s: %s; making any move", request.game, error)
                seat.account, seat.answered = None, None
                return _reply(request, _any_move(request), {"fault": str(error)})
            position = seat.account.position()
            again = seat.answered is not None and seat.answered[0] == position
            if seat.answered is None or not (again and seat.answered[1] in request.moves):
                think, moves = _question(request, details, seat.account, limit, since)
                choice = await self._choice(seat.mover, request.session, think, limit)
                seat.answered = position, moves[choice.move], choice
            _, move, choice = seat.answered
            return _reply(request, move, {} if choice.score is None else {"scoreCp": choice.score})

    async def _choice(
        self, mover: Mover, session: str, think: Think, limit: int | None
    ) -> PlayResult:
        """Let the engine think, in a thread; end its search after the limit, in ms."""
        cancel = threading.Event()

        def end() -> None:
            cancel.set()
            mover.stop()

        loop = asyncio.get_running_loop()
        gone = time.monotonic() - think.since
        timer = None if limit is None else loop.call_later(max(0.0, limit / 1000 - gone), end)
        try:
            return await loop.run_in_executor(self._threads, mover.choose, session, think, cancel)
        except asyncio.CancelledError:  # the service is leaving
            end()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def _observe(self, request: Request, body: bytes) -> Answer:
        return 200, await self.observe(read_push(read_json(body)))

    async def observe(self, push: ObservationPush) -> Json:
        """Take what our side sees after its own move, and return the answer.

        An engine that ponders then thinks on. The same comes again with the next turn.
        """
        if self._seats.is_idle(push.session):
            async with self._seats.seat(push.session, 1.0) as seat:
                if seat.account is not None:
                    try:
                        seat.account.add(push.sighting)
                        seat.mover.watch(push.session, seat.account.position())
                    except MessageError as error:
                        logger.debug("game %s: a push is passed over: %s", push.game, error)
        if push.sighting.over:
            self._seats.retire(push.session)
        return _echo(push.game, push.session) | {"received": True}


class EngineService:
    """Listens from the start on, and answers within a `with` statement.

    port: 0 for any. token: what requests must bear. movers: the engines. games: played at the same
    time. Raises OSError if the port is taken.
    """

    def __init__(self, port: int, token: str, movers: MoverPool, games: int) -> None:
        self._socket = socket.create_server((HOST, port))
        self._routes = EngineRoutes(token, movers, games)
        config = uvicorn.Config(
            self._routes.app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",  # the routes say what goes wrong
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=SILENCE_SECONDS,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._serve, name="mistboard", daemon=True)

    def _serve(self) -> None:
        self._server.run(sockets=[self._socket])

    @property
    def url(self) -> str:
        """The address that the server is given."""
        return f"http://{HOST}:{self._socket.getsockname()[1]}"

    def __enter__(self) -> EngineService:
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening; break searches off."""
        self._server.should_exit = True
        self._thread.join()
        self._routes.close()
        self._socket.close()


async def _health(request: Request) -> Response:
    return JSONResponse({"ok": True})


async def _not_found(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "not_found"}, 404)


def _milliseconds(request: Request, name: str) -> int | None:
    """Return a header's number; None if there is none."""
    text = request.headers.get(name, "")
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


# -- what our side knows at a turn --------------------------------------------------------------


def _followed(seat: EngineSeat, request: TurnRequest, details: TurnDetails) -> SeatAccount:
    """Return our side's account up to this turn. Raises MessageError if it can't be had."""
    if request.transcript is not None:
        sightings = [read_sighting(told) for told in request.transcript]
        account = SeatAccount.of(details.side, sightings)
    elif request.latest is not None:
        account = _continued(seat, request, details)
    else:
        raise MessageError("there is neither observationTranscript nor latestObservationDelta")
    if account.side != details.side or account.ply != details.ply or not account.our_turn:
        raise MessageError(f"the observations end at ply {account.ply}, the turn is {details.ply}")
    account.correct_en_passant(request.moves)
    return account


def _continued(seat: EngineSeat, request: TurnRequest, details: TurnDetails) -> SeatAccount:
    """Return the seat's account with the latest observation added."""
    sighting, account = read_sighting(request.latest), seat.account
    if sighting.ply == 0:
        return SeatAccount.of(details.side, [sighting])
    if account is None and sighting.ply == 1:  # Black's first turn
        account = SeatAccount(details.side)
    if account is None:
        raise MessageError("the first request of a game must have the observationTranscript")
    if sighting.ply == account.ply:
        return account  # the request comes again
    if sighting.ply == account.ply + 2 and account.our_turn and seat.answered is not None:
        account.add_untold(seat.answered[1])
    account.add(sighting)
    return account


def _question(
    request: TurnRequest,
    details: TurnDetails,
    account: SeatAccount,
    limit: int | None,
    since: float,
) -> tuple[Think, dict[str, WireMove]]:
    """Return the question for the engine, and the legal moves by their UCI text.

    The other side's clock is not told, so the engine takes it for its own.
    """
    moves = {move.uci(account.seen): move for move in reversed(request.moves)}
    king = account.seen.board().king(not account.side)
    clocks = None
    if details.remaining is not None:
        clocks = (details.remaining, details.remaining, details.increment, details.increment)
    think = Think(
        number=details.ply,
        position=account.position(),
        moves=tuple(sorted(moves, key=lambda uci: (moves[uci].to_square != king, uci))),
        side=details.side,
        clocks=clocks,
        movetime=UNTIMED_MILLISECONDS if limit is None else limit,
        since=since,
    )
    return think, moves


def _any_move(request: TurnRequest) -> WireMove:
    """Return a legal move: the king's capture if the last observation shows it, else the first."""
    kings = 0
    with contextlib.suppress(MessageError, IndexError):
        told = request.transcript
        last = read_sighting(request.latest if told is None else told[-1])
        kings = last.observation.boards[chess.KING - 1]  # no move of ours ends on our own king
    return next((move for move in request.moves if kings >> move.to_square & 1), request.moves[0])


def _echo(game: str, session: str) -> Json:
    return {"protocolVersion": PROTOCOL, "gameId": game, "sessionId": session}


def _reply(request: TurnRequest, move: WireMove, notes: Json) -> Json:
    diagnostics = {"engine": f"obscuro {__version__}"} | notes
    return _echo(request.game, request.session) | {"move": move.json(), "diagnostics": diagnostics}
