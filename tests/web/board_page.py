"""One tab with the board of a game, as a person uses it."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import BrowserContext, Locator, Page, WebSocket, expect

WAIT = 60_000
"""Milliseconds. A busy machine may take long; a test goes on as soon as it can."""
DEFAULT_GAME = {
    "color": "white",
    "time": {"move": 0.05},
    "level": 1,
    "fen": None,
    "takebacks": False,
    "stalemate": "loss",
}
EXPECTED_FAULTS = re.compile("WebSocket|ERR_CONNECTION")
"""The browser itself writes to the console where a connection fails."""

expect.set_options(timeout=WAIT)

_CREATE = """async (wish) => {
  const body = JSON.stringify(wish);
  const headers = {"Content-Type": "application/json"};
  const answer = await fetch(new URL("api/games", location.href), {method: "POST", headers, body});
  return (await answer.json()).game;
}"""


class BoardPage:
    """A tab. faults: what went wrong in it. states: the messages that the server sent to it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(WAIT)
        self.url = url
        self.faults: list[str] = []
        self.states: list[dict[str, Any]] = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: self.states.append(json.loads(text)))

    # -- the way to a game ------------------------------------------------------------------

    def new_game(self, **wish: object) -> str:
        """Start a game by a request, and open it; return its id."""
        self.page.goto(self.url)
        game = str(self.page.evaluate(_CREATE, {**DEFAULT_GAME, **wish}))
        self.open(game)
        return game

    def open(self, game: str) -> None:
        """Go to a game."""
        self.page.goto(f"{self.url}/play/{game}")
        expect(self.page.locator("#turn")).not_to_be_empty(timeout=WAIT)

    # -- what it shows ----------------------------------------------------------------------

    @property
    def notice(self) -> Locator:
        """The line about the page itself."""
        return self.page.locator("#notice")

    @property
    def sheet(self) -> Locator:
        """The list of moves."""
        return self.page.get_by_role("region", name="Moves")

    def button(self, name: str) -> Locator:
        """Return a button by its name."""
        return self.page.get_by_role("button", name=name, exact=True)

    def square(self, name: str) -> Locator:
        """Return a square as screen readers and keys reach it."""
        return self.page.locator(f'#board [role="gridcell"][data-square="{name}"]')

    def content(self, name: str) -> str:
        """Return what a screen reader says is on a square, without its side: `pawn`, `fog`."""
        label = self.square(name).get_attribute("aria-label")
        assert label is not None
        return label.split(", ")[1].split()[-1]

    def await_square(self, label: str) -> None:
        """Wait until a screen reader would say this of a square, such as `e4, white pawn`."""
        cell = self.page.get_by_role("gridcell", name=label, exact=True)
        expect(cell).to_have_count(1)

    def await_turn(self, text: str | re.Pattern[str] = "Your move.") -> None:
        """Wait until the line above the moves says this."""
        expect(self.page.locator("#turn")).to_have_text(text)

    def await_ready(self) -> None:
        """Wait until the engine is there; the player may move before."""
        expect(self.button("Offer draw")).to_be_enabled()

    def await_news(self, text: str | re.Pattern[str]) -> None:
        """Wait until the line that screen readers read out says this."""
        expect(self.page.get_by_role("status")).to_have_text(text)

    def await_result(self, text: str | re.Pattern[str]) -> None:
        """Wait until the game is over and this is the result."""
        expect(self.page.locator("#result")).to_have_text(text)

    def fogged(self) -> set[str]:
        """Return the names of the squares that a screen reader calls fog."""
        cells = self.page.locator('#board [role="gridcell"][aria-label$="fog"]')
        return set(cells.evaluate_all("all => all.map(each => each.dataset.square)"))

    # -- what a person does -----------------------------------------------------------------

    def center(self, name: str) -> tuple[float, float]:
        """Return where the middle of a square is on the screen."""
        box = self.square(name).bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def drag(self, start: str, end: str) -> None:
        """Drag a piece with the mouse."""
        self.page.mouse.move(*self.center(start))
        self.page.mouse.down()
        self.page.mouse.move(*self.center(end), steps=4)
        self.page.mouse.up()

    def click(self, *names: str) -> None:
        """Click squares with the mouse."""
        for name in names:
            self.page.mouse.click(*self.center(name))

    def type(self, text: str) -> None:
        """Type a move, and send it."""
        self.page.get_by_label("Type a move").fill(text)
        self.page.keyboard.press("Enter")

    def walk(self, start: str, end: str) -> None:
        """Go from one square to another by arrow keys, with White below."""
        files = ord(end[0]) - ord(start[0])
        ranks = int(end[1]) - int(start[1])
        for _ in range(abs(files)):
            self.page.keyboard.press("ArrowRight" if files > 0 else "ArrowLeft")
        for _ in range(abs(ranks)):
            self.page.keyboard.press("ArrowUp" if ranks > 0 else "ArrowDown")

    def leave(self) -> None:
        """Close the tab, and all others of its visitor."""
        self.page.context.close()

    def unexpected_faults(self) -> list[str]:
        """Return what went wrong, but for connections that a test has cut."""
        return [fault for fault in self.faults if not EXPECTED_FAULTS.search(fault)]
