"""The pages and requests of those who look at games: finished ones, and those of two engines."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from obscuro.web.game_lobby import is_game_id
from obscuro.web.stored_record import pgn_of
from obscuro.web.visitors import visitor_of
from obscuro.web.web_context import WebContext
from obscuro.web.web_error import NOT_FOUND, WebError


class LookRoutes:
    """Answers what the viewer asks for."""

    def __init__(self, context: WebContext) -> None:
        self._context = context

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            Route("/look/{game}", self.look_page),
            Route("/api/games/{game}/pgn", self.pgn),
        ]

    async def look_page(self, request: Request) -> Response:
        """Return the page of the viewer."""
        if not is_game_id(request.path_params["game"]):
            raise WebError(NOT_FOUND, "there is no such game")
        return self._context.page(request, "look")

    async def pgn(self, request: Request) -> Response:
        """Return a game as PGN, with what the engines reported of their moves."""
        stored = self._context.lobby.finished(request.path_params["game"], visitor_of(request))
        return PlainTextResponse(f"{pgn_of(stored)}\n", media_type="application/x-chess-pgn")

    async def close(self) -> None:
        """Release everything."""
