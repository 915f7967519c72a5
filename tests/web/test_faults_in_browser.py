"""What a player sees when something breaks: the connection, the tab, the server or the engine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, WebSocketRoute, expect

from tests.web.board_page import BoardPage
from tests.web.served_app import ServedApp, served_app

LOST = re.compile("The connection is lost")


class Cable:
    """The connection of a tab, which can be pulled out and put back."""

    def __init__(self, board: BoardPage) -> None:
        self.is_cut = False
        self._open: list[WebSocketRoute] = []
        board.page.route_web_socket(re.compile("/ws/play/"), self._connect)

    def _connect(self, route: WebSocketRoute) -> None:
        if self.is_cut:
            route.close(code=1001)
        else:
            route.connect_to_server()
            self._open.append(route)

    def cut(self) -> None:
        """Pull it out."""
        self.is_cut = True
        for route in self._open:
            route.close(code=1001)
        self._open.clear()

    def mend(self) -> None:
        """Put it back."""
        self.is_cut = False


def test_a_move_made_without_a_connection_is_sent_when_it_is_back(board: BoardPage) -> None:
    cable = Cable(board)
    board.new_game()
    board.await_turn()
    cable.cut()
    expect(board.notice).to_have_text(LOST)
    board.drag("e2", "e4")
    expect(board.notice).to_contain_text("Your move is sent as soon as it is back")
    board.await_square("e2, white pawn")  # the referee does not know of it yet
    cable.mend()
    board.await_square("e4, white pawn")
    expect(board.notice).to_have_text("")
    board.await_turn()
    expect(board.sheet).to_contain_text("e4")


@pytest.mark.slow
def test_a_move_that_can_no_longer_be_made_is_told_of(board: BoardPage) -> None:
    cable = Cable(board)
    game = board.new_game()
    board.await_turn()
    other = BoardPage(board.page.context, board.url)
    other.open(game)
    other.await_turn()
    cable.cut()
    expect(board.notice).to_have_text(LOST)
    board.drag("e2", "e4")
    other.type("d4")
    other.await_square("d4, white pawn")
    cable.mend()
    board.await_square("d4, white pawn")
    board.await_square("e2, white pawn")
    board.await_turn()  # the engine has answered the other tab's move
    expect(board.notice).to_have_text("Your move could not be made any more.")
    board.type("e3")
    board.await_square("e3, white pawn")
    expect(board.notice).to_have_text("")


@pytest.mark.slow
def test_a_dead_network_is_found_out_by_the_answer_that_does_not_come(board: BoardPage) -> None:
    connections: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        server = route.connect_to_server()
        connections.append(route)
        if len(connections) == 1:
            route.on_message(lambda message: None)  # what the page says gets lost
        else:
            route.on_message(server.send)

    board.page.route_web_socket(re.compile("/ws/play/"), connect)
    board.page.clock.install()
    board.new_game()
    board.await_turn()
    board.type("e4")
    board.page.clock.fast_forward(11_000)
    board.await_square("e4, white pawn")
    assert len(connections) == 2


@pytest.mark.slow
def test_a_refusal_of_the_server_stays_on_the_page(board: BoardPage) -> None:
    words = "the server is full; try later"
    full = True

    def connect(route: WebSocketRoute) -> None:
        if full:
            route.send(json.dumps({"type": "error", "error": words}))
            route.close(code=4429)
        else:
            route.connect_to_server()

    board.page.route_web_socket(re.compile("/ws/play/"), connect)
    board.page.goto(board.url)
    board.page.get_by_role("button", name="Play").click()
    expect(board.notice).to_have_text("The server is full; try later.")
    full = False
    board.await_turn()
    expect(board.notice).to_have_text("")


@pytest.mark.slow
def test_a_browser_that_keeps_nothing_can_play(board: BoardPage) -> None:
    board.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('forbidden'); }})"
    )
    board.page.goto(board.url)
    board.button("Play").click()
    board.await_turn()
    board.button("Sound").click()
    expect(board.button("Sound")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_choices_that_can_not_be_read_are_passed_over(board: BoardPage) -> None:
    for wrong in ("{", "null", "7", '{"level": {}, "time": 3, "minutes": null}'):
        board.page.goto(board.url)
        board.page.evaluate("text => localStorage.setItem('obscuro.choices', text)", wrong)
        board.page.reload()
        expect(board.page.locator("#level option")).not_to_have_count(0)
        expect(board.page.locator("#time")).not_to_have_value("")
    board.button("Play").click()
    board.await_turn()


def test_a_game_can_be_asked_for_when_its_choices_are_there(board: BoardPage) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    board.page.route(re.compile("/api/settings"), hold, times=1)  # the game's page asks, too
    board.page.goto(board.url)
    box = board.button("Play").bounding_box()
    assert box is not None
    board.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(board.notice).to_have_text("")
    assert len(held) == 1
    held[0].continue_()
    board.button("Play").click()
    board.await_turn()
    assert board.unexpected_faults() == []


def test_after_a_reload_the_game_goes_on(board: BoardPage) -> None:
    game = board.new_game()
    board.await_turn()
    board.type("e4")
    board.await_square("e4, white pawn")
    board.page.reload()
    board.await_square("e4, white pawn")
    board.await_turn()
    board.page.goto(board.url)
    board.page.get_by_role("link", name="Go on").click()
    board.page.wait_for_url(f"**/play/{game}")
    board.await_turn()
    board.type("d4")
    board.await_square("d4, white pawn")


@pytest.mark.slow
def test_two_tabs_show_the_same_game(board: BoardPage) -> None:
    game = board.new_game()
    board.await_turn()
    other = BoardPage(board.page.context, board.url)
    other.open(game)
    other.await_turn()
    other.type("e4")
    board.await_square("e4, white pawn")
    board.await_turn()
    board.type("d4")
    other.await_square("d4, white pawn")
    assert other.faults == []


@pytest.mark.slow
def test_two_games_go_on_at_once(board: BoardPage) -> None:
    first = board.new_game()
    board.await_turn()
    other = BoardPage(board.page.context, board.url)
    second = other.new_game(color="black")
    assert first != second
    other.await_turn()
    board.type("e4")
    board.await_square("e4, white pawn")
    other.type("Nf6")
    other.await_square("f6, black knight")
    board.await_turn()
    other.await_turn()
    other.button("Resign").click()
    other.button("Yes").click()
    other.await_result("You lost: Black resigned")
    board.type("d4")
    board.await_square("d4, white pawn")
    assert other.faults == []


def test_nobody_else_sees_the_game(browser: Browser, board: BoardPage) -> None:
    game = board.new_game()
    board.await_turn()
    stranger = BoardPage(browser.new_context(), board.url)
    stranger.page.goto(f"{board.url}/play/{game}")
    expect(stranger.notice).to_contain_text("There is no such game here")
    assert all(state["type"] == "error" for state in stranger.states)
    stranger.page.context.close()


@pytest.mark.slow
def test_the_game_goes_on_after_the_server_was_stopped(browser: Browser, tmp_path: Path) -> None:
    with served_app(tmp_path) as server:
        board = BoardPage(browser.new_context(), server.url)
        board.new_game()
        board.await_turn()
        board.type("e4")
        board.await_square("e4, white pawn")
        board.await_turn()
        server.stop()
        expect(board.notice).to_have_text(LOST)
        server.start()
        expect(board.notice).to_have_text("")
        board.type("d4")
        board.await_square("d4, white pawn")
        board.await_square("e4, white pawn")
        board.await_turn()
        expect(board.sheet.get_by_role("row")).to_have_count(2)
        assert board.unexpected_faults() == []
        board.leave()


@pytest.mark.slow
def test_an_engine_that_died_in_mid_move_is_started_anew(
    board: BoardPage, server: ServedApp
) -> None:
    board.new_game()
    board.await_ready()
    with server.engine.frozen(dies=True):
        board.type("e4")
        board.await_turn("The engine starts anew …")
    board.await_turn()
    board.type("d4")
    board.await_square("d4, white pawn")
