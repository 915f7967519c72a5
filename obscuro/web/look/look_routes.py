"""The pages, requests and sockets of those who look at games: finished ones, and of two engines."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from obscuro.viewer.analysis import AnalysisError
from obscuro.web.look.watched_games import WatchedGames
from obscuro.web.play.game_lobby import is_game_id
from obscuro.web.web_limits import CONFLICT, NOT_FOUND, TOO_MANY, BucketTable, WebError
from obscuro.web.web_requests import (
    TOO_BUSY,
    UNKNOWN_GAME,
    WebContext,
    create_for_visitor,
    first_of,
    json_response,
    read_wish,
    refuse_socket,
    send_all,
    serve_socket,
    visitor_of,
)

_NO_VISITOR = ""  # without a cookie; looks at a game of two engines


class _AdviceWish(msgspec.Struct, forbid_unknown_fields=True):
    """A question about a position of a game."""

    ply: int


class LookRoutes:
    """Answers what the viewer asks for."""

    def __init__(self, context: WebContext, games: WatchedGames) -> None:
        self._context = context
        self._games = games
        limits = games.limits
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
        body = await self._context.read_post(request, self._context.limits.file)
        self._context.check_creation()
        games, faults = await self._games.read_file(body.decode(errors="replace"))

        def keep(visitor: str) -> object:
            kept = self._games.keep(games, visitor)
            told = [
                {"game": each.id, "white": each.white, "black": each.black, "result": each.result}
                for each in kept
            ]
            return {"games": told, "faults": faults}

        return create_for_visitor(request, keep)

    async def document(self, request: Request) -> Response:
        """Return the document of a game, with all its moves so far."""
        game_id = request.path_params["game"]
        watched = self._games.watched(game_id, visitor_of(request))
        try:
            return json_response(await watched.document())
        finally:
            self._games.close_unused(game_id)

    async def pgn(self, request: Request) -> Response:
        """Return a game as PGN, with what the engines reported of their moves."""
        found = self._games.find(request.path_params["game"], visitor_of(request))
        return PlainTextResponse(
            f"{found.game}\n",
            headers={"Cache-Control": "no-store"},
            media_type="application/x-chess-pgn",
        )

    async def advice(self, request: Request) -> Response:
        """Return what the engine would play at a ply, knowing what the side to move knew."""
        visitor = self._checked_visitor(request)
        body = await self._context.read_body(request, self._context.limits.body)
        ply = read_wish(body, _AdviceWish).ply
        try:
            found = await self._games.advise(request.path_params["game"], visitor, ply)
        except AnalysisError as error:
            raise WebError(CONFLICT, str(error)) from None
        return json_response(found)

    async def analysis(self, request: Request) -> Response:
        """Let an engine look at the whole game; the socket tells what it finds."""
        visitor = self._checked_visitor(request)
        game_id = request.path_params["game"]
        watched = self._games.watched(game_id, visitor)
        try:
            await watched.document()
            watched.analyse()
        finally:
            self._games.close_unused(game_id)
        return json_response({}, 202)

    async def socket(self, websocket: WebSocket) -> None:
        """Serve one browser that looks at a game until it leaves."""
        await serve_socket(websocket, self._context, lambda: self._look(websocket))

    async def _look(self, websocket: WebSocket) -> None:
        limits = self._context.limits
        try:
            watched = self._games.watched(websocket.path_params["game"], visitor_of(websocket))
        except WebError as error:
            final = error.status in (NOT_FOUND, CONFLICT)
            await refuse_socket(websocket, UNKNOWN_GAME if final else TOO_BUSY, str(error))
            return
        watcher = watched.attach()
        try:
            await first_of(
                send_all(websocket, watcher.next, limits.send_seconds),
                _wait_for_end(websocket, limits.strikes),
            )
        finally:
            watched.detach(watcher)

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
            for each in self._games.files_of(visitor, most)
        ]

    def _checked_visitor(self, request: Request) -> str | None:
        """Return who asks the engine. Raises WebError if a visitor asks too often."""
        visitor = visitor_of(request)
        if not self._questions.take(visitor or _NO_VISITOR):
            raise WebError(TOO_MANY, "too many questions; wait a little")
        return visitor


async def _wait_for_end(websocket: WebSocket, most: int) -> None:
    """Wait until the browser leaves; one that sends `most` messages must go."""
    for _ in range(most):
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
