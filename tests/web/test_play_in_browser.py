"""Games in a real browser against scripted engines: by mouse, keys, touch and words."""

from __future__ import annotations

import re

import chess
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from obscuro.engine.strength import LEVELS
from obscuro.rules.board import FogOfWarBoard
from tests.sizes import quick_among
from tests.web.board_page import BoardPage
from tests.web.served_app import ServedApp

# Black has three moves after Qf7, and the queen captures the king after each.
WON = "7k/8/5QK1/8/8/8/8/8 w - - 0 1"
PROMOTION = "7k/4P3/8/8/8/8/8/K7 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
CASTLING = "k4r2/8/8/8/8/8/8/4K2R w K - 0 1"  # f1, which the king passes, is attacked
LONE_PAWN = "k7/8/8/8/4P3/8/8/K7 w - - 0 1"  # Black has nothing that it could capture
BLACK_TO_MOVE = "4k3/4p3/8/8/8/8/8/K7 b - - 0 1"
TWO_KNIGHTS = "k7/8/8/8/8/2N5/8/K5N1 w - - 0 1"  # both reach e2
_FIND = """async ([text, moves, seen]) => {
  const {findTypedMove} = await import("obscuro/typed_moves.js");
  const {squaresOf} = await import("obscuro/game.js");
  return findTypedMove(text, moves, squaresOf(seen));
}"""
TYPED: dict[str, dict[str, str | None]] = {
    chess.STARTING_FEN: {"e4": "e2e4", "e2-e4": "e2e4", "Nf3!": "g1f3", "nc3": "b1c3"},
    "4k3/8/8/3p1p2/4P3/8/8/R3K2R w KQ - 0 1": {
        **dict.fromkeys(("O-O", "0-0", "oo", "e1g1", "e1h1", "Kg1"), "e1g1"),
        **dict.fromkeys(("O-O-O", "0-0-0", "e1a1", "Kc1"), "e1c1"),
        **{"exd5": "e4d5", "ed5": "e4d5", "exf5+": "e4f5", "e5": "e4e5", "d5": None},
        **{"Rg1": "h1g1", "Rb1": "a1b1", "Rhf1": "h1f1", "R1f1": "h1f1", "": None},
    },
    "7k/1P6/8/2n5/1P1N4/3B1N2/8/K7 w - - 0 1": {
        **{"b8=Q": "b7b8q", "b8r": "b7b8r", "b7b8n": "b7b8n", "b8": None, "b8=K": None},
        **{"bxc5": "b4c5", "bc5": "b4c5", "Be4": "d3e4", "be4": "d3e4", "Bc5": None},
        **{"Ne5": "f3e5", "N3e5": "f3e5", "Nfe5": "f3e5", "Nd4e6": "d4e6", "N4e6": "d4e6"},
    },
    "7k/8/8/3pP3/8/8/8/K7 w - d6 0 1": {"exd6": "e5d6", "exd6 e.p.": "e5d6", "e5d6": "e5d6"},
}
"""The move in UCI by what is typed in a position; None: it is refused."""


def capture_the_king(board: BoardPage) -> str:
    """Return the square of the king that is seen."""
    board.await_turn()
    king = board.page.get_by_role("gridcell", name="black king")
    name = king.get_attribute("data-square")
    assert name is not None
    return name


def expect_all_named(page: Page) -> None:
    nameless = re.compile(r"^\W*$")
    for role in ("button", "textbox", "combobox", "radio", "checkbox", "link", "gridcell"):
        used = page.get_by_role(role, name=nameless)  # type: ignore[arg-type]
        expect(used).to_have_count(0)


def test_a_newcomer_starts_a_game_and_wins_it_by_drag(board: BoardPage) -> None:
    page = board.page
    page.goto(board.url)
    expect(page.get_by_label("Strength", exact=True).locator("option")).to_have_count(
        len(LEVELS) + 1
    )
    page.get_by_role("radio", name="White").check()
    page.get_by_label("Strength", exact=True).select_option(index=0)
    page.get_by_text("More", exact=True).click()
    page.get_by_label("Start position (FEN)").fill(WON)
    board.button("Play").click()
    page.wait_for_url("**/play/*")
    board.await_turn()
    board.drag("f6", "f7")
    board.await_square("f7, white queen")
    board.drag("f7", capture_the_king(board))
    board.await_result("You won: king captured")
    assert board.fogged() == set()
    link = page.get_by_role("link", name="Look at the game")
    assert re.fullmatch(r"/look/[a-z0-9]{12}", link.get_attribute("href") or "")
    expect(board.sheet).to_contain_text("Qf7")
    page.goto(board.url)
    expect(page.get_by_role("listitem").filter(has_text="White against")).to_contain_text("1-0")


def test_a_game_is_won_by_keys_alone(board: BoardPage) -> None:
    board.new_game(fen=WON)
    board.await_turn()
    board.await_square("f6, white queen")
    board.square("e2").focus()
    board.walk("e2", "f6")
    board.page.keyboard.press("Enter")
    board.await_square("f6, white queen, chosen")
    board.await_square("f7, empty, can go here")
    board.page.keyboard.press("Escape")
    board.await_square("f6, white queen")
    board.page.keyboard.press(" ")
    board.page.keyboard.press("ArrowUp")
    board.page.keyboard.press("Enter")
    board.await_square("f7, white queen")
    king = capture_the_king(board)
    board.page.keyboard.press("Enter")
    board.walk("f7", king)
    board.page.keyboard.press("Enter")
    board.await_result("You won: king captured")
    board.await_news(re.compile(r"You took a king\. You won: king captured\."))


@pytest.mark.slow
def test_a_board_that_is_turned_is_walked_as_it_is_seen(board: BoardPage) -> None:
    board.new_game(fen=BLACK_TO_MOVE, color="black")
    board.await_square("e7, black pawn")
    board.square("e7").focus()
    board.page.keyboard.press("Enter")
    board.page.keyboard.press("ArrowUp")  # towards White, who is above
    board.page.keyboard.press("Enter")
    board.await_square("e6, black pawn")


@pytest.mark.slow
def test_a_screen_reader_clicks_squares_that_the_mouse_goes_through(board: BoardPage) -> None:
    board.new_game()
    board.await_turn()
    for name in ("e2", "e4"):
        board.square(name).dispatch_event("click")
    board.await_square("e4, white pawn")


@pytest.mark.slow
def test_everything_that_can_be_used_has_a_name(board: BoardPage) -> None:
    board.new_game()
    board.await_turn()
    expect(board.page.get_by_role("gridcell")).to_have_count(64)
    expect_all_named(board.page)
    board.page.goto(board.url)
    expect(board.page.get_by_role("link", name="Go on").first).to_be_visible()
    expect_all_named(board.page)
    board.page.go_back()
    board.await_turn()


def test_typed_moves_are_found_among_the_legal_ones(board: BoardPage) -> None:
    board.new_game(fen=TWO_KNIGHTS)
    board.await_turn()
    for text, fault in [
        ("Ne2", "“Ne2” can be more than one move: Nc3e2 or Ng1e2."),
        ("Ng5", "“Ng5” is not a move that you can make here."),
        ("hello", "“hello” is not a move; type one like e4, Nf3, exd5, e8=Q, O-O or e2e4."),
    ]:
        board.type(text)
        expect(board.notice).to_have_text(fault)
    board.type("Nge2")
    board.await_square("e2, white knight")
    expect(board.notice).to_have_text("")
    expect(board.sheet).to_contain_text("Nge2")
    board.await_turn()
    board.type("c3b5")
    board.await_square("b5, white knight")


@pytest.mark.slow
def test_what_can_be_typed(board: BoardPage) -> None:
    page = board.page
    page.goto(board.url)
    for fen, typed in TYPED.items():
        position = FogOfWarBoard(fen)
        moves = [move.uci() for move in position.legal_moves]
        seen = position.fog_fen(chess.WHITE)
        for text, uci in typed.items():
            found = page.evaluate(_FIND, [text, moves, seen])
            assert found["uci"] == uci, text
            assert (found["fault"] is None) == (uci is not None), text


def test_the_fog_is_the_referees(board: BoardPage) -> None:
    board.new_game()
    board.await_turn()
    expected = FogOfWarBoard()
    hidden = chess.SquareSet(~expected.vision_mask(chess.WHITE) & chess.BB_ALL)
    assert board.fogged() == {chess.square_name(square) for square in hidden}
    assert board.page.locator("cg-board square.fog").count() == 32
    assert board.page.locator("cg-board piece.black").count() == 0
    board.type("e4")
    board.await_turn()
    assert all(state["result"] is None for state in board.states)


def test_promotion_asks_for_the_piece(board: BoardPage) -> None:
    board.new_game(fen=PROMOTION)
    board.await_turn()
    board.drag("e7", "e8")
    dialog = board.page.get_by_role("dialog", name="Promote to")
    expect(dialog.get_by_role("button")).to_have_count(4)
    expect(dialog.get_by_role("button", name="queen")).to_be_focused()
    board.page.keyboard.press("Escape")
    board.await_square("e7, white pawn")
    board.click("e7", "e8")
    expect(dialog.get_by_role("button", name="queen")).to_be_focused()
    board.page.keyboard.press("Tab")
    expect(dialog.get_by_role("button", name="knight")).to_be_focused()
    board.page.keyboard.press("Enter")
    board.await_square("e8, white knight")
    expect(board.sheet).to_contain_text("e8=N")


@pytest.mark.slow
def test_a_typed_promotion_names_the_piece(board: BoardPage) -> None:
    board.new_game(fen=PROMOTION)
    board.await_turn()
    board.type("e8")
    expect(board.notice).to_contain_text("more than one move: e8=Q or")
    board.type("e8=R")
    board.await_square("e8, white rook")


@pytest.mark.slow
def test_en_passant_takes_the_pawn_that_passed(board: BoardPage) -> None:
    board.new_game(fen=EN_PASSANT)
    board.await_turn()
    board.await_square("d5, black pawn")
    board.drag("e5", "d6")
    board.await_square("d6, white pawn")
    expect(board.page.get_by_role("gridcell", name="black pawn")).to_have_count(0)
    expect(board.page.locator("#own-row")).to_contain_text("has taken: pawn")
    expect(board.sheet).to_contain_text("exd6")


@pytest.mark.parametrize("target", quick_among(["g1", "h1"], lambda target: target == "g1"))
def test_the_king_castles_through_an_attack(board: BoardPage, target: str) -> None:
    board.new_game(fen=CASTLING)
    board.await_turn()
    board.drag("e1", target)
    board.await_square("g1, white king")
    board.await_square("f1, white rook")
    expect(board.sheet).to_contain_text("O-O")


@pytest.mark.parametrize("typed", ["", "O-O"])
def test_the_king_castles_to_its_rook_in_chess960(board: BoardPage, typed: str) -> None:
    board.new_game(fen="k7/8/8/8/8/8/8/R1K1R3 w EA - 0 1")
    board.await_turn()
    if typed:
        board.type(typed)
    else:
        board.drag("c1", "e1")
    board.await_square("g1, white king")
    board.await_square("f1, white rook")
    board.await_square("a1, white rook")
    expect(board.sheet).to_contain_text("O-O")


def test_a_premove_is_made_when_the_turn_comes(board: BoardPage, server: ServedApp) -> None:
    board.new_game()
    board.await_ready()
    with server.engine.frozen():
        board.type("e4")
        board.await_turn("Black thinks …")
        board.type("Nf3")
        expect(board.notice).to_have_text("It is not your turn yet.")
        board.drag("d2", "d4")
        premove = board.page.locator("cg-board square.current-premove").filter(visible=True)
        expect(premove).to_have_count(2)
    board.await_square("d4, white pawn")
    expect(premove).to_have_count(0)


@pytest.mark.slow
def test_a_premove_is_dropped_by_a_click_or_where_it_became_illegal(
    board: BoardPage, server: ServedApp
) -> None:
    board.new_game(fen=LONE_PAWN)
    board.await_ready()
    premove = board.page.locator("cg-board square.current-premove").filter(visible=True)
    with server.engine.frozen():
        board.type("Ka2")
        board.await_turn("Black thinks …")
        board.drag("e4", "f5")
        expect(premove).to_have_count(2)
        board.click("h1")
        expect(premove).to_have_count(0)
        board.drag("e4", "f5")
        expect(premove).to_have_count(2)
    board.await_turn()
    expect(premove).to_have_count(0)
    board.await_square("e4, white pawn")
    assert [state["ply"] for state in board.states][-1] == 2


@pytest.mark.slow
def test_a_premove_promotes_to_a_queen(board: BoardPage, server: ServedApp) -> None:
    board.new_game(fen=PROMOTION)
    board.await_ready()
    with server.engine.frozen():
        board.type("Ka2")
        board.await_turn("Black thinks …")
        board.square("e7").focus()
        board.page.keyboard.press("Enter")
        board.page.keyboard.press("ArrowUp")
        board.page.keyboard.press("Enter")
        board.await_news("Premove from e7 to e8.")
    board.await_square("e8, white queen")


@pytest.mark.slow
def test_a_clock_of_ones_own_is_kept_for_the_next_game(board: BoardPage) -> None:
    page = board.page
    page.goto(board.url)
    page.get_by_label("Time", exact=True).first.select_option(label="Another clock …")
    page.get_by_label("Minutes").fill("2.5")
    page.get_by_label("Seconds a move").fill("4")
    page.get_by_role("radio", name="Black").check()
    board.button("Play").click()
    expect(page.get_by_role("timer", name="Clock of Black")).to_have_text("2:30")
    game = page.url
    page.goto(board.url)
    expect(page.get_by_label("Minutes")).to_have_value("2.5")
    expect(page.get_by_role("radio", name="Black")).to_be_checked()
    page.goto(game)
    board.await_turn()


@pytest.mark.slow
def test_clocks_count_down_and_turn_red(board: BoardPage, server: ServedApp) -> None:
    board.new_game(time={"base": 5, "increment": 0})
    board.await_turn()
    clock = board.page.get_by_role("timer", name="Clock of White")
    expect(clock).to_have_text("0:05.0")
    expect(clock).not_to_contain_class("running")
    board.type("e4")
    expect(clock).to_contain_class("running")
    expect(clock).to_contain_class("low")
    expect(clock).to_have_text(re.compile(r"0:0[0-4]\.\d"))
    server.skipped += 4.9
    board.button("Offer draw").click()  # the server looks at its clock
    board.await_result(re.compile("You lost: .* on time"))


def test_moves_are_taken_back_where_that_was_chosen(board: BoardPage) -> None:
    board.new_game(takebacks=True)
    board.await_turn()
    expect(board.button("Take back")).to_be_disabled()
    board.type("e4")
    board.await_square("e4, white pawn")
    board.await_turn()
    board.button("Take back").click()
    board.await_square("e2, white pawn")
    board.await_news(re.compile("Moves were taken back"))
    board.await_turn()


def test_draw_resignation_and_rematch(board: BoardPage) -> None:
    game = board.new_game()
    board.await_turn()
    expect(board.button("Take back")).to_be_hidden()
    expect(board.button("Resign")).to_have_count(0)
    board.type("e4")
    board.await_square("e4, white pawn")
    board.await_turn()
    board.button("Offer draw").click()
    expect(board.page.locator("#note")).to_contain_text("declines")
    board.button("Resign").click()
    expect(board.button("Yes")).to_be_focused()
    board.page.keyboard.press("Escape")
    expect(board.button("Resign")).to_be_focused()
    board.button("Resign").click()
    board.button("Yes").click()
    board.await_result("You lost: White resigned")
    board.button("Rematch").click()
    board.page.wait_for_url(lambda url: "/play/" in url and game not in url)
    expect(board.page.locator("#own-row")).to_contain_text("You, Black")
    board.await_turn()  # White has moved
    top, bottom = board.center("e1"), board.center("e8")
    assert top[1] < bottom[1]
    board.button("Flip").click()
    assert board.center("e1")[1] > board.center("e8")[1]


@pytest.mark.slow
def test_a_game_without_moves_is_aborted(board: BoardPage) -> None:
    board.new_game()
    board.await_turn()
    board.button("Abort").click()
    board.button("Yes").click()
    board.await_result("No result: aborted")


@pytest.mark.slow
def test_sounds_are_off_until_they_are_switched_on(board: BoardPage) -> None:
    board.new_game()
    expect(board.button("Sound")).to_have_attribute("aria-pressed", "false")
    board.button("Sound").click()
    board.page.reload()
    expect(board.button("Sound")).to_have_attribute("aria-pressed", "true")


@pytest.mark.slow
def test_two_engines_are_started_as_the_form_says(board: BoardPage) -> None:
    page = board.page
    wishes: list[object] = []

    def answer(route: Route) -> None:
        wishes.append(route.request.post_data_json)
        route.fulfill(status=201, json={"game": "a" * 12})

    page.route("**/api/matches", answer)
    page.route_web_socket("**/ws/look/*", lambda _: None)  # there is no such match to watch
    page.goto(board.url)
    page.get_by_label("White", exact=True).last.select_option(label="Full strength")
    page.get_by_label("Black", exact=True).last.select_option(index=1)
    page.get_by_label("Time", exact=True).last.select_option(label="5 s a move")
    board.button("Watch").click()
    page.wait_for_url("**/look/aaaaaaaaaaaa")
    assert wishes == [{"white": None, "black": LEVELS[1].number, "move": 5}]


@pytest.mark.slow
def test_a_wrong_position_is_refused_in_words(board: BoardPage) -> None:
    board.page.goto(board.url)
    board.page.get_by_text("More", exact=True).click()
    board.page.get_by_label("Start position (FEN)").fill("nonsense")
    board.button("Play").click()
    expect(board.notice).not_to_be_empty()
    assert board.page.url == f"{board.url}/"
    assert "400" in board.faults.pop()  # the browser's own line about the answer


def test_on_a_phone_the_board_has_the_width_and_taps_move(
    browser: Browser, server: ServedApp
) -> None:
    context = browser.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True
    )
    board = BoardPage(context, server.url)
    try:
        board.new_game()
        board.await_turn()
        box = board.page.locator("#board").bounding_box()
        assert box is not None and box["width"] >= 340
        assert board.page.evaluate("document.documentElement.scrollWidth") <= 360
        for name in ("e2", "e4"):
            board.page.touchscreen.tap(*board.center(name))
        board.await_square("e4, white pawn")
        board.page.goto(server.url)
        expect(board.button("Play")).to_be_visible()
        assert board.page.evaluate("document.documentElement.scrollWidth") <= 360
    finally:
        board.leave()
    assert board.faults == []
