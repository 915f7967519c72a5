"""`obscuro mistboard` serves a Mistboard server as an engine."""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from obscuro.cli.bridge_command import MakeMover, engine_options, make_mover, take_token
from obscuro.cli.command_error import CommandError
from obscuro.cli.match_command import read_options
from obscuro.cli.stderr_log import logged_to_stderr
from obscuro.client.uci_process import EngineError

TOKEN = "OBSCURO_MISTBOARD_TOKEN"
MOST_PORT = 65535
RULES = {"Stalemate": "draw"}
"""The engine's options by which Mistboard's rules are played, unless others are given."""

logger = logging.getLogger("obscuro.bots.mistboard")


def run(
    arguments: argparse.Namespace,
    *,
    make: MakeMover | None = None,
    leave: threading.Event | None = None,
) -> int:
    """Serve until a signal ends it; return the exit code.

    make: makes an engine, and leave: ends it; tests pass their own. Raises CommandError.
    """
    from obscuro.bots.mistboard.engine_service import EngineService  # noqa: PLC0415
    from obscuro.client.engine_pool import MoverPool  # noqa: PLC0415

    if arguments.port > MOST_PORT:
        raise CommandError(f"--port {arguments.port}: ports end at {MOST_PORT}")
    options = RULES | engine_options(read_options(arguments.option, "--option"))
    token = take_token(os.environ, TOKEN, "the token that the Mistboard server sends")
    leave = leave or threading.Event()
    with logged_to_stderr(logger, arguments.quiet), _signals(leave):
        movers = MoverPool(
            lambda: (make or make_mover)(options, logger.warning), spare=arguments.games
        )
        try:
            logger.info("getting the engine ready")
            movers.prepare()
            with EngineService(arguments.port, token, movers, arguments.games) as service:
                logger.info("listening on %s; Ctrl-C leaves", service.url)
                leave.wait()
        except EngineError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(
                f"can't listen on port {arguments.port}: {error.strerror}; choose another --port"
            ) from None
        finally:
            movers.close()
    return 0


@contextlib.contextmanager
def _signals(leave: threading.Event) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the service."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        leave.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
