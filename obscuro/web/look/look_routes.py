"""The pages, requests and sockets of those who look at games: finished ones, and of two engines."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from obscuro.viewer.analysis import AnalysisError
from obscuro.web.data_folder import StoreError
from obscuro.web.look.watched_game import WatchedGame
from obscuro.web.look.watched_games import WatchedGames
from obscuro.web.play.game_lobby import is_game_id
from obscuro.web.web_limits import (
    CONFLICT,
    NOT_FOUND,
    TOO_MANY,
    UNAVAILABLE,
    BucketTable,
    WebError,
)
from obscuro.web.web_requests import (
    TOO_BUSY,
    UNKNOWN_GAME,
    WebContext,
    address_of,
    first_of,
    json_response,
    read_wish,
    refuse_socket,
    send_all,
    serve_socket,
)


class _AdviceWish(msgspec.Struct, forbid_unknown_fields=True):
    """A question about a position of a game."""

    ply: int


class LookRoutes:
    """Answers what the viewer asks for."""

    def __init__(self, context: WebContext, games: WatchedGames) -> None:
        self._context = context
        self._games = games
        limits = games.limits
        clock, web = context.clock, context.limits
        self._questions = BucketTable(limits.advice_burst, limits.advice_rate, clock)
        self._files = BucketTable(web.file_burst, web.file_rate, clock)
        self._opened = BucketTable(web.look_burst, web.look_rate, clock)
        self._reading: set[str] = set()  # addresses whose file is read

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
        limits, address = self._context.limits, address_of(request)
        if not self._files.take(address) or address in self._reading:
            raise WebError(TOO_MANY, "too many files; wait a little")
        if len(self._reading) >= limits.files_at_once:
            raise WebError(UNAVAILABLE, "the server reads other files; try again")
        self._reading.add(address)
        try:
            body = await self._context.read_post(request, limits.file)
            read = await self._games.read_file(body)
        finally:
            self._reading.discard(address)

        def keep(visitor: str) -> object:
            kept = self._games.keep(read.games, visitor)
            told = [
                {
                    "game": each.id,
                    "white": each.white,
                    "black": each.black,
                    "result": each.result,
                    "moments": msgspec.to_builtins(each.moments),
                }
                for each in kept
            ]
            return {"games": told, "faults": read.faults}

        return self._context.create_for_visitor(request, keep)

    async def document(self, request: Request) -> Response:
        """Return the document of a game, with all its moves so far."""
        game_id = request.path_params["game"]
        watched = await self._watched(request, game_id)
        try:
            return json_response(await watched.document())
        finally:
            self._games.close_unused(game_id)

    async def pgn(self, request: Request) -> Response:
        """Return a game as PGN, with what the engines reported of their moves."""
        self._count_opened(address_of(request))
        visitor = self._context.visitor_of(request)
        found = await self._games.find(request.path_params["game"], visitor)
        return PlainTextResponse(
            f"{found.game}\n",
            headers={"Cache-Control": "no-store"},
            media_type="application/x-chess-pgn",
        )

    async def advice(self, request: Request) -> Response:
        """Return what the engine would play at a ply, knowing what the side to move knew."""
        self._count_question(request)
        visitor = self._context.visitor_of(request)
        body = await self._context.read_body(request, self._context.limits.body)
        ply = read_wish(body, _AdviceWish).ply
        try:
            found = await self._games.advise(
                request.path_params["game"], visitor, ply, address_of(request)
            )
        except AnalysisError as error:
            raise WebError(CONFLICT, str(error)) from None
        return json_response(found)

    async def analysis(self, request: Request) -> Response:
        """Let an engine look at the whole game; the socket tells what it finds."""
        self._count_question(request)
        game_id = request.path_params["game"]
        watched = await self._watched(request, game_id)
        try:
            await watched.document()
            watched.analyse(address_of(request))
        finally:
            self._games.close_unused(game_id)
        return json_response({}, 202)

    async def socket(self, websocket: WebSocket) -> None:
        """Serve one browser that looks at a game until it leaves."""
        await serve_socket(websocket, self._context, lambda: self._look(websocket))

    async def _look(self, websocket: WebSocket) -> None:
        limits = self._context.limits
        try:
            watched = await self._watched(websocket, websocket.path_params["game"])
        except (WebError, StoreError) as error:
            final = isinstance(error, WebError) and error.status in (NOT_FOUND, CONFLICT)
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
                "moments": msgspec.to_builtins(each.moments),
            }
            for each in self._games.files_of(visitor, most)
        ]

    async def _watched(self, connection: HTTPConnection, game_id: str) -> WatchedGame:
        """Return a game that the browser may look at. Raises WebError, StoreError."""
        visitor, address = self._context.visitor_of(connection), address_of(connection)
        return await self._games.watched(
            game_id, visitor, address, lambda: self._count_opened(address)
        )

    def _count_opened(self, address: str) -> None:
        """Count a game that is read from the file. Raises WebError if there were too many."""
        if not self._opened.take(address):
            raise WebError(TOO_MANY, "too many games were opened; wait a little")

    def _count_question(self, request: Request) -> None:
        """Count a question to the engine. Raises WebError if an address asks too often."""
        if not self._questions.take(address_of(request)):
            raise WebError(TOO_MANY, "too many questions; wait a little")


async def _wait_for_end(websocket: WebSocket, most: int) -> None:
    """Wait until the browser leaves; one that sends `most` messages must go."""
    for _ in range(most):
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return
