"""The WebSocket of a player: states of the game go out, the player's wishes come in."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from obscuro.web.game_database import StoreError
from obscuro.web.game_room import GameRoom
from obscuro.web.hosted_game import RefusedMove
from obscuro.web.mailbox import Mailbox
from obscuro.web.token_bucket import TokenBucket
from obscuro.web.visitors import visitor_of
from obscuro.web.web_context import WebContext, read_json
from obscuro.web.web_error import BAD_REQUEST, NOT_FOUND, TOO_MANY, WebError

UNKNOWN_GAME, TOO_BUSY, NO_MANNERS, LOST = 4404, 4429, 4400, 1011
"""Codes with which a socket is closed. LOST: the game could not be saved."""

_PLAIN = {"resign", "draw", "takeback", "rematch", "abort"}


@dataclass(frozen=True, slots=True)
class PlayerWish:
    """A message of a player. uci, ply: of a move."""

    kind: str
    uci: str = ""
    ply: int = -1


def read_wish(text: str) -> PlayerWish:
    """Read a message of a player. Raises WebError."""
    data = read_json(text)
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(kind, str):
        raise WebError(BAD_REQUEST, "a message is a JSON object with a type")
    if kind in _PLAIN and data.keys() == {"type"}:
        return PlayerWish(kind)
    if kind == "move" and data.keys() == {"type", "uci", "ply"}:
        uci, ply = data["uci"], data["ply"]
        if isinstance(uci, str) and type(ply) is int and len(uci) <= 5:
            return PlayerWish(kind, uci, ply)
    raise WebError(BAD_REQUEST, "there is no such message")


async def play_socket(websocket: WebSocket, context: WebContext) -> None:
    """Serve one browser of a player until it leaves."""
    await websocket.accept()
    if context.sockets >= context.limits.sockets:
        await refuse_socket(websocket, TOO_BUSY, "the server is full; try later")
        return
    context.sockets += 1
    try:
        await _serve(websocket, context)
    finally:
        context.sockets -= 1


async def refuse_socket(websocket: WebSocket, code: int, text: str) -> None:
    """Tell a browser why it gets nothing, and close its socket."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await websocket.send_text(_error(text))
        await websocket.close(code)


async def _serve(websocket: WebSocket, context: WebContext) -> None:
    lobby = context.lobby
    try:
        room = lobby.room(websocket.path_params["game"], visitor_of(websocket))
        if room.game.notes is None:
            raise WebError(NOT_FOUND, "two engines play this game; nobody can join it")
        if room.watchers >= context.limits.game_sockets:
            raise WebError(TOO_MANY, "this game is open in too many tabs")
    except WebError as error:
        code = UNKNOWN_GAME if error.status == NOT_FOUND else TOO_BUSY
        await refuse_socket(websocket, code, str(error))
        return
    box = room.attach()
    try:
        await first_of(
            _send(websocket, box, context.limits.send_seconds),
            _receive(websocket, room, box, context),
        )
    finally:
        room.detach(box)
        lobby.leave(room)


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


async def _send(websocket: WebSocket, box: Mailbox, seconds: float) -> None:
    """Send what comes into the mailbox; give a browser up that doesn't take it."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
        while (text := await box.next()) is not None:
            async with asyncio.timeout(seconds):
                await websocket.send_text(text)
        await websocket.close(LOST)


async def _receive(websocket: WebSocket, room: GameRoom, box: Mailbox, context: WebContext) -> None:
    """Carry out what the player wishes; too many bad messages in a row end the socket."""
    limits = context.limits
    bucket = TokenBucket(limits.message_burst, limits.message_rate, context.clock)
    strikes = 0
    while strikes < limits.strikes:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text = message.get("text")
        try:
            if not bucket.take():
                raise WebError(TOO_MANY, "too many messages; wait a little")
            if text is None:
                raise WebError(BAD_REQUEST, "a message is text")
            carry_out(read_wish(text), room, context)
            strikes = 0
        except RefusedMove as error:
            # The state follows, for a tab that does not know how the game stands.
            box.put_answer(_error(str(error)))
            room.show_again(box)
        except (WebError, StoreError) as error:
            strikes += 1
            box.put_answer(_error(str(error)))
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await websocket.close(NO_MANNERS)


def carry_out(wish: PlayerWish, room: GameRoom, context: WebContext) -> None:
    """Do what a player wishes. Raises RefusedMove, WebError, StoreError."""
    game = room.game
    match wish.kind:
        case "move":
            room.change(lambda now: game.move(wish.uci, wish.ply, now))
        case "resign":
            room.change(game.resign)
        case "draw":
            room.change(game.offer_draw)
        case "takeback":
            room.change(game.take_back)
        case "abort":
            room.change(game.abort)
        case _:
            context.lobby.rematch(room)


def _error(text: str) -> str:
    return json.dumps({"type": "error", "error": text})
