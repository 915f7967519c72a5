"""The pages, requests and sockets of players: games are started, listed, and played."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from obscuro.rules.stalemate import STALEMATES
from obscuro.web.data_folder import StoreError
from obscuro.web.play.game_lobby import GameLobby, is_game_id
from obscuro.web.play.game_room import GameRoom, Mailbox
from obscuro.web.play.game_setup import (
    LEAST_BASE,
    LEAST_MOVE,
    MOST_BASE,
    MOST_FEN,
    MOST_INCREMENT,
    MOST_MOVE,
    MOVE_PRESETS,
    TIME_PRESETS,
    GameSetup,
    read_game,
    read_match,
)
from obscuro.web.play.hosted_game import RefusedMove
from obscuro.web.static_table import STATIC_ROOMS
from obscuro.web.web_limits import BAD_REQUEST, NOT_FOUND, TOO_MANY, TokenBucket, WebError
from obscuro.web.web_requests import (
    TOO_BUSY,
    TOO_MANY_FAULTS,
    UNKNOWN_GAME,
    WebContext,
    address_of,
    error_text,
    file_response,
    first_of,
    json_response,
    read_wish,
    refuse_socket,
    send_all,
    serve_socket,
)

FULL_STRENGTH = "full strength"
LISTED = 50
"""The most games in a visitor's list."""
_CHANCE = random.SystemRandom()


class PlayRoutes:
    """Answers what the start page and the board ask for.

    of_files: returns the newest games that a visitor has opened from files, for the list of games.
    """

    def __init__(
        self,
        context: WebContext,
        lobby: GameLobby,
        of_files: Callable[[str, int], list[dict[str, Any]]],
    ) -> None:
        self._context = context
        self._lobby = lobby
        self._of_files = of_files
        self._levels = [level.number for level in context.levels]

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            Route("/", self.start_page),
            Route("/play/{game}", self.play_page),
            *(Route(f"/{room}/{{name}}", self.static) for room in STATIC_ROOMS),
            Route("/api/settings", self.settings),
            Route("/api/games", self.games, methods=["GET"]),
            Route("/api/games", self.new_game, methods=["POST"]),
            Route("/api/matches", self.new_match, methods=["POST"]),
            WebSocketRoute("/ws/play/{game}", self.socket),
        ]

    async def start_page(self, request: Request) -> Response:
        """Return the page where games are started."""
        return self._context.page(request, "start")

    async def play_page(self, request: Request) -> Response:
        """Return the page of the board; its socket finds out whether there is such a game."""
        if not is_game_id(request.path_params["game"]):
            raise WebError(NOT_FOUND, "there is no such game")
        return self._context.page(request, "play")

    async def static(self, request: Request) -> Response:
        """Return a file of the table."""
        name = request.scope["path"].removeprefix(f"{self._context.root}/")
        return file_response(request, self._context.statics.files.get(name))

    async def settings(self, request: Request) -> Response:
        """Return what the form offers."""
        limits = self._context.limits
        return json_response(
            {
                "levels": [
                    {"number": level.number, "elo": level.elo, "name": level.name}
                    for level in self._context.levels
                ],
                "full": FULL_STRENGTH,
                "times": TIME_PRESETS,
                "moves": MOVE_PRESETS,
                "stalemates": list(STALEMATES),
                "limits": {
                    "max_games": limits.games,
                    "matches": self._lobby.has_matches,
                    "max_file_bytes": limits.file,
                    "max_fen": MOST_FEN,
                    "base": [LEAST_BASE, MOST_BASE],
                    "increment": [0, MOST_INCREMENT],
                    "move": [LEAST_MOVE, MOST_MOVE],
                },
            }
        )

    async def games(self, request: Request) -> Response:
        """Return the visitor's games, the newest first."""
        visitor = self._context.visitor_of(request)
        if visitor is None:
            return json_response([])
        games = self._lobby.store.summaries(visitor, LISTED) + self._of_files(visitor, LISTED)
        games.sort(key=lambda game: str(game["started"]), reverse=True)
        return json_response(games[:LISTED])

    async def new_game(self, request: Request) -> Response:
        """Start a game against the engine."""
        body = await self._context.read_post(request, self._context.limits.body)
        return self._create(request, read_game(body, self._levels, _CHANCE))

    async def new_match(self, request: Request) -> Response:
        """Start a game of two engines."""
        body = await self._context.read_post(request, self._context.limits.body)
        return self._create(request, read_match(body, self._levels, _CHANCE))

    def _create(self, request: Request, setup: GameSetup) -> Response:
        address = address_of(request)
        return self._context.create_for_visitor(
            request, lambda visitor: {"game": self._lobby.create(setup, visitor, address).game.id}
        )

    async def socket(self, websocket: WebSocket) -> None:
        """Serve one browser of a player until it leaves."""
        await serve_socket(websocket, self._context, lambda: self._play(websocket))

    async def _play(self, websocket: WebSocket) -> None:
        limits = self._context.limits
        try:
            visitor = self._context.visitor_of(websocket)
            game_id = websocket.path_params["game"]
            room = self._lobby.room(game_id, visitor, address_of(websocket))
            if room.game.notes is None:
                raise WebError(NOT_FOUND, "two engines play this game; it has no player")
            if room.watchers >= limits.game_sockets:
                raise WebError(TOO_MANY, "this game is open in too many tabs")
        except (WebError, StoreError) as error:
            unknown = isinstance(error, WebError) and error.status == NOT_FOUND
            code = UNKNOWN_GAME if unknown else TOO_BUSY
            await refuse_socket(websocket, code, str(error))
            return
        box = room.attach()
        try:
            await first_of(
                send_all(websocket, box.next, limits.send_seconds),
                self._receive(websocket, room, box),
            )
        finally:
            room.detach(box)
            self._lobby.leave(room)

    async def _receive(self, websocket: WebSocket, room: GameRoom, box: Mailbox) -> None:
        """Carry out what the player wishes; too many bad messages in a row end the socket."""
        limits = self._context.limits
        bucket = TokenBucket(limits.message_burst, limits.message_rate, self._context.clock)
        strikes = 0
        while strikes < limits.strikes:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                if not bucket.take():
                    raise WebError(TOO_MANY, "too many messages; wait a little")
                if message.get("text") is None:
                    raise WebError(BAD_REQUEST, "a message is text")
                self._carry_out(read_player_wish(message["text"]), room)
                strikes = 0
            except RefusedMove as error:
                # The state follows, for a tab that does not know how the game stands.
                box.put_answer(error_text(str(error)))
                room.show_again(box)
            except (WebError, StoreError) as error:
                strikes += 1
                box.put_answer(error_text(str(error)))
                if isinstance(error, WebError) and error.status == TOO_MANY:
                    await asyncio.sleep(
                        1 / max(1.0, limits.message_rate)
                    )  # or we would be busy refusing
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            await websocket.close(TOO_MANY_FAULTS)

    def _carry_out(self, wish: PlayerWish, room: GameRoom) -> None:
        """Do what a player wishes. Raises RefusedMove, WebError, StoreError."""
        game = room.game
        match wish.type:
            case "move":
                uci, ply = wish.uci or "", -1 if wish.ply is None else wish.ply
                room.change(lambda now: game.move(uci, ply, now))
            case "resign":
                room.change(game.resign)
            case "draw":
                room.change(game.offer_draw)
            case "takeback":
                room.change(game.take_back)
            case "abort":
                room.change(game.abort)
            case "rematch":
                self._lobby.rematch(room)


class PlayerWish(msgspec.Struct, forbid_unknown_fields=True):
    """A message of a player. uci, ply: of a move, and of nothing else."""

    type: Literal["move", "resign", "draw", "takeback", "rematch", "abort"]
    uci: str | None = None
    ply: int | None = None


def read_player_wish(text: str) -> PlayerWish:
    """Read a message of a player. Raises WebError."""
    wish = read_wish(text, PlayerWish)
    if {wish.uci is None, wish.ply is None} != {wish.type != "move"}:
        raise WebError(BAD_REQUEST, "a move has uci and ply, and other messages have neither")
    return wish
