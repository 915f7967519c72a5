"""The server under a path, behind a small reverse proxy: a browser plays and looks at the game."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.board_page import BoardPage
from tests.web.served_app import served_app

ROOT = "/fog"


class TinyProxy:
    """Passes connections on to a server, and adds the header of the visitor's address.

    strips: whether it takes the path off. seen: the paths that browsers asked for.
    """

    def __init__(self, server: str, strips: bool) -> None:
        self._host, self._port = server.removeprefix("http://").split(":")
        self._strips = strips
        self.seen: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        start = asyncio.start_server(self._serve, sock=self._listener)
        server = self._loop.run_until_complete(start)
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one request on; the connection ends after the answer, unless it is a WebSocket."""
        with contextlib.suppress(OSError, EOFError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, rest = head.split(" ", 2)
            self.seen.append(path)
            if self._strips:
                path = path.removeprefix(ROOT) or "/"
            if "upgrade: websocket" not in head.lower():
                rest = re.sub(r"(?im)^connection:[^\r\n]*\r\n", "", rest)
                rest = rest.replace("\r\n", "\r\nConnection: close\r\n", 1)
            rest = rest.replace("\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n", 1)
            up_reader, up_writer = await asyncio.open_connection(self._host, int(self._port))
            up_writer.write(f"{method} {path} {rest}".encode("latin-1"))
            await asyncio.gather(_copy(reader, up_writer), _copy(up_reader, writer))
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


@pytest.fixture(params=[True, False], ids=["path taken off", "path passed on"])
def proxy(request: pytest.FixtureRequest, browser: Browser, tmp_path: Path) -> Iterator[TinyProxy]:
    with served_app(tmp_path, root=ROOT, proxy="127.0.0.1") as server:
        proxy = TinyProxy(server.url, request.param)
        try:
            yield proxy
        finally:
            proxy.close()


def test_a_game_is_played_and_looked_at_under_a_path(browser: Browser, proxy: TinyProxy) -> None:
    board = BoardPage(browser.new_context(), f"{proxy.url}{ROOT}")
    page = board.page
    page.goto(f"{proxy.url}{ROOT}/")
    page.get_by_role("radio", name="White").check()
    board.button("Play").click()
    page.wait_for_url(re.compile(f"{ROOT}/play/"))
    board.await_turn()
    board.type("e4")
    board.await_square("e4, white pawn")
    expect(board.sheet).to_contain_text("e4")
    board.await_turn()
    board.button("Resign").click()
    board.button("Yes").click()
    board.await_result(re.compile("You lost"))
    page.get_by_role("link", name="Look at the game").click()
    page.wait_for_url(re.compile(f"{ROOT}/look/"))
    expect(page.locator("#status")).to_have_text("")
    page.get_by_role("link", name="Obscuro").click()
    expect(page.locator("#games li")).to_have_count(1)
    assert [path for path in proxy.seen if not path.startswith(f"{ROOT}/")] == []
    board.leave()
    assert board.unexpected_faults() == []
