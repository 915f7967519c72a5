"""The report in a real browser, as wide as a desk and as narrow as a phone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from obscuro.matches.report_page import report_html
from tests.browser import browser_or_skip
from tests.matches.made_up import HOSTILE, sample_standings

PHONE, DESK = 390, 1280

STICKING_OUT = """() => [...document.querySelectorAll("svg text")].filter(text => {
    const inner = text.getBoundingClientRect();
    const outer = text.ownerSVGElement.getBoundingClientRect();
    return inner.left < outer.left - 1 || inner.right > outer.right + 1
        || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
}).map(text => text.textContent)"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The report of the sample."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_html(sample_standings(), "Played.", complete=True), encoding="utf-8")
    with browser_or_skip() as browser:
        page = browser.new_page()
        requests: list[str] = []
        faults: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path.as_uri())
        yield page
        assert requests == [path.as_uri()]
        assert faults == []


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_sticks_out(tab: Page, width: int) -> None:
    tab.set_viewport_size({"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate(STICKING_OUT) == []


def test_plots_can_be_read_on_a_phone(tab: Page) -> None:
    tab.set_viewport_size({"width": PHONE, "height": 800})
    heights = tab.locator("svg text").evaluate_all(
        "all => all.map(text => text.getBoundingClientRect().height)"
    )
    assert min(heights) > 10


def test_labels_of_an_axis_do_not_run_into_each_other(tab: Page) -> None:
    boxes = tab.locator("svg text.tick").evaluate_all(
        "all => all.map(text => [text.ownerSVGElement.getAttribute('aria-label'),"
        " text.getBoundingClientRect()]).map(([plot, box]) =>"
        " [plot, box.left, box.right, box.top, box.bottom])"
    )
    for index, (plot, left, right, top, bottom) in enumerate(boxes):
        for other, begin, end, above, below in boxes[:index]:
            apart = left >= end or right <= begin or top >= below - 2 or bottom <= above + 2
            assert other != plot or apart


def test_the_page_is_dark_where_the_reader_wants_it(tab: Page) -> None:
    def brightness(scheme: str) -> int:
        tab.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        color = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(one) for one in color.strip("rgb()").split(", "))

    assert brightness("light") > 600
    assert brightness("dark") < 150


def test_a_hostile_name_is_only_shown(tab: Page) -> None:
    assert tab.title() == "A made-up tournament"
    assert tab.locator("img").count() == 0
    assert tab.locator("td.name", has_text=HOSTILE).count() >= 2


def test_the_list_of_games_opens(tab: Page) -> None:
    row = tab.locator("details tbody tr").first
    assert not row.is_visible()
    tab.locator("summary").click()
    assert row.is_visible()
