"""What a server that runs for long says on stderr."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator


@contextlib.contextmanager
def logged_to_stderr(logger: logging.Logger, quiet: bool) -> Iterator[None]:
    """Within this context, write a logger's lines to stderr. quiet: warnings and errors only."""
    screen = logging.StreamHandler()
    screen.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    before = logger.level, logger.propagate
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    logger.propagate = False
    logger.addHandler(screen)
    try:
        yield
    finally:
        logger.level, logger.propagate = before
        logger.removeHandler(screen)
