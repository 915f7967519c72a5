"""Looking at games in a real browser, with scripted engines."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import chess.pgn
import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from tests.viewer.recorded import SHORT_GAME
from tests.web.board_page import EXPECTED_FAULTS, WAIT
from tests.web.served_app import ServedApp

HOSTILE = "</script><img src=x onerror='document.title=1'>"
_POST = """async ([path, body]) => {
  const answer = await fetch(path, {method: "POST", body});
  return await answer.json();
}"""


class LookTab:
    """A tab of a new visitor. faults: what went wrong in it."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        page.set_default_timeout(WAIT)
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def start_match(self) -> str:
        """Let two engines play; return the game's id."""
        self.page.goto(self.url)
        found = self.page.evaluate(_POST, ["/api/matches", '{"move": 0.2}'])
        return str(found["game"])

    def open_file(self, text: str, folder: Path) -> None:
        """Open a PGN file with one game on the start page, which leads to the game."""
        path = folder / "games.pgn"
        path.write_text(text, encoding="utf-8")
        self.page.goto(self.url)
        self.page.locator("#file").set_input_files(path)
        self.page.wait_for_url("**/look/*")
        self.page.wait_for_selector("#moves li")

    def look(self, game: str) -> None:
        """Go to a game, and wait until it is there."""
        self.page.goto(f"{self.url}/look/{game}")
        self.page.wait_for_selector("#moves li")

    @property
    def ply(self) -> int:
        return int(self.page.locator("#ply").input_value())

    @property
    def status(self) -> Locator:
        return self.page.locator("#status")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def await_plies(self, plies: int) -> None:
        """Wait until the game has so many."""
        self.page.locator("#moves button").nth(plies - 1).wait_for(state="attached")


@pytest.fixture
def tab(browser: Browser, server: ServedApp) -> Iterator[LookTab]:
    with browser.new_context() as context:
        tab = LookTab(context.new_page(), server.url)
        yield tab
    assert [fault for fault in tab.faults if not EXPECTED_FAULTS.search(fault)] == []


@pytest.mark.slow
def test_two_engines_are_watched_as_they_play(tab: LookTab, server: ServedApp) -> None:
    with server.engine.frozen():
        game = tab.start_match()
        server.engine.allow(3)
        tab.look(game)
        tab.await_plies(3)
        live = tab.button("Live")
        expect(live).to_have_attribute("aria-pressed", "true")
        assert tab.button("What would you do here?").is_hidden()
        tab.page.keyboard.press("Home")
        expect(live).to_have_attribute("aria-pressed", "false")
        server.engine.allow(2)
        tab.await_plies(5)
        assert tab.ply == 0  # who looks at an earlier ply stays there
        expect(tab.page.locator("#moves button")).to_have_count(5)
        live.click()
        assert tab.ply == 5
        server.engine.allow(1)
        expect(tab.page.locator("#ply")).to_have_value("6")
        expect(live).to_have_attribute("aria-pressed", "true")


def test_two_engines_are_watched_from_a_random_start(tab: LookTab, server: ServedApp) -> None:
    page = tab.page
    with server.engine.frozen():
        page.goto(tab.url)
        form = page.locator("#watch")
        expect(form).to_have_js_property("inert", False)  # before, nothing in it takes the focus
        form.get_by_label("A random start (Chess960)").focus()
        page.keyboard.press("Space")
        with page.expect_request("**/api/matches") as asked:
            tab.button("Watch").click()
        assert asked.value.post_data_json["chess960"] is True
        page.wait_for_url("**/look/*")
        server.engine.allow(1)
        tab.await_plies(1)
        page.keyboard.press("Home")
        game = page.url.rpartition("/")[2].partition("#")[0]
        pgn = page.request.get(f"{tab.url}/api/games/{game}/pgn").text()
        headers = chess.pgn.read_headers(io.StringIO(pgn))
        assert headers is not None
        board = headers.board()
        assert board.chess960_pos() is not None
        shown = page.locator("#truth [data-piece]").evaluate_all(
            "all => all.map(each => each.dataset.piece)"
        )
        pieces = board.piece_map().items()
        assert set(shown) == {chess.square_name(at) + piece.symbol() for at, piece in pieces}


def test_after_a_lost_connection_the_page_has_all_plies(tab: LookTab, server: ServedApp) -> None:
    routes: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        route.connect_to_server()
        routes.append(route)

    tab.page.route_web_socket(re.compile("/ws/look/"), connect)
    with server.engine.frozen():
        game = tab.start_match()
        server.engine.allow(2)
        tab.look(game)
        tab.await_plies(2)
        tab.page.keyboard.press("Home")
        tab.page.keyboard.press("ArrowRight")
        routes[0].close(code=1001)
        server.engine.allow(2)
        tab.await_plies(4)
        assert len(routes) > 1
        assert tab.ply == 1
        expect(tab.page.locator("#moves button")).to_have_count(4)


def test_a_game_of_a_file_is_analysed(tab: LookTab, tmp_path: Path) -> None:
    tab.open_file(SHORT_GAME, tmp_path)
    expect(tab.page).to_have_title('A & <b>B</b> – C \\" D 1-0')
    for _ in range(3):
        tab.page.keyboard.press("ArrowRight")
    tab.button("What would you do here?").click()
    advice = tab.page.get_by_role("region", name="Advice")
    expect(advice).to_contain_text("Knowing only what Black knew")
    expect(tab.button("What would you do here?")).to_be_disabled()
    assert tab.page.locator("#black .arrow").count() >= 1
    tab.page.keyboard.press("ArrowLeft")
    expect(advice).to_have_count(0)
    tab.button("Analyse the game").click()
    expect(tab.page.locator("#method")).to_contain_text("Analysis: by Quick")
    expect(advice).to_be_visible()
    expect(tab.button("Analyse the game")).to_be_hidden()
    expect(tab.status).to_have_text("")
    tab.page.keyboard.press("End")
    expect(tab.button("What would you do here?")).to_be_disabled()
    tab.page.reload()  # the server has kept it
    expect(tab.page.locator("#method")).to_contain_text("Analysis: by Quick")


def test_games_of_a_file_are_listed_with_their_worst_moments(tab: LookTab, tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text(f"{SHORT_GAME}\n\n1. d4 *\n\n1. e4 e5 2. Ke3 *\n", encoding="utf-8")
    page = tab.page
    page.goto(tab.url)
    page.locator("#file").set_input_files(path)
    games = page.get_by_role("list", name="Games of the file")
    expect(games.locator("> li")).to_have_text(
        [re.compile(r"^A & <b>B</b> – C \\\" D1-0.*unseen$"), "? – ?*"]
    )
    expect(page.locator("#file-faults")).to_have_text("game 3, ply 3: 'Ke3' can't be played here")
    moment = games.get_by_role("link", name="3. Qxe8# captured Black's king, unseen")
    moment.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/look/*#4")
    page.wait_for_selector("#moves li")
    assert tab.ply == 4
    page.goto(tab.url)  # now there is a document, which knows the move that lost most
    moments = page.locator("#games").get_by_role("list", name="Worst moments").locator("li")
    expect(moments).to_have_text([re.compile("lost .* points of 100"), re.compile("king")])


@pytest.mark.slow
def test_texts_of_a_file_stay_texts(tab: LookTab, tmp_path: Path) -> None:
    tab.open_file(f'[White "{HOSTILE}"]\n\n1. e4 {{ {HOSTILE} }} *\n', tmp_path)
    tab.page.keyboard.press("End")
    assert tab.page.locator("#players").inner_text() == f"{HOSTILE} – ? *"
    assert HOSTILE in tab.page.locator("#details").inner_text()
    assert tab.page.locator("img").count() == 0


@pytest.mark.slow
def test_an_unknown_game_is_said_to_be_unknown(tab: LookTab) -> None:
    tab.page.goto(f"{tab.url}/look/abcdefghijkl")
    expect(tab.page.locator("#loading")).to_have_text("there is no such game")
