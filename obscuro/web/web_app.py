"""Puts the web server together: the games, the routes, and what guards them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from obscuro.client.engine import Mover
from obscuro.client.uci_process import EngineError
from obscuro.engine.strength import LEVELS, Level, level_numbered
from obscuro.rules.stalemate import LOSS
from obscuro.web.consultant import GameAnalyst
from obscuro.web.game_database import StoreError
from obscuro.web.game_engines import GameEngines
from obscuro.web.game_lobby import GameLobby
from obscuro.web.game_store import GameStore
from obscuro.web.look_desk import LookDesk
from obscuro.web.look_routes import LookRoutes
from obscuro.web.play_routes import PlayRoutes
from obscuro.web.request_guard import RequestGuard
from obscuro.web.static_table import StaticTable
from obscuro.web.web_context import WebContext, json_response
from obscuro.web.web_error import UNAVAILABLE, WebError
from obscuro.web.web_limits import WebLimits

logger = logging.getLogger("obscuro.web")


def game_options(level: int | None, stalemate: str) -> Mapping[str, str]:
    """Return the engine's options for a side of a game. level: None for full strength."""
    strength = {"UCI_LimitStrength": "false"} if level is None else level_numbered(level).settings
    return {"Stalemate": stalemate, **strength}


def make_app(
    make: Callable[[], Mover],
    folder: Path,
    *,
    limits: WebLimits | None = None,
    hosts: Iterable[str] = (),
    any_address: bool = False,
    levels: Sequence[Level] = LEVELS,
    clock: Callable[[], float] = time.monotonic,
    make_analyst: Callable[[], GameAnalyst] | None = None,
) -> Starlette:
    """Return the application.

    make: makes an engine. folder: for the file of the games. hosts: names that the server goes by
    beside this machine's own. any_address: whether it goes by every address in numbers. clock:
    seconds. make_analyst: makes an engine that looks at games that are over; None: nobody does.
    Raises StoreError, and MissingPartsError if files of the pages are not there.
    """
    limits = limits or WebLimits()
    store = GameStore(folder)
    pool = GameEngines(make, limits.games)
    lobby = GameLobby(store, pool, game_options, limits, clock)
    context = WebContext(lobby, StaticTable(), levels, limits, clock)
    desk = LookDesk(lobby, folder, make_analyst)
    look = LookRoutes(context, desk)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(_warm_up(pool)),
            asyncio.create_task(lobby.keep_tidy()),
        ]
        lobby.take_up_matches()
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            lobby.close()
            await look.close()
            await pool.close()
            store.close()

    app = Starlette(
        routes=[*look.routes(), *PlayRoutes(context, look.summaries).routes()],
        lifespan=lifespan,
        middleware=[Middleware(RequestGuard, hosts=tuple(hosts), any_address=any_address)],
        exception_handlers={
            WebError: _web_error,
            StoreError: _store_error,
            HTTPException: _http_error,
            Exception: _fault,
        },
    )
    app.state.context = context
    return app


async def _warm_up(pool: GameEngines) -> None:
    """Have an engine ready before the first game; a game tells its player if that fails."""
    try:
        await pool.warm_up(game_options(None, LOSS))
    except EngineError as error:
        logger.warning("the engine does not start: %s", error)


async def _web_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebError)
    return json_response({"error": str(error)}, error.status)


async def _store_error(request: Request, error: Exception) -> Response:
    logger.error("%s", error)
    return json_response({"error": str(error)}, UNAVAILABLE)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = json_response({"error": error.detail}, error.status_code)
    response.headers.update(error.headers or {})
    return response


async def _fault(request: Request, error: Exception) -> Response:
    return json_response({"error": "the server has made a mistake; its log says which"}, 500)
