"""The HTTP service that a Mistboard server asks for moves, on this machine only."""

from __future__ import annotations

import hmac
import json
import logging
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from obscuro.bots.mistboard.engine_messages import (
    MessageError,
    read_json,
    read_push,
    read_turn,
)
from obscuro.bots.mistboard.reservation_book import ReservationBook
from obscuro.bots.mistboard.seat_table import SeatsBusyError, SeatTable
from obscuro.bots.mistboard.turn_desk import TurnDesk
from obscuro.client.engine_pool import MoverPool

HOST = "127.0.0.1"
MOST_BYTES = 4_000_000
"""Of a request. A transcript has some 2 kB for each ply."""
SILENCE_SECONDS = 60.0
"""A connection that is silent for so long is closed."""
_ENGINE = "/internal/engine"
_RELEASE = re.compile(rf"{_ENGINE}/reservations/([^/]+)/release")
_RESERVATION = "x-mistboard-engine-reservation-id"
_BUDGET = "x-mistboard-engine-compute-budget-ms"
_DEADLINE = "x-mistboard-engine-timeout-ms"

logger = logging.getLogger("obscuro.bots.mistboard")


class EngineService:
    """Listens from the start on; use it in a `with` statement.

    port: 0 for any. token: what requests must bear. movers: the engines. games: played at the same
    time. Raises OSError if the port is taken.
    """

    def __init__(self, port: int, token: str, movers: MoverPool, games: int) -> None:
        self._book = ReservationBook(games)
        self._desk = TurnDesk(SeatTable(movers, games))
        self._token = token.encode()
        self._server = _Server((HOST, port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address that the server is given."""
        return f"http://{HOST}:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> EngineService:
        """Return the service itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        self.close()

    # -- requests ---------------------------------------------------------------------------

    def is_authorized(self, header: str) -> bool:
        """Tell whether a request bears the token."""
        return hmac.compare_digest(header.encode("utf-8", "replace"), b"Bearer " + self._token)

    def get(self, path: str) -> tuple[int, dict[str, Any]]:
        """Answer a GET request: the status and the body."""
        if path == f"{_ENGINE}/capacity":
            return 200, self._capacity()
        return 404, {"error": "not_found"}

    def post(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        """Answer a POST request: the status and the body. Raises MessageError, SeatsBusyError.

        headers: their names in lower case.
        """
        release = _RELEASE.fullmatch(path)
        if release is not None:
            self._book.release(release[1])
            return 200, {"ok": True}
        if path == f"{_ENGINE}/turn":
            self._book.touch(headers.get(_RESERVATION, ""))
            request = read_turn(read_json(body))
            return 200, self._desk.answer(
                request, _milliseconds(headers, _BUDGET), _milliseconds(headers, _DEADLINE)
            )
        if path == f"{_ENGINE}/observe":
            return 200, self._desk.observe(read_push(read_json(body)))
        if path == f"{_ENGINE}/reservations":
            return self._reserve(read_json(body))
        return 404, {"error": "not_found"}

    def _reserve(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        engine = body.get("engineId")
        if not isinstance(engine, str) or body.get("color") not in ("white", "black"):
            raise MessageError("a reservation needs engineId and color")
        seat = self._book.reserve(engine)
        if seat is None:
            return 429, {"error": "engine_capacity_full", "capacity": self._capacity()}
        return 201, {
            "reservationId": seat.number,
            "engineId": engine,
            "expiresAt": round(seat.expires * 1000),
            "capacity": self._capacity(),
        }

    def _capacity(self) -> dict[str, int]:
        return {"activeSeats": self._book.taken, "maxSeats": self._book.most}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], service: EngineService) -> None:
        self.service = service
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Pass over connections that break off; the server asks again."""
        logger.debug("a connection broke off", exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = SILENCE_SECONDS

    def do_GET(self) -> None:
        """Answer whether the service lives, and how many seats are taken."""
        if self.path == "/health":
            self._say(200, {"ok": True})
        elif self._is_authorized():
            self._say(*self.server.service.get(self.path))

    def do_POST(self) -> None:
        """Answer everything else."""
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > MOST_BYTES:
            self.close_connection = True
            self._say(413, {"error": f"a body of {length or 'unknown'} bytes"})
            return
        body = self.rfile.read(int(length))
        if not self._is_authorized():
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            answer = self.server.service.post(self.path, headers, body)
        except MessageError as error:
            logger.warning("%s: %s", self.path, error)
            answer = 400, {"error": str(error)}
        except SeatsBusyError as error:
            logger.warning("%s: %s", self.path, error)
            answer = 503, {"error": str(error)}
        except Exception:
            logger.exception("%s failed", self.path)
            answer = 500, {"error": "internal_error"}
        self._say(*answer)

    def _is_authorized(self) -> bool:
        if self.server.service.is_authorized(self.headers.get("Authorization", "")):
            return True
        self._say(401, {"error": "unauthorized"})
        return False

    def _say(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep requests out of the log; games are in it."""


def _milliseconds(headers: dict[str, str], name: str) -> int | None:
    """Return a header's number; None if there is none."""
    text = headers.get(name, "")
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None
