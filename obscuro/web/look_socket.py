"""The WebSocket of those who look at a game: its document goes out, and what is added to it."""

from __future__ import annotations

import asyncio
import contextlib

from starlette.websockets import WebSocket, WebSocketDisconnect

from obscuro.web.look_desk import LookDesk
from obscuro.web.play_socket import LOST, TOO_BUSY, UNKNOWN_GAME, first_of, refuse_socket
from obscuro.web.visitors import visitor_of
from obscuro.web.watchers import Watcher
from obscuro.web.web_context import WebContext
from obscuro.web.web_error import CONFLICT, NOT_FOUND, WebError


async def look_socket(websocket: WebSocket, context: WebContext, desk: LookDesk) -> None:
    """Serve one browser that looks at a game until it leaves."""
    await websocket.accept()
    if context.sockets >= context.limits.sockets:
        await refuse_socket(websocket, TOO_BUSY, "the server is full; try later")
        return
    context.sockets += 1
    try:
        await _serve(websocket, context, desk)
    finally:
        context.sockets -= 1


async def _serve(websocket: WebSocket, context: WebContext, desk: LookDesk) -> None:
    try:
        room = desk.room(websocket.path_params["game"], visitor_of(websocket))
    except WebError as error:
        final = error.status in (NOT_FOUND, CONFLICT)
        await refuse_socket(websocket, UNKNOWN_GAME if final else TOO_BUSY, str(error))
        return
    watcher = room.attach()
    try:
        await first_of(
            _send(websocket, watcher, context.limits.send_seconds),
            _wait_for_end(websocket, context.limits.strikes),
        )
    finally:
        room.detach(watcher)


async def _send(websocket: WebSocket, watcher: Watcher, seconds: float) -> None:
    """Send what comes; give a browser up that doesn't take it."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        while (text := await watcher.next()) is not None:
            async with asyncio.timeout(seconds):
                await websocket.send_text(text)
        await websocket.close(LOST)


async def _wait_for_end(websocket: WebSocket, most: int) -> None:
    """Wait until the browser leaves. It has nothing to say; one that talks all the same must go."""
    for _ in range(most):
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
