"""How quick `obscuro web` is, and what many browsers and many games cost it.

    python -m tools.speed.web_load --watchers 20 --moves 30 --games 50

Starts the server as a user does, with the engine at its weakest level, and measures four things.
How long it takes until it listens, and until the start page and a board can be used in Chromium.
How long after a move was sent Chromium and so many other tabs show it. How much memory the server
has after so many games. How evenly so many browsers get the moves of two engines, and the server's
share of a core meanwhile. Prints tables.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import psutil
from playwright.sync_api import Browser, BrowserContext, Page
from websockets.sync.client import ClientConnection, connect

from tools.browser import running_browser
from tools.common import given, publish, say, table, tool_parser

PATIENCE = 120.0
"""Seconds; nothing here takes so long."""
AT_ONCE = 8
GAME_PLIES = 24
"""A game for the memory ends by resignation after so many plies."""
MATCH_SECONDS = 0.2
COOKIE = "obscuro_visitor"
MEBIBYTE = 1 << 20

_OBSERVE = """() => {
  window.shown = [];
  const board = document.querySelector("#board");
  new MutationObserver(() => window.shown.push(Date.now())).observe(board,
    {subtree: true, childList: true, attributes: true});
}"""


class WebServer:
    """The server as a process. started: the seconds until it said that it listens."""

    def __init__(self, folder: Path) -> None:
        begin = time.monotonic()
        command = [sys.executable, "-m", "obscuro.cli.main", "web", "--port", "0", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--data", str(folder), "--quiet"], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.started = time.monotonic() - begin
        self.url = line.split(" at ")[1].split()[0].rstrip("/")
        self.host = self.url.removeprefix("http://")

    def post(self, path: str, wish: object, cookie: str = "") -> tuple[str, str]:
        """Start a game; return its id and the visitor's cookie. Waits where the server asks to."""
        while True:
            cookies = {COOKIE: cookie} if cookie else {}
            answer = httpx.post(
                self.url + path, json=wish, headers={"Origin": self.url}, cookies=cookies
            )
            if answer.status_code == httpx.codes.CREATED:
                return answer.json()["game"], answer.cookies.get(COOKIE) or cookie
            time.sleep(1.0)

    def socket(self, path: str, cookie: str = "") -> ClientConnection:
        """Return a socket, for a `with` statement."""
        headers = {"Cookie": f"{COOKIE}={cookie}"} if cookie else {}
        origin: Any = self.url
        return connect(
            f"ws://{self.host}{path}", origin=origin, additional_headers=headers, max_size=None
        )

    def resident(self) -> float:
        """Return the memory of the server's process, without its engines, in MiB."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / MEBIBYTE

    def cpu(self) -> float:
        """Return the seconds of a core that the server's process has used, without its engines."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def end(self) -> None:
        """Ask the server to end, and wait for it."""
        self.process.terminate()
        self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()


def next_turn(socket: ClientConnection) -> dict[str, Any]:
    """Return the next state in which the player may move, or the game is over."""
    while True:
        state: dict[str, Any] = json.loads(socket.recv(PATIENCE))
        assert state["type"] == "state", state
        mine = state["status"] == "playing" and state["turn"] == state["you"]
        if state["status"] == "over" or mine:
            return state


def a_move(state: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a move: the one in the middle of the list, for some variety."""
    moves = state["moves"]
    return {"type": "move", "uci": moves[len(moves) // 2], "ply": state["ply"]}


# -- the measurements -------------------------------------------------------------------------


def measure_start(browser: Browser, folder: Path) -> tuple[WebServer, dict[str, Any]]:
    """Start the server; measure how long it takes until pages can be used."""
    server = WebServer(folder)
    page = browser.new_page()
    begin = time.monotonic()
    page.goto(server.url)
    page.wait_for_selector("#level option:nth-child(2)", state="attached")
    start_page = time.monotonic() - begin
    page.close()
    return server, {"listens": server.started, "start_page": start_page}


class Tabs:
    """Sockets that write down when they get what. read: returns the key of a message, or None."""

    def __init__(
        self, sockets: Sequence[ClientConnection], read: Callable[[dict[str, Any]], object | None]
    ) -> None:
        self._read = read
        self._lock = threading.Lock()
        self.times: dict[object, list[float]] = {}
        self._threads = [threading.Thread(target=self._listen, args=(each,)) for each in sockets]
        for thread in self._threads:
            thread.start()

    def _listen(self, socket: ClientConnection) -> None:
        while True:
            try:
                text = socket.recv(PATIENCE)
            except Exception:  # the end of the measurement closes the socket
                return
            now = time.time()
            key = self._read(json.loads(text))
            if key is not None:
                with self._lock:
                    self.times.setdefault(key, []).append(now)

    def join(self) -> None:
        """Wait until all sockets are closed."""
        for thread in self._threads:
            thread.join()


def measure_moves(server: WebServer, browser: Browser, watchers: int, moves: int) -> dict[str, Any]:
    """Play; measure how long after an own move was sent Chromium and the other tabs show it."""
    game, cookie = server.post("/api/games", {"level": 1, "time": {"move": 0.05}})
    path = f"/ws/play/{game}"
    with ExitStack() as stack:
        context = stack.enter_context(browser.new_context())
        sockets = [stack.enter_context(server.socket(path, cookie)) for _ in range(watchers)]
        tabs = Tabs(sockets, lambda message: message.get("ply"))
        page, opened = open_board(context, server, game, cookie)
        sent: dict[int, float] = {}
        player = stack.enter_context(server.socket(path, cookie))
        chromium = []
        for _ in range(moves):
            state = next_turn(player)
            if state["status"] == "over":
                break
            time.sleep(0.5)  # so that the last move is drawn
            page.evaluate("window.shown.length = 0")
            sent[state["ply"] + 1] = begin = time.time()
            player.send(json.dumps(a_move(state)))
            while not (drawn := page.evaluate("window.shown[0] ?? 0")):
                time.sleep(0.01)
            chromium.append(drawn / 1000 - begin)
        time.sleep(1.0)
        page.close()
        for socket in sockets:
            socket.close()
        tabs.join()
    waits = [
        when - begin for ply, begin in sent.items() for when in sorted(tabs.times[ply])[:watchers]
    ]
    return {
        "board": opened,
        "watchers": watchers,
        "moves": len(sent),
        "tabs": [each * 1000 for each in waits],
        "chromium": [each * 1000 for each in chromium],
    }


def open_board(
    context: BrowserContext, server: WebServer, game: str, cookie: str
) -> tuple[Page, float]:
    """Open a game's board in Chromium; return the page, and the seconds until it was there."""
    context.add_cookies([{"name": COOKIE, "value": cookie, "url": server.url}])
    page = context.new_page()
    begin = time.monotonic()
    page.goto(f"{server.url}/play/{game}")
    page.wait_for_selector("#board piece", state="attached")
    opened = time.monotonic() - begin
    page.evaluate(_OBSERVE)
    return page, opened


def measure_watching(server: WebServer, watchers: int, moves: int) -> dict[str, Any]:
    """Let two engines play; measure how evenly the browsers get their moves."""
    game, _ = server.post("/api/matches", {"white": 1, "black": 1, "move": MATCH_SECONDS})
    with ExitStack() as stack:
        sockets = [stack.enter_context(server.socket(f"/ws/look/{game}")) for _ in range(watchers)]
        plies = iter(range(1 << 30))
        first: dict[str, int] = {}

        def key(message: dict[str, Any]) -> object | None:
            if message["type"] != "ply":
                return None
            # Moves have no number of their own on the wire; the whole board after them tells them.
            return first.setdefault(json.dumps(message, sort_keys=True), next(plies))

        tabs = Tabs(sockets, key)
        cpu, begin = server.cpu(), time.monotonic()
        while len(tabs.times) < moves and time.monotonic() - begin < PATIENCE:
            time.sleep(0.5)
        seconds = time.monotonic() - begin
        share = (server.cpu() - cpu) / seconds
        for socket in sockets:
            socket.close()
        tabs.join()
    whole = [sorted(times) for times in tabs.times.values() if len(times) == watchers]
    return {
        "watchers": watchers,
        "moves": len(whole),
        "spread": [(times[-1] - times[0]) * 1000 for times in whole],
        "core": share,
    }


def play_short_game(server: WebServer) -> None:
    """Play a game of some plies as a visitor of its own, and resign."""
    game, cookie = server.post("/api/games", {"level": 1, "time": {"move": 0.05}})
    with server.socket(f"/ws/play/{game}", cookie) as socket:
        while True:
            state = next_turn(socket)
            if state["status"] == "over":
                return
            over = state["ply"] >= GAME_PLIES
            socket.send(json.dumps({"type": "resign"} if over else a_move(state)))


def measure_memory(server: WebServer, games: int) -> dict[str, Any]:
    """Play games, some at a time; measure the memory of the server and of its engines."""
    play_short_game(server)
    before = server.resident()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        most = 0.0
        for count, _ in enumerate(pool.map(lambda _: play_short_game(server), range(games)), 1):
            most = max(most, server.resident())
            say(f"{count} games")
    time.sleep(5.0)  # until the engines that are not needed any more have ended
    engines = psutil.Process(server.process.pid).children(recursive=True)
    return {
        "games": games,
        "before": before,
        "most": most,
        "after": server.resident(),
        "engines": len(engines),
        "engine": max((each.memory_info().rss / MEBIBYTE for each in engines), default=0.0),
    }


def measure(watchers: int, moves: int, games: int) -> dict[str, Any]:
    """Return all figures. Times are seconds in `start`, milliseconds elsewhere; sizes are MiB."""
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        server, start = measure_start(browser, Path(folder))
        try:
            say("moves")
            shown = measure_moves(server, browser, watchers, moves)
            say("memory")
            memory = measure_memory(server, games)
            say("watching")
            watched = measure_watching(server, watchers, moves)
            memory["watched"] = server.resident()
        finally:
            server.end()
    return {"start": start, "shown": shown, "watched": watched, "memory": memory}


# -- the tables -------------------------------------------------------------------------------


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the four measurements as tables."""
    start, shown, watched, memory = (
        figures[name] for name in ("start", "shown", "watched", "memory")
    )
    yield from table(
        ["from", "until", "s"],
        [
            ["the command", "the server listens", f"{start['listens']:.2f}"],
            ["the server listens", "the start page is ready", f"{start['start_page']:.2f}"],
            ["a game's address", "the board is ready", f"{shown['board']:.2f}"],
        ],
        "llr",
    )
    yield ""
    both = f"{shown['watchers']} other tabs"
    yield from table(
        ["a move sent until it is shown", "moves", "median, ms", "99 %, ms", "most, ms"],
        [
            ["in Chromium", shown["moves"], *_spread(shown["chromium"])],
            [f"in {both}", shown["moves"], *_spread(shown["tabs"])],
        ],
        "lrrrr",
    )
    yield ""
    headings = ["a move of two engines, first browser until last", "moves", "median, ms"]
    core = f"{watched['core']:.0%}"
    row = [f"{watched['watchers']} browsers", watched["moves"], *_spread(watched["spread"]), core]
    yield from table([*headings, "99 %, ms", "most, ms", "server, of a core"], [row], "lrrrrr")
    yield ""
    yield from table(
        ["memory", "MiB"],
        [
            ["the server after the first game", f"{memory['before']:.0f}"],
            [f"after {memory['games']} games", f"{memory['after']:.0f}"],
            ["at most, until then", f"{memory['most']:.0f}"],
            ["once a game of two engines was watched", f"{memory['watched']:.0f}"],
            [f"an engine, of which {memory['engines']} run then", f"{memory['engine']:.0f}"],
        ],
        "lr",
    )


def _spread(values: Sequence[float]) -> list[str]:
    ordered = sorted(values)
    if not ordered:
        return ["-", "-", "-"]
    late = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return [f"{each:.1f}" for each in (statistics.median(ordered), late, ordered[-1])]


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.web_load", __doc__)
    parser.add_argument("--watchers", type=int, default=20)
    parser.add_argument("--moves", type=int, default=30)
    parser.add_argument("--games", type=int, default=50)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    publish(parser, words, told.raw, measure(told.watchers, told.moves, told.games), render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
