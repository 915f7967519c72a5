"""The page of the opening trees in a real browser, by keys, by taps, on a phone, by its address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chess
import pytest
from playwright.sync_api import Page, expect

from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.html_page import explorer_page
from obscuro.viewer.opening_tree import ShownTrees, played_line, tree_of
from tests.browser import browser_or_skip
from tests.viewer.test_opening_tree import GAMES

HOSTILE = "</script><img src=x onerror='document.title=1'>"


def written(folder: Path, text: str) -> Path:
    lines = [
        played_line(game, f"{HOSTILE} {number}")
        for number, game in enumerate(games_of_text(text).games)
    ]
    page = explorer_page(
        ShownTrees(
            title=HOSTILE,
            games=len(lines),
            faults=2,
            stopped="",
            most=1000,
            white=tree_of(lines, chess.WHITE),
            black=tree_of(lines, chess.BLACK),
            whole=tree_of(lines, None),
        )
    )
    path = folder / "openings.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    path = written(tmp_path_factory.mktemp("page"), GAMES)
    with browser_or_skip() as browser:
        page = browser.new_page()
        page.goto(path.as_uri())
        yield page


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """The page at its start. Nothing may fail in it or be loaded."""
    faults: list[str] = []
    requests: list[str] = []
    tab.on("console", lambda message: faults.append(message.text))
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.on("request", lambda request: requests.append(request.url))
    tab.set_viewport_size({"width": 1280, "height": 800})
    tab.evaluate("location.hash = ''")
    tab.reload()
    tab.keyboard.press("1")
    yield tab
    assert faults == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert tab.title() == HOSTILE


def rows(page: Page) -> list[str]:
    return page.locator(".branch .label").all_inner_texts()


def boards(page: Page) -> list[str]:
    return page.locator("#boards strong").all_inner_texts()


def test_keys_walk_through_what_white_saw(page: Page) -> None:
    assert rows(page) == ["1. e4", "1. d4"]
    assert boards(page) == ["As White saw it", "As it was"]
    page.keyboard.press("ArrowRight")
    assert rows(page) == ["nothing new", "sees pawn d5"]
    expect(page.locator("#question")).to_have_text("What White then saw")
    page.keyboard.press("Enter")
    assert rows(page) == ["2. Nf3"]
    expect(page.locator("#summary")).to_have_text(
        "2 games: White won 1, drawn 0, Black won 1. White scored 50\u00a0%."
    )
    expect(page.locator("figcaption span").last).to_have_text("the commonest of 2, in 1 game of 2")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert rows(page) == []  # a single game is not followed
    assert page.locator("#boards figure").first.locator("[data-piece='d5p']").count() == 1
    page.keyboard.press("Home")
    assert rows(page) == ["1. e4", "1. d4"]


def test_the_other_trees(page: Page) -> None:
    page.keyboard.press("2")
    assert rows(page) == ["nothing new"]
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    assert rows(page) == ["1… a5", "1… g6", "1… d5"]
    assert boards(page) == ["As White saw it", "As it was", "As Black saw it"]
    expect(page.locator("#question")).to_have_text("Black to move")


def test_the_address_holds_the_place_and_what_is_not_there_is_left(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    assert page.url.endswith("#white/0")
    page.evaluate("location.hash = '#whole/0/1/99'")
    expect(page.locator("#path [aria-current]")).to_have_text("1… g6")
    page.locator("#path button").first.click()
    expect(page.locator("#path [aria-current]")).to_have_text("Start")


def test_a_single_game_is_named_and_no_text_becomes_markup(page: Page) -> None:
    page.keyboard.press("3")
    page.locator(".branch").first.click()
    expect(page.locator(".branch .named").first).to_have_text(f"a – b 1-0 ({HOSTILE} 0)")
    page.locator(".branch").first.click()
    expect(page.locator("#rest")).to_contain_text("1 game went on from here")
    assert page.locator("img").count() == 0
    expect(page.locator("#event")).to_have_text("4 games · 2 more can't be read")


def test_nothing_is_wider_than_a_phone_and_rows_fit_a_thumb(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for key in ("1", "2", "3"):
        page.keyboard.press(key)
        page.locator(".branch").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for row in page.locator(".branch").all():
            box = row.bounding_box()
            assert box is not None and box["height"] >= 40
