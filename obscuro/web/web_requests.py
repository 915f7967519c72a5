"""What the routes of players and of viewers share: visitors, bodies, answers, and sockets."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.requests import HTTPConnection, Request
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
    TokenBucket,
    WebError,
    WebLimits,
)

COOKIE = "obscuro_visitor"
UNKNOWN_GAME, TOO_BUSY, TOO_MANY_FAULTS, LOST = 4404, 4429, 4400, 1011
"""Codes with which a socket is closed. LOST: the game could not be saved."""

_YEAR = 365 * 24 * 3600
_KEY = re.compile(r"[0-9a-f]{32}")
_LONGEST_FAULT = 200

_Wish = TypeVar("_Wish")


class WebContext:
    """The files, the limits, and how far the limits are used up."""

    def __init__(
        self, levels: Sequence[Level], limits: WebLimits, clock: Callable[[], float]
    ) -> None:
        self.statics = StaticTable()
        self.levels = levels
        self.limits = limits
        self.clock = clock
        self.sockets = 0  # that are open
        self._posts = BucketTable(limits.post_burst, limits.post_rate, clock)
        self._created = TokenBucket(limits.created_burst, limits.created_rate, clock)

    async def read_post(self, request: Request, most: int) -> bytes:
        """Count a request that changes something, and return its body. Raises WebError."""
        visitor = visitor_of(request)
        if visitor is not None and not self._posts.take(visitor):
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
        return bytes(body)

    def check_creation(self) -> None:
        """Count a new game. Raises WebError if there were too many."""
        if not self._created.take():
            raise WebError(TOO_MANY, "too many new games; wait a little")

    def page(self, request: Request, name: str) -> Response:
        """Return one of our pages."""
        return file_response(request, self.statics.pages[name])


# -- visitors: a random cookie, of which the server keeps the hash ---------------------------


def visitor_of(connection: HTTPConnection) -> str | None:
    """Return the hash of the visitor's cookie; None without a cookie of ours."""
    key = connection.cookies.get(COOKIE, "")
    return _hash(key) if _KEY.fullmatch(key) else None


def create_for_visitor(request: Request, create: Callable[[str], object]) -> Response:
    """Answer with what `create` makes for the visitor's hash; a newcomer gets a cookie.

    Only answers to a request from one of our own pages set it: the browser leaves out a strict
    cookie where a link of another site leads here, and a new one would replace it.
    """
    visitor = visitor_of(request)
    if visitor is not None:
        return json_response(create(visitor), 201)
    key = secrets.token_hex(16)
    response = json_response(create(_hash(key)), 201)
    secure = request.headers.get("origin", "").startswith("https://")
    response.set_cookie(COOKIE, key, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return response


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


async def serve_socket(
    websocket: WebSocket, context: WebContext, serve: Callable[[], Awaitable[None]]
) -> None:
    """Accept a socket, and serve it if the server has room for one more."""
    await websocket.accept()
    if context.sockets >= context.limits.sockets:
        await refuse_socket(websocket, TOO_BUSY, "the server is full; try later")
        return
    context.sockets += 1
    try:
        await serve()
    finally:
        context.sockets -= 1


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
