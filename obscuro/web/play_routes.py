"""The pages and requests of players: starting games, listing them, and the socket of a game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from obscuro.rules.stalemate import STALEMATES
from obscuro.web.game_lobby import is_game_id
from obscuro.web.game_setup import (
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
from obscuro.web.play_socket import play_socket
from obscuro.web.static_table import STATIC_ROOMS
from obscuro.web.visitors import new_visitor, set_cookie, visitor_of
from obscuro.web.web_context import (
    WebContext,
    file_response,
    json_response,
    read_body,
    read_json,
)
from obscuro.web.web_error import NOT_FOUND, WebError

FULL_STRENGTH = "full strength"
LISTED = 50
"""The most games in a visitor's list."""


class PlayRoutes:
    """Answers what the start page and the board ask for.

    of_files: returns the newest games that a visitor has opened from files, for the list of games.
    """

    def __init__(
        self, context: WebContext, of_files: Callable[[str, int], list[dict[str, Any]]]
    ) -> None:
        self._context = context
        self._of_files = of_files

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
        file = self._context.statics.files.get(request.url.path.removeprefix("/"))
        if file is None:
            raise WebError(NOT_FOUND, "there is no such page")
        return file_response(request, file)

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
        visitor = visitor_of(request)
        if visitor is None:
            return json_response([])
        games = self._context.lobby.store.summaries(visitor, LISTED)
        games += self._of_files(visitor, LISTED)
        games.sort(key=lambda game: str(game["started"]), reverse=True)
        return json_response(games[:LISTED])

    async def new_game(self, request: Request) -> Response:
        """Start a game against the engine."""
        levels = [level.number for level in self._context.levels]
        wish = await self._wish(request)
        return self._create(request, read_game(wish, levels, self._context.chance))

    async def new_match(self, request: Request) -> Response:
        """Start a game of two engines."""
        levels = [level.number for level in self._context.levels]
        return self._create(request, read_match(await self._wish(request), levels))

    async def socket(self, websocket: WebSocket) -> None:
        """Serve a player's browser."""
        await play_socket(websocket, self._context)

    async def _wish(self, request: Request) -> object:
        limits = self._context.limits
        self._context.check_post(visitor_of(request))
        return read_json(await read_body(request, limits.body, limits.body_seconds))

    def _create(self, request: Request, setup: GameSetup) -> Response:
        self._context.check_creation()
        visitor, key = visitor_of(request), None
        if visitor is None:
            key, visitor = new_visitor()
        room = self._context.lobby.create(setup, visitor)
        answer: dict[str, Any] = {"game": room.game.id}
        response = json_response(answer, 201)
        if key is not None:
            secure = request.headers.get("origin", "").startswith("https://")
            set_cookie(response, key, secure=secure)
        return response
