"""What the routes of players and of viewers share: visitors, bodies, answers, and sockets."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from obscuro.engine.strength import Level
from obscuro.web.static_table import StaticFile, StaticTable
from obscuro.web.web_limits import (
    BAD_REQUEST,
    NOT_FOUND,
    TOO_LARGE,
    TOO_MANY,
    BucketTable,
    WebError,
    WebLimits,
    address_key,
)

COOKIE = "obscuro_visitor"
UNKNOWN_GAME, TOO_BUSY, TOO_MANY_FAULTS, LOST = 4404, 4429, 4400, 1011
"""Codes with which a socket is closed. LOST: the game could not be saved."""

FULL = "the server has no free connection for you; this page tries again"

_YEAR = 365 * 24 * 3600
_SIGNATURE = 32
"""Letters."""
_LONGEST_FAULT = 200

_Wish = TypeVar("_Wish")


class WebContext:
    """The files, the limits, how far the limits are used up, and who the visitors are.

    root: what all paths begin with, such as `/fog`; empty for none. secret: signs the cookies.
    """

    def __init__(
        self,
        levels: Sequence[Level],
        limits: WebLimits,
        clock: Callable[[], float],
        secret: bytes,
        root: str = "",
    ) -> None:
        self.statics = StaticTable(root)
        self.levels = levels
        self.limits = limits
        self.clock = clock
        self.root = root
        self.sockets = SocketPlaces(limits.sockets, limits.address_sockets)
        self._secret = secret
        self._posts = BucketTable(limits.post_burst, limits.post_rate, clock)

    async def read_post(self, request: Request, most: int) -> bytes:
        """Count a request that changes something, and return its body. Raises WebError."""
        if not self._posts.take(address_of(request)):
            raise WebError(TOO_MANY, "too many requests; wait a little")
        return await self.read_body(request, most)

    async def read_body(self, request: Request, most: int) -> bytes:
        """Return the body of a request. Raises WebError if it is too long, or comes too slowly."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                async for chunk in request.stream():
                    body += chunk
                    if len(body) > most:
                        raise WebError(TOO_LARGE, f"the most is {most} bytes")
        except TimeoutError:
            raise WebError(BAD_REQUEST, "the request came too slowly") from None
        except ClientDisconnect:
            raise WebError(BAD_REQUEST, "the request was broken off") from None
        return bytes(body)

    def page(self, request: Request, name: str) -> Response:
        """Return one of our pages."""
        return file_response(request, self.statics.pages[name])

    # -- visitors: a random key in a cookie that we have signed, of which we keep the hash --------

    def visitor_of(self, connection: HTTPConnection) -> str | None:
        """Return the hash of the visitor's key; None without a cookie of ours."""
        key, _, signature = connection.cookies.get(COOKIE, "").partition(".")
        if not signature.isascii() or not hmac.compare_digest(signature, self._signature(key)):
            return None
        return _hash(key)

    def create_for_visitor(self, request: Request, create: Callable[[str], object]) -> Response:
        """Answer with what `create` makes for the visitor's hash; a newcomer gets a cookie.

        Only answers to a request from one of our own pages set it: the browser leaves out a strict
        cookie where a link of another site leads here, and a new one would replace it.
        """
        visitor = self.visitor_of(request)
        if visitor is not None:
            return json_response(create(visitor), 201)
        key = secrets.token_hex(16)
        response = json_response(create(_hash(key)), 201)
        response.set_cookie(
            COOKIE,
            f"{key}.{self._signature(key)}",
            max_age=_YEAR,
            path=f"{self.root}/",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https://"),
        )
        return response

    def _signature(self, key: str) -> str:
        return hmac.new(self._secret, key.encode(), hashlib.sha256).hexdigest()[:_SIGNATURE]


def address_of(connection: HTTPConnection) -> str:
    """Return the key of the address that a connection comes from."""
    return "" if connection.client is None else address_key(connection.client.host)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


# -- texts ----------------------------------------------------------------------------------


def read_wish(text: bytes | str, form: type[_Wish]) -> _Wish:
    """Return what a browser's JSON text says, as a type for msgspec. Raises WebError."""
    try:
        return msgspec.json.decode(text, type=form)
    except (ValueError, RecursionError) as error:
        fault = " ".join(str(error).split())[:_LONGEST_FAULT]
        raise WebError(BAD_REQUEST, f"the request can't be read: {fault}") from None


def message_text(message: Mapping[str, object]) -> str:
    """Return a message as JSON."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)


def error_text(text: str) -> str:
    """Return the message that tells a browser of an error."""
    return message_text({"type": "error", "error": text})


def json_response(value: object, status: int = 200) -> Response:
    """Return an answer that no cache may keep."""
    return JSONResponse(value, status, {"Cache-Control": "no-store"})


def file_response(request: Request, file: StaticFile | None) -> Response:
    """Return a file, or 304 if the browser has it already. Raises WebError without a file."""
    if file is None:
        raise WebError(NOT_FOUND, "there is no such page")
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if file.policy is not None:
        headers["Content-Security-Policy"] = file.policy
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = file.media_type
    return Response(file.body, 200, headers)


# -- sockets --------------------------------------------------------------------------------


class SocketPlaces:
    """Who has sockets. Where all places are taken, the address with the most sockets loses its
    newest one to an address that has fewer.

    most: of all. share: the most of one address.
    """

    def __init__(self, most: int, share: int) -> None:
        self._most = most
        self._share = share
        self._lost: dict[str, list[asyncio.Event]] = {}

    @property
    def taken(self) -> int:
        """How many sockets there are."""
        return sum(map(len, self._lost.values()))

    def take(self, address: str) -> asyncio.Event | None:
        """Return an event that is set if the place is lost; None: there is no place."""
        mine = len(self._lost.get(address, ()))
        if mine >= self._share:
            return None
        if self.taken >= self._most:
            heaviest = max(self._lost, key=lambda each: len(self._lost[each]))
            if len(self._lost[heaviest]) <= mine + 1:
                return None
            self._lost[heaviest].pop().set()
        lost = asyncio.Event()
        self._lost.setdefault(address, []).append(lost)
        return lost

    def leave(self, address: str, lost: asyncio.Event) -> None:
        """Give a place back, if it was not lost."""
        if not lost.is_set():
            self._lost[address].remove(lost)
            if not self._lost[address]:
                del self._lost[address]


async def serve_socket(
    websocket: WebSocket, context: WebContext, serve: Callable[[], Coroutine[Any, Any, None]]
) -> None:
    """Accept a socket, and serve it while the server has a place for it."""
    await websocket.accept()
    address = address_of(websocket)
    lost = context.sockets.take(address)
    if lost is None:
        await refuse_socket(websocket, TOO_BUSY, FULL)
        return
    try:
        await first_of(serve(), _until(lost))
    finally:
        context.sockets.leave(address, lost)
    if lost.is_set():
        await refuse_socket(websocket, TOO_BUSY, FULL)


async def _until(event: asyncio.Event) -> None:
    await event.wait()


async def refuse_socket(websocket: WebSocket, code: int, text: str) -> None:
    """Tell a browser why it gets nothing, and close its socket."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await websocket.send_text(error_text(text))
        await websocket.close(code)


async def send_all(
    websocket: WebSocket, next_text: Callable[[], Awaitable[str | None]], seconds: float
) -> None:
    """Send each text until there is None; give up a browser that takes longer than `seconds`."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        while (text := await next_text()) is not None:
            async with asyncio.timeout(seconds):
                await websocket.send_text(text)
        await websocket.close(LOST)


async def first_of(*works: Coroutine[Any, Any, None]) -> None:
    """Do several works at once until the first has ended; the others are cancelled.

    Raises the first one's error.
    """
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()
