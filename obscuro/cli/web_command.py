"""`obscuro web` opens a board in the browser, on which one plays the engine in the fog."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import logging
import re
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from obscuro.cli.command_support import (
    CommandError,
    check_port,
    logged,
    missing_package,
    read_options,
    server_options,
)
from obscuro.client.engine import engine_command
from obscuro.installation import page

if TYPE_CHECKING:
    from obscuro.viewer.analysis import Analyst

ENGINE_OPTIONS = {"Threads": "1", "Hash": "128"}
"""The engine's options, unless others are given: several games go on at the same time."""
FORBIDDEN_OPTIONS = frozenset(
    {
        "Stockfish",
        "UCI_Variant",
        "UCI_Chess960",
        "Stalemate",
        "UCI_LimitStrength",
        "UCI_Elo",
        "Ponder",
    }
)
"""Options that each game sets, or that make no sense here."""
ANALYSIS_MS = 1000
"""For each position of a game that is over."""

logger = logging.getLogger("obscuro.web")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal ends it; return the exit code. Raises CommandError."""
    check_port(arguments.port)
    options = engine_options(read_options(arguments.option, "--option"))
    root = checked_root(arguments.root_path)
    proxy = None if arguments.proxy is None else checked_proxy(arguments.proxy)
    try:
        import uvicorn  # noqa: F401, PLC0415
        import websockets  # noqa: F401, PLC0415

        from obscuro.web.web_server import (  # noqa: PLC0415
            LOOPBACK,
            ListenError,
            WebService,
            make_app,
        )
    except ModuleNotFoundError as error:
        raise missing_package(error, "web") from None
    from obscuro.client.engine import Engine  # noqa: PLC0415
    from obscuro.viewer.browser_parts.parts import MissingPartsError  # noqa: PLC0415
    from obscuro.web.data_folder import StoreError  # noqa: PLC0415
    from obscuro.web.web_limits import WebLimits  # noqa: PLC0415

    limits = WebLimits(games=arguments.max_games, matches=not arguments.no_matches)
    public = arguments.host not in LOOPBACK
    with logged(logger, arguments.quiet):
        try:
            service = WebService(arguments.host, arguments.port)
            app = make_app(
                lambda: Engine(engine_command(), options),
                data_folder(arguments.data),
                limits=limits,
                hosts=[*arguments.allowed_host, arguments.host],
                any_address=public,
                make_analyst=lambda: make_analyst(options),
                root=root,
                proxy=proxy,
            )
        except (ListenError, MissingPartsError, StoreError) as error:
            raise CommandError(str(error)) from None
        if public:
            logger.warning(
                "whoever reaches %s can play; %s says what to mind",
                arguments.host,
                page("web.md"),
            )
        url = f"{service.url.removesuffix('/')}{root}/"
        service.serve(app, limits, lambda: announce(url, not arguments.no_browser), proxy)
    return 0


def engine_options(given: Mapping[str, str]) -> dict[str, str]:
    """Check the engine's options, add our defaults, and return all. Raises CommandError."""
    return server_options(given, ENGINE_OPTIONS, FORBIDDEN_OPTIONS, "the web server")


def checked_root(path: str) -> str:
    """Return the path before all others without a slash at its end. Raises CommandError."""
    root = path.rstrip("/")
    if root and not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", root):
        raise CommandError(f"--root-path is a path such as /fog, not {path!r}")
    return root


def checked_proxy(address: str) -> str:
    """Return the address of a proxy. Raises CommandError."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise CommandError(
            f"--proxy is an address such as 127.0.0.1 or ::1, not {address!r}"
        ) from None
    return address


def make_analyst(options: Mapping[str, str]) -> Analyst:
    """Return our engine as one that looks at games; its process starts when it is needed."""
    from obscuro.client.limit import Limit  # noqa: PLC0415
    from obscuro.viewer.analysis import Analyst  # noqa: PLC0415

    return Analyst(
        engine_command(),
        limit=Limit(ANALYSIS_MS),
        options=options,
        on_warning=lambda text: logger.warning("analysis: %s", text),
    )


def data_folder(given: str | None) -> Path:
    """Return where games are kept. given: by the user."""
    if given is not None:
        return Path(given)
    import platformdirs  # noqa: PLC0415 - slow, hence only here

    return Path(platformdirs.user_data_dir("obscuro", appauthor=False)) / "web"


def announce(url: str, open_browser: bool) -> None:
    """Say where the board is, and open it."""
    print(f"obscuro: the board is at {url} (Ctrl-C ends)", flush=True)
    if open_browser:
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(url)
