"""A stream of the lichess bot API: one JSON object a line, for as long as the server sends."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from obscuro.bots.api_errors import ERROR_CHARACTERS, Unreachable, first_line

logger = logging.getLogger(__name__)

LONGEST_LINE = 1 << 20
"""Bytes of a line at most; a game of 5,000 moves has 30,000."""


class EventStream:
    """The objects that come on an open stream, with None for a sign of life.

    It ends when the server ends it. It raises ApiError when it breaks, also between two lines. Any
    thread may call `close`, which wakes the reading thread.
    """

    def __init__(self, response: httpx.Response, what: str) -> None:
        self._response = response
        self._what = what
        self._closed = False

    def __iter__(self) -> Iterator[Mapping[str, Any] | None]:
        """Yield the objects as they come."""
        pending = bytearray()
        try:
            for chunk in self._response.iter_bytes():
                *ended, rest = chunk.split(b"\n")
                for piece in ended:
                    pending += piece
                    yield self._read(bytes(pending))
                    pending.clear()
                pending += rest
                if len(pending) > LONGEST_LINE:
                    raise Unreachable(f"{self._what}: a line without end")
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            if not self._closed:
                raise Unreachable(f"{self._what}: {first_line(error)}") from None
        finally:
            self.close()
            with contextlib.suppress(Exception):
                self._response.close()

    def _read(self, line: bytes) -> Mapping[str, Any] | None:
        if not line.strip():
            return None
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            logger.warning("%s: a line that can't be read: %r", self._what, line[:ERROR_CHARACTERS])
            return None
        return message

    def close(self) -> None:
        """End the stream. Any thread may call this, and call it again."""
        if self._closed:
            return
        self._closed = True
        # Shutting the socket down wakes a thread that waits in `recv`; closing it does not.
        network = self._response.extensions.get("network_stream")
        connection = network.get_extra_info("socket") if network is not None else None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
