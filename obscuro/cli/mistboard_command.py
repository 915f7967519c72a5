"""`obscuro mistboard` serves a Mistboard server as an engine."""

from __future__ import annotations

import argparse
import logging
import os
import threading

from obscuro.cli.bridge_command import FORBIDDEN_OPTIONS, OVERHEAD, MakeMover, take_token
from obscuro.cli.command_support import (
    CommandError,
    check_port,
    logged,
    make_mover,
    missing_package,
    read_options,
    server_options,
)
from obscuro.client.uci_process import EngineError
from obscuro.signal_handlers import leaving_signals_handled

TOKEN = "OBSCURO_MISTBOARD_TOKEN"
RULES = {"Stalemate": "draw"}
"""The engine's options by which Mistboard's rules are played, unless others are given."""

logger = logging.getLogger("obscuro.bots.mistboard")


def run(
    arguments: argparse.Namespace,
    *,
    make: MakeMover = make_mover,
    leave: threading.Event | None = None,
) -> int:
    """Serve until a signal ends it; return the exit code.

    make: makes an engine, and leave: ends it; tests pass their own. Raises CommandError.
    """
    check_port(arguments.port)
    given = read_options(arguments.option, "--option")
    options = server_options(given, RULES | OVERHEAD, FORBIDDEN_OPTIONS, "the service")
    token = take_token(os.environ, TOKEN, "the token that the Mistboard server sends")
    try:
        from obscuro.bots.mistboard.engine_service import EngineService  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise missing_package(error, "web") from None
    from obscuro.client.engine_pool import MoverPool  # noqa: PLC0415

    left = leave or threading.Event()
    movers = MoverPool(lambda: make(options, logger.warning), spare=arguments.games)
    with (
        logged(logger, arguments.quiet),
        leaving_signals_handled(lambda number: left.set()),
    ):
        try:
            logger.info("getting the engine ready")
            movers.prepare()
            with EngineService(arguments.port, token, movers, arguments.games) as service:
                logger.info("listening on %s; Ctrl-C leaves", service.url)
                left.wait()
        except EngineError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(
                f"can't listen on port {arguments.port}: {error.strerror}; choose another --port"
            ) from None
        finally:
            movers.close()
    return 0
