"""What the routes of the web server share."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from obscuro.engine.strength import Level
from obscuro.web.game_lobby import GameLobby
from obscuro.web.static_table import StaticFile, StaticTable
from obscuro.web.token_bucket import BucketTable, TokenBucket
from obscuro.web.web_error import BAD_REQUEST, NOT_FOUND, TOO_LARGE, TOO_MANY, WebError
from obscuro.web.web_limits import WebLimits


@dataclass
class WebContext:
    """The games, the files, the limits and how far they are used up.

    posts: of each visitor, by the hash. created: new games of all visitors. sockets: that are open.
    """

    lobby: GameLobby
    statics: StaticTable
    levels: Sequence[Level]
    limits: WebLimits
    clock: Callable[[], float]
    chance: random.Random = field(default_factory=random.SystemRandom)
    sockets: int = 0

    def __post_init__(self) -> None:
        """Make the counters."""
        limits = self.limits
        self.posts = BucketTable(limits.post_burst, limits.post_rate, self.clock)
        self.created = TokenBucket(limits.created_burst, limits.created_rate, self.clock)

    def check_post(self, visitor: str | None) -> None:
        """Count a request that changes something. Raises WebError if there were too many."""
        if visitor is not None and not self.posts.take(visitor):
            raise WebError(TOO_MANY, "too many requests; wait a little")

    def check_creation(self) -> None:
        """Count a new game. Raises WebError if there were too many."""
        if not self.created.take():
            raise WebError(TOO_MANY, "too many new games; wait a little")

    def page(self, request: Request, name: str, status: int = 200) -> Response:
        """Return one of our pages. Raises WebError if there is none of this name."""
        page = self.statics.pages.get(name)
        if page is None:
            raise WebError(NOT_FOUND, "there is no such page")
        return file_response(request, page, status)


def file_response(request: Request, file: StaticFile, status: int = 200) -> Response:
    """Return a file, or the word that the browser has it already."""
    headers = {"ETag": file.tag, "Cache-Control": "no-cache"}
    if file.policy is not None:
        headers["Content-Security-Policy"] = file.policy
    if status == 200 and request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    headers["Content-Type"] = file.media_type
    return Response(file.body, status, headers)


def json_response(value: object, status: int = 200) -> Response:
    """Return an answer that no cache may keep."""
    return JSONResponse(value, status, {"Cache-Control": "no-store"})


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return the body of a request. Raises WebError if it is too long, or comes too slowly."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise WebError(TOO_LARGE, f"the most is {most} bytes")
    except TimeoutError:
        raise WebError(BAD_REQUEST, "the request came too slowly") from None
    return bytes(body)


def read_json(text: bytes | str) -> object:
    """Return what a JSON text says. Raises WebError."""
    try:
        value: object = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise WebError(BAD_REQUEST, "this is no JSON") from None
    return value


def _no_constant(name: str) -> object:
    raise ValueError(name)
