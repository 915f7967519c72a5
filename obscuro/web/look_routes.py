"""The pages and requests of those who look at games: finished ones, and those of two engines."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from obscuro.viewer.analysis import AnalysisError
from obscuro.web.game_lobby import is_game_id
from obscuro.web.look_desk import LookDesk
from obscuro.web.look_socket import look_socket
from obscuro.web.token_bucket import BucketTable
from obscuro.web.visitors import new_visitor, set_cookie, visitor_of
from obscuro.web.web_context import WebContext, json_response, read_body, read_json
from obscuro.web.web_error import BAD_REQUEST, CONFLICT, NOT_FOUND, TOO_MANY, WebError

_NOBODY = ""  # a visitor without a cookie, who looks at a game of two engines


class LookRoutes:
    """Answers what the viewer asks for."""

    def __init__(self, context: WebContext, desk: LookDesk) -> None:
        self._context = context
        self._desk = desk
        limits = desk.limits
        self._questions = BucketTable(limits.advice_burst, limits.advice_rate, context.clock)

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            Route("/look/{game}", self.look_page),
            Route("/api/files", self.open_file, methods=["POST"]),
            Route("/api/games/{game}/document", self.document),
            Route("/api/games/{game}/pgn", self.pgn),
            Route("/api/games/{game}/advice", self.advice, methods=["POST"]),
            Route("/api/games/{game}/analysis", self.analysis, methods=["POST"]),
            WebSocketRoute("/ws/look/{game}", self.socket),
        ]

    async def look_page(self, request: Request) -> Response:
        """Return the page of the viewer; its socket finds out whether there is such a game."""
        if not is_game_id(request.path_params["game"]):
            raise WebError(NOT_FOUND, "there is no such game")
        return self._context.page(request, "look")

    async def open_file(self, request: Request) -> Response:
        """Keep the games of a PGN file as the visitor's."""
        limits = self._context.limits
        visitor, key = visitor_of(request), None
        self._context.check_post(visitor)
        body = await read_body(request, limits.file, limits.body_seconds)
        self._context.check_creation()
        if visitor is None:
            key, visitor = new_visitor()
        games, faults = await self._desk.open_file(body.decode(errors="replace"), visitor)
        answer = {
            "games": [
                {
                    "game": each.id,
                    "white": each.white,
                    "black": each.black,
                    "result": each.result,
                }
                for each in games
            ],
            "faults": faults,
        }
        response = json_response(answer, 201)
        if key is not None:
            secure = request.headers.get("origin", "").startswith("https://")
            set_cookie(response, key, secure=secure)
        return response

    async def document(self, request: Request) -> Response:
        """Return the document of a game, with all its moves so far."""
        game_id = request.path_params["game"]
        room = self._desk.room(game_id, visitor_of(request))
        try:
            return json_response(await room.document())
        finally:
            self._desk.close_unused(game_id)

    async def pgn(self, request: Request) -> Response:
        """Return a game as PGN, with what the engines reported of their moves."""
        found = self._desk.find(request.path_params["game"], visitor_of(request))
        return PlainTextResponse(
            f"{found.game}\n",
            headers={"Cache-Control": "no-store"},
            media_type="application/x-chess-pgn",
        )

    async def advice(self, request: Request) -> Response:
        """Return what the engine would play at a ply, knowing what the side to move knew."""
        visitor = self._asker(request)
        limits = self._context.limits
        wish = read_json(await read_body(request, limits.body, limits.body_seconds))
        ply = wish.get("ply") if isinstance(wish, dict) and wish.keys() == {"ply"} else None
        if type(ply) is not int:
            raise WebError(BAD_REQUEST, 'the request is {"ply": number}')
        try:
            found = await self._desk.advise(request.path_params["game"], visitor, ply)
        except AnalysisError as error:
            raise WebError(CONFLICT, str(error)) from None
        return json_response(found)

    async def analysis(self, request: Request) -> Response:
        """Let an engine look at the whole game; the socket tells what it finds."""
        visitor = self._asker(request)
        game_id = request.path_params["game"]
        room = self._desk.room(game_id, visitor)
        try:
            await room.document()
            room.analyse()
        finally:
            self._desk.close_unused(game_id)
        return json_response({}, 202)

    async def socket(self, websocket: WebSocket) -> None:
        """Serve a browser that looks at a game."""
        await look_socket(websocket, self._context, self._desk)

    def summaries(self, visitor: str, most: int) -> list[dict[str, Any]]:
        """Return what a list of a visitor's games shows of those from files, the newest first."""
        return [
            {
                "game": each.id,
                "file": True,
                "you": None,
                "status": "over",
                "white": each.white,
                "black": each.black,
                "result": each.result,
                "started": each.opened,
                "plies": each.plies,
            }
            for each in self._desk.files_of(visitor, most)
        ]

    async def close(self) -> None:
        """Release everything."""
        await self._desk.close()

    def _asker(self, request: Request) -> str | None:
        """Return who asks the engine. Raises WebError if somebody asks too often."""
        visitor = visitor_of(request)
        if not self._questions.take(visitor or _NOBODY):
            raise WebError(TOO_MANY, "too many questions; wait a little")
        return visitor
