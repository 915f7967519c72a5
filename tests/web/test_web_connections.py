"""Real sockets: who says nothing is closed, and one address does not shut out another."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.sync.client import connect

from obscuro.web.web_connections import server_config
from obscuro.web.web_server import OTHER_FILES
from tests.hanging import HANG_SECONDS
from tests.web.rooms import QUICK, quick_app


@contextlib.contextmanager
def listening(folder: Path, proxy: str | None = None, **limits: Any) -> Iterator[str]:
    """Serve the application on a port for the length of the block; give its address."""
    chosen = replace(QUICK, **limits)
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listener:
        app = quick_app(folder, limits=chosen, proxy=proxy)
        config = server_config(app, chosen, proxy, lifespan="on", log_config=None)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = server.force_exit = True
            thread.join(HANG_SECONDS)
            assert not thread.is_alive()


def opened(url: str, source: str = "127.0.0.1") -> socket.socket:
    """Open a connection from an address of this machine."""
    port = int(url.rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), HANG_SECONDS, (source, 0))


def is_closed(connection: socket.socket) -> bool:
    """Wait for what the server does with a connection; tell whether it closes it unanswered."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def status(url: str, source: str = "127.0.0.1", **headers: str) -> int:
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(transport=transport, timeout=HANG_SECONDS) as client:
        return client.get(f"{url}/api/games", headers=headers).status_code


@pytest.mark.parametrize("start", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_connection_without_a_whole_request_is_closed(tmp_path: Path, start: bytes) -> None:
    with listening(tmp_path, request_seconds=0.2) as url, opened(url) as connection:
        connection.sendall(start)
        assert is_closed(connection)
        assert status(url) == 200


def test_a_second_request_must_come_in_time_too(tmp_path: Path) -> None:
    with listening(tmp_path, request_seconds=0.2) as url, opened(url) as connection:
        host = url.removeprefix("http://").encode()
        connection.sendall(b"GET /api/games HTTP/1.1\r\nHost: " + host + b"\r\n\r\nGET")
        answer = b""
        while part := connection.recv(4096):
            answer += part
        assert answer.startswith(b"HTTP/1.1 200")


def test_idle_connections_of_one_address_leave_place_for_others(tmp_path: Path) -> None:
    limits = {"connections": 20, "address_connections": 15, "request_seconds": HANG_SECONDS}
    with listening(tmp_path, **limits) as url, contextlib.ExitStack() as stack:
        for source in ("127.0.0.2", "127.0.0.3"):
            for _ in range(30):
                stack.enter_context(opened(url, source))
        assert [status(url, "127.0.0.4") for _ in range(3)] == [200] * 3
        assert status(url, "127.0.0.2") == 200, "an idle one of its own makes place"


def test_requests_past_the_rate_wait_and_are_answered(tmp_path: Path) -> None:
    with listening(tmp_path, request_burst=2, request_rate=50) as url:
        assert [status(url) for _ in range(6)] == [200] * 6


def test_a_browser_that_reads_nothing_is_given_up(tmp_path: Path) -> None:
    with listening(tmp_path, send_seconds=0.2) as url, opened(url) as connection:
        host = url.removeprefix("http://").encode()
        request = b"GET /parts/chessground.js HTTP/1.1\r\nHost: " + host + b"\r\n\r\n"
        with contextlib.suppress(ConnectionError):
            while True:  # until the answers fill all buffers, and the server gives up
                connection.sendall(request)


def test_a_socket_that_floods_does_not_stop_another_one(tmp_path: Path) -> None:
    with listening(tmp_path, socket_rate=1000) as url, httpx.Client(base_url=url) as client:
        game = client.post("/api/games", json={}, headers={"origin": url}).json()["game"]
        cookie = f"obscuro_visitor={client.cookies['obscuro_visitor']}"
        options: dict[str, Any] = {"origin": url, "additional_headers": {"Cookie": cookie}}
        address = f"{url.replace('http', 'ws', 1)}/ws/play/{game}"
        with connect(address, **options) as flooder, connect(address, **options) as player:
            for number in range(200):
                flooder.ping(b"%0100d" % number)
            while (state := json.loads(player.recv(HANG_SECONDS)))["status"] != "playing":
                pass
            player.send(json.dumps({"type": "move", "uci": state["moves"][0], "ply": state["ply"]}))
            while json.loads(player.recv(HANG_SECONDS))["ply"] < 1:
                pass


def test_behind_a_proxy_visitors_do_not_share_a_turn(tmp_path: Path) -> None:
    limits = {"request_burst": 1, "request_rate": 1 / HANG_SECONDS, "address_connections": 1}
    with listening(tmp_path, proxy="127.0.0.1", **limits) as url:
        for number in range(5):
            assert status(url, **{"X-Forwarded-For": f"192.0.2.{number}"}) == 200


def test_the_server_takes_as_many_files_as_the_system_lets_it_have() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (300, 2000))\n"
        "from obscuro.web.web_server import possible_connections; print(possible_connections())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) == 2000 - OTHER_FILES
