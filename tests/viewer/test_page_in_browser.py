"""The page in a real browser: it is opened from a file, and used by keys, clicks and its address."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import chess
import pytest
from playwright.sync_api import Locator, Page, expect

from obscuro.evaluation.scale import TAU
from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.document import GameDocument
from obscuro.viewer.html_page import html_page
from obscuro.viewer.make_document import make_document
from tests.browser import browser_or_skip
from tests.viewer.recorded import SHORT_GAME, analysed, game_of

_TWO_FRAMES = """() => new Promise(done => {
  requestAnimationFrame(() => requestAnimationFrame(done));
})"""
HOSTILE = "</script><img src=x onerror='document.title=1'>"


class OpenPage:
    """A page, what it wrote to the console, and what it asked the network for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.faults.append(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path, hash_: str = "", width: int = 1280) -> Page:
        """Open a file anew, in a window of this width."""
        self.page.set_viewport_size({"width": width, "height": 800})
        self.page.goto("about:blank")
        self.page.goto(f"{path.as_uri()}{hash_}")
        self.page.wait_for_selector("#moves li")
        return self.page


@pytest.fixture(scope="module")
def tab() -> Iterator[OpenPage]:
    """One page for all tests, because to make one takes longer than most tests."""
    with browser_or_skip() as browser:
        yield OpenPage(browser.new_page())


@pytest.fixture
def opened(tab: OpenPage) -> Iterator[OpenPage]:
    """The page. Whatever a test does, nothing may fail in it or leave it."""
    tab.faults.clear()
    tab.requests.clear()
    yield tab
    assert tab.faults == []
    assert tab.requests
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "about:"))] == []


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    path = folder / "game.html"
    document = make_document(game_of(SHORT_GAME, folder), 1000)
    path.write_text(html_page(document), encoding="utf-8")
    return path


def pieces(page: Page, board: str) -> set[str]:
    """The pieces that a board shows for certain, such as `e4P`."""
    found = page.locator(f"#{board} [data-piece]").evaluate_all(
        "all => all.map(each => each.dataset.piece)"
    )
    assert len(found) == len(set(found))
    return set(found)


def pieces_of(board: chess.BaseBoard) -> set[str]:
    return {chess.square_name(at) + piece.symbol() for at, piece in board.piece_map().items()}


def fogged(page: Page, board: str) -> set[str]:
    return set(
        page.locator(f"#{board} .fog").evaluate_all("all => all.map(each => each.dataset.square)")
    )


def hidden(board: FogOfWarBoard, side: chess.Color) -> set[str]:
    squares = chess.SquareSet(~board.vision_mask(side) & chess.BB_ALL)
    return {chess.square_name(square) for square in squares}


def heat(page: Page, board: str) -> dict[str, int]:
    """The levels that a board shows, in 255ths, by square."""
    found = page.locator(f"#{board} .heat").evaluate_all(
        "all => all.map(each => [each.dataset.heat, Number(each.dataset.level)])"
    )
    return dict(found)


def arrows(page: Page, board: str) -> set[str]:
    return set(
        page.locator(f"#{board} .arrow").evaluate_all("all => all.map(each => each.dataset.arrow)")
    )


def click_square(page: Page, name: str) -> None:
    box = page.locator(f'#black [data-square="{name}"]').bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def ply(page: Page) -> int:
    return int(page.locator("#ply").input_value())


def test_every_ply_shows_the_three_boards(opened: OpenPage, written: Path) -> None:
    page = opened.open(written)
    board = FogOfWarBoard()
    for step, san in enumerate(["e4", "f6", "Qh5", "a6", "Qxe8", None]):
        assert ply(page) == step
        assert pieces(page, "truth") == pieces_of(board)
        for name, side in (("white", chess.WHITE), ("black", chess.BLACK)):
            assert pieces(page, name) == pieces_of(board.fogged(side))
            assert fogged(page, name) == hidden(board, side)
        if san is not None:
            board.push_san(san)
            page.keyboard.press("ArrowRight")


def test_keys_buttons_the_slider_and_the_list_choose_a_ply(opened: OpenPage, written: Path) -> None:
    page = opened.open(written)
    for key, expected in [("End", 5), ("ArrowLeft", 4), ("Home", 0), ("ArrowLeft", 0)]:
        page.keyboard.press(key)
        assert ply(page) == expected
    page.get_by_role("button", name="One ply on").click()
    page.keyboard.press("ArrowRight")  # the button has the focus; the key works all the same
    assert ply(page) == 2
    page.get_by_role("button", name="2. Qh5").click()
    assert ply(page) == 3
    assert page.locator("#moves [aria-current]").inner_text() == "Qh5"
    page.get_by_role("slider").focus()
    page.keyboard.press("ArrowLeft")
    assert ply(page) == 2
    page.keyboard.press("f")
    assert page.get_by_role("button", name="Flip").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Start of the game").focus()
    page.keyboard.press("Enter")
    assert ply(page) == 0
    assert page.get_by_role("button", name="One ply back").is_disabled()


def test_the_address_names_the_ply(opened: OpenPage, written: Path) -> None:
    page = opened.open(written, "#3")
    assert ply(page) == 3
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#4")
    page.evaluate("location.hash = '#1'")
    page.wait_for_function("document.getElementById('ply').value === '1'")
    for strange, shown in [("99", 5), ("-3", 0), ("1.5", 0), ("<b>", 0)]:
        page.evaluate("strange => location.hash = strange", strange)
        page.wait_for_function(f"document.getElementById('ply').value === '{shown}'")


def test_a_belief_is_a_heat_map_of_the_piece_that_is_asked_for(
    opened: OpenPage, written: Path
) -> None:
    page = opened.open(written, "#1")
    # White has seen all of its own first move. Black knows that White made one of 20.
    assert heat(page, "white")["e8"] == 255
    shown = heat(page, "black")
    assert 0 < shown["e2"] < 255 and "e4" in shown
    assert shown["a1"] == 255
    page.get_by_role("button", name="King").click()
    assert heat(page, "black") == {"e1": 255}
    page.keyboard.press("b")
    assert heat(page, "black") == {}
    assert page.get_by_role("button", name="Off").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Knight").click()
    assert set(heat(page, "black")) == {"b1", "g1", "a3", "c3", "f3", "h3"}
    assert "20 positions" in page.locator("#black figcaption").inner_text()


def weighted_shares(document: GameDocument, ply: int) -> list[int]:
    """The shares of any piece that the document tells of Black's belief by its weights."""
    belief = document["positions"][ply]["black"]["belief"]
    assert belief is not None and belief["weighted"] is not None
    return list(base64.b64decode(belief["weighted"]["shares"])[:64])


def test_positions_count_alike_or_by_how_plausibly_the_opponent_played(
    opened: OpenPage, tmp_path: Path
) -> None:
    document = make_document(game_of(SHORT_GAME, tmp_path), 1000)
    path = tmp_path / "weighted.html"
    path.write_text(html_page(document), encoding="utf-8")
    page = opened.open(path, "#1")
    alike = page.get_by_role("button", name="All alike")
    plausible = page.get_by_role("button", name="By plausible play")
    expect(alike).to_have_attribute("aria-pressed", "true")
    before = heat(page, "black")
    click_square(page, "e2")
    plausible.click()
    expect(plausible).to_have_attribute("aria-pressed", "true")
    shown = heat(page, "black")
    assert shown.keys() == before.keys() and shown != before
    shares = weighted_shares(document, 1)
    assert shown == {name: shares[chess.parse_square(name)] for name in shown}
    assert "pawn 90 %" not in page.locator("#square").inner_text()
    assert page.locator("#unweighted").inner_text() == ""
    told = page.locator("#details").inner_text()
    assert re.search(r"to Black\s+5 % alike, \d+ % by plausible play", told)
    page.keyboard.press("w")
    assert heat(page, "black") == before
    expect(alike).to_have_attribute("aria-pressed", "true")


def test_a_belief_without_weights_is_shown_as_even_and_the_page_says_so(
    opened: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obscuro.belief.posterior.MOST_WEIGHTED", 4)
    path = tmp_path / "cut.html"
    path.write_text(html_page(make_document(game_of(SHORT_GAME, tmp_path), 5)), encoding="utf-8")
    page = opened.open(path, "#1")
    before = heat(page, "black")
    assert page.locator("#unweighted").inner_text() == ""
    page.get_by_role("button", name="By plausible play").click()
    assert heat(page, "black") == before
    # White knows its one position for certain, and lacks nothing.
    assert page.locator("#unweighted").inner_text() == "no weights for Black: all alike"
    page.get_by_role("button", name="As White", exact=True).click()
    assert page.locator("#unweighted").inner_text() == ""


def test_a_square_tells_what_both_sides_believed_of_it(opened: OpenPage, written: Path) -> None:
    page = opened.open(written, "#1")
    click_square(page, "e2")
    told = page.locator("#square").inner_text()
    assert told.startswith("e2 White: in sight · Black: pawn 90 %, empty 10 %")
    page.keyboard.press("f")
    click_square(page, "e2")
    assert page.locator("#square").inner_text() == ""  # the same square again


def test_a_flipped_board_shows_the_same_from_the_other_side(
    opened: OpenPage, written: Path
) -> None:
    page = opened.open(written, "#2")
    before = {name: pieces(page, name) for name in ("white", "truth", "black")}
    low = page.locator('#truth [data-piece="a1R"]').bounding_box()
    page.keyboard.press("f")
    high = page.locator('#truth [data-piece="a1R"]').bounding_box()
    assert low is not None and high is not None and low["y"] > high["y"]
    assert {name: pieces(page, name) for name in before} == before


def test_the_policy_is_shown_by_arrows_on_the_movers_board(opened: OpenPage, written: Path) -> None:
    page = opened.open(written)
    assert arrows(page, "white") == {"e2e4", "d2d4", "g1f3"}
    assert arrows(page, "black") == set()
    assert arrows(page, "truth") == {"e2e4"}
    assert page.locator("#white .arrow.played").count() == 1
    assert page.locator("#white .arrow-label").all_text_contents() == ["5", "20", "75"]
    assert "75 %" in page.locator("#details .policy").inner_text()
    page.keyboard.press("ArrowRight")
    assert (arrows(page, "white"), arrows(page, "black")) == (set(), {"f7f6", "e7e5"})
    page.keyboard.press("a")
    assert arrows(page, "black") == arrows(page, "truth") == set()


def place(curve: Locator, ply: int, height: float) -> tuple[float, float]:
    """Where a ply is in a curve, in the window. height: 0 = the low end of the axis, 1 = the high.

    The game has five plies.
    """
    box = curve.locator(".u-over").bounding_box()
    assert box is not None
    return box["x"] + box["width"] * ply / 5, box["y"] + box["height"] * (1 - height)


def shows(page: Page, curve: Locator, ply: int, height: float, name: str) -> bool:
    """Whether the canvas has a colour of the style sheet there, but for rounding."""
    wanted = color_of(page, name)
    found = color_at(curve, ply, height)
    return all(abs(one - other) <= 3 for one, other in zip(wanted, found, strict=True))


def color_at(curve: Locator, ply: int, height: float) -> list[int]:
    """The colour that the canvas shows there; black where nothing is drawn."""
    x, y = place(curve, ply, height)
    script = """(canvas, [x, y]) => {
        const box = canvas.getBoundingClientRect();
        const scale = canvas.width / box.width;
        const [column, row] = [scale * (x - box.left), scale * (y - box.top)].map(Math.round);
        const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, -column, -row);
        const found = copy.getImageData(0, 0, 1, 1).data;
        return [...found].slice(0, 3);
    }"""
    color: list[int] = curve.locator("canvas").evaluate(script, [x, y])
    return color


def color_of(page: Page, name: str) -> list[int]:
    """A colour of the style sheet, as the browser shows it."""
    script = """name => {
        const probe = document.createElement("i");
        probe.style.color = `var(${name})`;
        document.body.append(probe);
        const color = getComputedStyle(probe).color;
        probe.remove();
        return color.match(/\\d+/g).map(Number);
    }"""
    color: list[int] = page.evaluate(script, name)
    return color


def test_a_click_on_a_curve_goes_to_its_ply(opened: OpenPage, written: Path) -> None:
    page = opened.open(written)
    titles = page.locator(".curve strong").all_inner_texts()
    assert [title.split()[0] for title in titles] == ["Evaluation,", "|P|:", "Coverage:", "Time"]
    for curve in page.locator(".curve").all():
        page.keyboard.press("End")
        x, y = place(curve, 1, 0.4)
        page.mouse.click(x + 2, y)
        assert ply(page) == 1
        page.mouse.move(0, 0)
        at = curve.locator(".cursor").bounding_box()
        assert at is not None and abs(at["x"] + at["width"] / 2 - x) < 1
    assert "Black 20" in page.locator(".curve").nth(1).inner_text()
    assert "Black +0.10" in page.locator(".curve").nth(0).inner_text()


@pytest.mark.slow
def test_a_tap_on_a_curve_goes_to_its_ply(opened: OpenPage, written: Path) -> None:
    browser = opened.open(written).context.browser
    assert browser is not None
    with browser.new_context(has_touch=True) as context:
        page = context.new_page()
        page.goto(f"{written.as_uri()}#5")
        curve = page.locator(".curve").first
        curve.scroll_into_view_if_needed()
        page.touchscreen.tap(*place(curve, 3, 0.5))
        page.wait_for_function("document.getElementById('ply').value === '3'")


def test_a_curve_reads_out_the_ply_that_the_mouse_points_at(
    opened: OpenPage, written: Path
) -> None:
    page = opened.open(written, "#5")
    beliefs = page.locator(".curve").nth(1).locator(".readout")
    page.mouse.move(*place(page.locator(".curve").nth(0), 1, 0.5))
    expect(beliefs).to_contain_text("Black 20")  # all curves show the same ply
    page.mouse.move(0, 0)
    expect(beliefs).not_to_contain_text("Black 20")
    assert ply(page) == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_curves_are_drawn_where_the_values_are(
    opened: OpenPage, written: Path, scheme: Literal["light", "dark"]
) -> None:
    page = opened.open(written)
    page.emulate_media(color_scheme=scheme)
    page.evaluate(_TWO_FRAMES)  # the curves are drawn anew in the first
    evaluation = page.locator(".curve").first
    # A point of each side, at least two plies from where the cursor is.
    for at, pawns, side in [(2, 1.5, "white"), (3, 0.0, "black")]:
        height = (1 + math.tanh(pawns / TAU)) / 2
        assert shows(page, evaluation, at, height, f"--{side}-side")
    assert color_at(evaluation, 2, 0.1) == [0, 0, 0]
    page.emulate_media(color_scheme="light")


@pytest.mark.slow
def test_a_sample_is_a_ring(opened: OpenPage, tmp_path: Path) -> None:
    """With at most 9 positions, Black's 20 after the first move are a sample."""
    path = tmp_path / "sample.html"
    path.write_text(html_page(make_document(game_of(SHORT_GAME, tmp_path), 9)), encoding="utf-8")
    page = opened.open(path, "#5")
    beliefs = page.locator(".curve").nth(1)
    height = math.log10(9)  # the axis ends at 10
    assert shows(page, beliefs, 1, height, "--card")
    assert shows(page, beliefs, 0, 0.0, "--black-side")  # one position that both know
    page.keyboard.press("ArrowLeft")
    page.mouse.move(*place(beliefs, 1, 0.5))
    expect(beliefs.locator(".readout")).to_contain_text("Black 9 (sample)")


def test_the_move_that_lost_most_is_marked(opened: OpenPage, written: Path) -> None:
    page = opened.open(written)
    assert page.locator(".mark").evaluate_all("all => all.map(each => each.dataset.mark)") == ["3"]
    assert page.locator("#moves .bad").count() == 1
    page.keyboard.press("m")
    assert ply(page) == 3
    expected = "2… a6 lost 50 points: Black expected 50 of 100 before it, and 0 at its next turn."
    assert page.locator("#details .loss").inner_text() == expected
    page.get_by_role("button", name="2… a6 lost 50 points of 100").click()
    assert page.locator("#details .loss").inner_text() == expected


def test_words_and_labels_say_what_the_boards_show(opened: OpenPage, written: Path) -> None:
    page = opened.open(written, "#2")
    details = page.locator("#details").inner_text()
    assert "After 1… f6, White to move" in details and "White plays 2. Qh5" in details
    label = page.locator("#white svg").get_attribute("aria-label")
    assert label is not None
    assert "Pe4" in label and "29 squares in the fog" in label and "Enemy king: e8" in label
    for button in page.get_by_role("button").all():
        assert button.inner_text() or button.get_attribute("aria-label")
    page.keyboard.press("End")
    assert "1-0, king captured" in page.locator("#details").inner_text()


def test_names_from_a_strange_file_are_shown_as_they_are(opened: OpenPage, tmp_path: Path) -> None:
    game = game_of(SHORT_GAME, tmp_path)
    for name in ("White", "Black", "Event", "Result", "Termination"):
        game.headers[name] = HOSTILE
    game.headers["constructor"] = "x"
    game.next().comment = HOSTILE  # type: ignore[union-attr]
    path = tmp_path / "strange.html"
    path.write_text(html_page(make_document(game, 1000)), encoding="utf-8")
    page = opened.open(path, "#1")
    assert page.locator("#players").inner_text() == f"{HOSTILE} – {HOSTILE} {HOSTILE}"
    assert "constructor: x" in page.locator("#event").inner_text()
    assert HOSTILE in page.locator("#details").inner_text()
    assert page.locator("img").count() == 0
    assert page.title() == f"{HOSTILE} – {HOSTILE} {HOSTILE}"


def test_a_game_without_comments_has_boards_and_sizes_only(
    opened: OpenPage, tmp_path: Path
) -> None:
    path = tmp_path / "bare.html"
    document = make_document(
        game_of('[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 7"]\n\nKd7 e4 *', tmp_path), 9
    )
    path.write_text(html_page(document), encoding="utf-8")
    page = opened.open(path, "#1")
    assert page.locator(".curve").count() == 1
    assert arrows(page, "white") == set()
    assert page.locator("#moves button").all_inner_texts() == ["Kd7", "e4"]
    assert "7." in page.locator("#moves li").first.inner_text()


@pytest.mark.slow
def test_the_list_scrolls_to_the_move_and_the_page_stays(opened: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "long.html"
    document = make_document(game_of("Nf3 Nf6 Ng1 Ng8 " * 20, tmp_path), 9)
    path.write_text(html_page(document), encoding="utf-8")
    page = opened.open(path)
    moves = page.locator("#moves").bounding_box()
    for key in ("End", "Home", "ArrowRight"):
        page.keyboard.press(key)
        if key == "Home":
            continue
        current = page.locator("#moves [aria-current]").bounding_box()
        assert moves is not None and current is not None
        assert moves["y"] <= current["y"] < moves["y"] + moves["height"] - current["height"]
    assert page.evaluate("scrollY") == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 820, 1280])
def test_nothing_is_wider_than_the_window(opened: OpenPage, written: Path, width: int) -> None:
    page = opened.open(written, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Three boards").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    tops = {
        box["y"]
        for name in ("white", "truth", "black")
        if (box := page.locator(f"#{name}").bounding_box()) is not None
    }
    assert len(tops) == (3 if width == 390 else 1)


def visible_boards(page: Page) -> list[str]:
    return [name for name in ("white", "truth", "black") if page.locator(f"#{name}").is_visible()]


@pytest.mark.slow
def test_one_board_is_large(opened: OpenPage, written: Path) -> None:
    page = opened.open(written, "#1")
    assert visible_boards(page) == ["white", "truth", "black"]
    small = page.locator("#black svg").bounding_box()
    page.get_by_role("button", name="As Black", exact=True).click()
    assert visible_boards(page) == ["black"]
    large = page.locator("#black svg").bounding_box()
    assert small is not None and large is not None and large["width"] > 1.5 * small["width"]
    assert large["height"] <= 800
    click_square(page, "e2")
    assert "pawn 90 %" in page.locator("#square").inner_text()
    shown = []
    for _ in range(4):
        page.keyboard.press("v")
        shown.append(visible_boards(page))
    assert shown == [["white", "truth", "black"], ["white"], ["truth"], ["black"]]


def test_a_phone_shows_one_board(opened: OpenPage, written: Path) -> None:
    page = opened.open(written, width=390)
    assert visible_boards(page) == ["white"]
    page.get_by_role("button", name="As it was", exact=True).click()
    assert visible_boards(page) == ["truth"]


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same game after an analysis."""
    folder = tmp_path_factory.mktemp("explained")
    path = folder / "game.html"
    document = analysed(make_document(game_of(SHORT_GAME, folder), 1000))
    path.write_text(html_page(document), encoding="utf-8")
    return path


def test_an_analysis_says_what_would_have_been_better_and_why(
    opened: OpenPage, explained: Path
) -> None:
    page = opened.open(explained, "#3")
    expected = "2… a6 lost 38 points: Black could expect 45 of 100 with g6, and 7 with it."
    assert page.locator("#details .loss").inner_text() == expected
    advice = page.get_by_role("region", name="Advice")
    told = advice.inner_text()
    assert "What <b>Analyst</b> would play" in told
    assert "7 (evaluated, not searched) with a6, 45 with g6" in told
    assert "What speaks most for g6" in told
    reasons = advice.get_by_role("button").all()
    assert [reason.get_attribute("aria-label") for reason in reasons] == [
        "g6 44, a6 0: 2 % of the positions weighed, and the true one",
        "g6 50, a6 30: 3 % of the positions weighed, not found by a short look",
    ]
    why = advice.get_by_role("list", name="Why it was a mistake")
    expect(why).to_have_text("On the board a6 lost 50 of 100 points; <i>g6</i> kept them.")
    assert page.locator(".reason").nth(1).locator('[data-piece="g4Q"]').count() == 1
    assert "by <b>Analyst</b>, 1 s a move" in page.locator("#method").inner_text()


@pytest.mark.slow
def test_a_possible_position_is_shown_large(opened: OpenPage, explained: Path) -> None:
    page = opened.open(explained, "#3")
    page.locator(".reason").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator('[data-piece="h5Q"]')).to_have_count(1)
    assert arrows(page, "large") == {"g7g6", "a7a6"}
    page.keyboard.press("ArrowRight")
    assert ply(page) == 3  # the position beneath stays
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.locator(".reason").first.click()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_arrows_are_the_analysis_s_or_the_movers_own(opened: OpenPage, explained: Path) -> None:
    page = opened.open(explained, "#3")
    assert arrows(page, "black") == {"g7g6", "e7e6", "a7a6"}
    page.get_by_role("button", name="of the analysis").click()
    assert arrows(page, "black") == {"a7a6", "g7g6"}
    page.keyboard.press("ArrowLeft")
    assert page.get_by_role("button", name="of the analysis").is_hidden()
