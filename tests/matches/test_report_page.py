"""The report: a page by itself that shows everything and trusts no name; its drawings; the JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.engine.report import Coverage
from obscuro.matches.elo import Elo
from obscuro.matches.event import Entrant
from obscuro.matches.game_record import EVERYTHING
from obscuro.matches.openings import PLAIN
from obscuro.matches.rating import Anchor
from obscuro.matches.report_page import (
    WIDTH,
    Bar,
    Box,
    Curve,
    Dot,
    Drawing,
    Label,
    Line,
    TimedPoint,
    elo_text,
    error_text,
    length_plot,
    notes,
    percent_text,
    place_text,
    points_text,
    rating_plot,
    report_html,
    scaling_plot,
    ticks,
)
from obscuro.matches.result_files import (
    PGN,
    REPORT,
    RESULT,
    read_anchor,
    standings_json,
    state_after,
    write_results,
)
from obscuro.matches.standings import Standings
from tests.matches.made_up import (
    HOSTILE,
    TIMES,
    entrants_named,
    made_up_event,
    played,
    record_of,
    sample_standings,
)


class Reader(HTMLParser):
    """Collects the tags and the texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def html() -> str:
    """The report of the sample."""
    return page(sample_standings())


def page(standings: Standings, *, complete: bool = True) -> str:
    return report_html(standings, "As far as it goes.", complete=complete)


def test_a_page_has_all_sections(html: str) -> None:
    headings = re.findall(r"<h2>(.*?)</h2>|<summary>(.*?)</summary>", html)
    assert [one or other for one, other in headings] == [
        "Ratings",
        "Time",
        "Cross table",
        "Players",
        "Lengths and endings",
        "Openings",
        "Irregular games",
        "All 112 games",
    ]
    assert html.count("<svg") == 3


def test_a_page_needs_nothing_from_elsewhere(html: str) -> None:
    tags = set(Reader(html).tags)
    assert not tags & {"script", "link", "img", "iframe", "object", "base"}
    addresses = set(re.findall(r"\w+://[^\s\"<]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nobody opens
    assert "url(" not in html and "@import" not in html


def test_names_of_players_and_endings_are_text(html: str) -> None:
    assert HOSTILE not in html
    assert Reader(html).texts.count(HOSTILE) >= 4
    assert html.startswith("<!DOCTYPE html>\n<html")


def test_light_and_dark_and_phones_are_provided_for(html: str) -> None:
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    for color in re.findall(r"var\((--[\w-]+)\)", html):
        assert html.count(f"{color}:") >= 2, color  # once for light and once for dark


def test_what_is_broken_off_is_marked(html: str) -> None:
    assert '<p class="warn">As far as it goes.</p>' in page(sample_standings(), complete=False)
    assert '<p class="soft">As far as it goes.</p>' in html
    assert state_after(3, 8, "interrupted") == (
        "Broken off after 3 of 8 games: interrupted.",
        False,
    )
    assert state_after(8, 8) == ("All 8 games are played.", True)


def test_a_tournament_without_games_has_a_page() -> None:
    html = page(Standings(sample_standings().event, {}), complete=False)
    assert "0 of 112 games" in html
    assert "<h2>" not in html


def test_one_game_is_enough_for_a_page() -> None:
    event = made_up_event(entrants_named("a", "b"), 2, [PLAIN])
    html = page(Standings(event, {0: record_of(event, event.tasks[0], 1.0)}))
    assert "took no point from the main field" in html
    assert "<h2>Openings</h2>" not in html


def test_notes_name_the_anchor_and_groups_that_never_met() -> None:
    assert any("The mean of the ratings is 0." in one for one in notes(sample_standings()))
    assert any(
        "engine 250 ms has the rating 1500;" in one
        for one in notes(sample_standings(Anchor(2, 1500)))
    )
    event = made_up_event(entrants_named("a", "b", "c", "d"), 2)
    games = {
        task.number: record_of(event, task, 0.5)
        for task in event.tasks
        if {task.white, task.black} in ({0, 1}, {2, 3})
    }
    assert any("2 groups that never met" in one for one in notes(Standings(event, games)))


def test_coverage_is_shown_if_a_player_told_it() -> None:
    event = made_up_event(entrants_named("a", "b"), 2)
    games = played(event, [0, 0])
    assert "Where the true position was" not in page(Standings(event, games))
    first = games[0]
    told = replace(first.plies[0].turn, coverage=Coverage(True, True, False, 0.25))
    first.plies[0] = replace(first.plies[0], turn=told)
    texts = Reader(page(Standings(event, games))).texts
    row = texts.index("257-2,048")
    assert texts[row - 1 : row + 6] == ["a", "257-2,048", "1", "100.0%", "100.0%", "0.0%", "0.2500"]


def test_settings_of_players_are_shown() -> None:
    told = Entrant("other", "/opt/other", {"Threads": "2"}, None)
    event = made_up_event([told, *entrants_named("a")], 2)
    games = {
        number: replace(game, told=dict.fromkeys((True, False), EVERYTHING))
        for number, game in played(event, [0, 0]).items()
    }
    assert "/opt/other, 200 ms a move, Threads=2, was told everything" in page(
        Standings(event, games)
    )


def test_the_files_agree_with_each_other(tmp_path: Path) -> None:
    found = sample_standings(Anchor(2, 1500))
    write_results(tmp_path, found, state_after(112, 112))
    result = json.loads((tmp_path / RESULT).read_text())
    assert result["complete"] is True
    assert [one["name"] for one in result["players"]] == [
        found.entrants[player].name for player in found.order
    ]
    assert sum(one["points"] for one in result["players"]) == len(result["games"]) == 112
    assert result["players"][0]["rating"]["elo"] == found.ratings.ratings[0].elo
    assert len(result["cross_table"]) == 28
    assert result["time_scaling"][0]["players"] == [f"engine {time} ms" for time in TIMES]
    assert [one["round"] for one in result["games"] if not one["regular"]] == [4]
    assert (tmp_path / PGN).read_text().count("[Event ") == 112
    assert (tmp_path / REPORT).read_text() == report_html(
        found, "All 112 games are played.", complete=True
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([PGN, RESULT, REPORT])
    names = [entrant.name for entrant in found.entrants]
    assert read_anchor(tmp_path, names) == Anchor(2, 1500)


def test_what_is_infinite_is_null_in_json(tmp_path: Path) -> None:
    event = made_up_event(entrants_named("a", "b", "c"), 2)
    games = {0: record_of(event, event.tasks[0], 1.0)}
    write_results(tmp_path, Standings(event, games), state_after(1, 6, "interrupted"))
    text = (tmp_path / RESULT).read_text()
    assert "Infinity" not in text and "NaN" not in text
    result = json.loads(text)
    assert result["complete"] is False
    assert [one["rating"]["error_95"] for one in result["players"] if one["name"] == "c"] == [None]


# -- texts --


def test_points_are_written_with_halves() -> None:
    assert [points_text(one) for one in (0, 0.5, 1, 12.5)] == ["0", "½", "1", "12½"]


@pytest.mark.parametrize(
    ("elo", "text"),
    [
        (Elo(35.2, 15, 56), "+35 ± 20"),
        (Elo(191.0, -68, math.inf), "+191, > -68"),
        (Elo(-191.0, -math.inf, 68), "-191, < +68"),
        (Elo(math.inf, 190, math.inf), "> +190"),
        (Elo(0.0, -math.inf, math.inf), "+0"),
        (Elo(math.nan, -math.inf, math.inf), ""),
    ],
)
def test_a_difference_shows_what_is_finite(elo: Elo, text: str) -> None:
    assert elo_text(elo) == text


def test_shares_and_errors() -> None:
    assert (percent_text(1, 8), percent_text(0, 0)) == ("12.5%", "-")
    assert [error_text(one) for one in (0.0, 12.6, math.inf)] == ["anchor", "± 13", "unknown"]


def test_lengths_have_two_decimals_at_most() -> None:
    assert [place_text(one) for one in (2.34567, -0.001, 1e6, 100)] == [
        "2.35",
        "0",
        "1000000",
        "100",
    ]


# -- drawings --


def all_inside(drawing: Drawing) -> bool:
    found = []
    for _, shapes in drawing.groups:
        for one in shapes:
            found += [one[:2], one[2:4]] if isinstance(one, Line) else [one[:2]]
            if isinstance(one, Box):
                found.append((one.x + one.width, one.y + one.height))
    return all(0 <= x <= WIDTH and 0 <= y <= drawing.height for x, y in found)


def shapes(drawing: Drawing, kind: type) -> list:
    return [one for _, each in drawing.groups for one in each if isinstance(one, kind)]


def dots(drawing: Drawing) -> list[tuple[float, float]]:
    return [(one.x, one.y) for one in shapes(drawing, Dot)]


def words(drawing: Drawing) -> list[str]:
    return [one.words for one in shapes(drawing, Label)]


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e5), st.integers(2, 12))
def test_ticks_are_few_even_and_span_the_range(low: float, span: float, most: int) -> None:
    found = ticks(low, low + span, most)
    assert found[0] <= low + 1e-6 * span and found[-1] >= low + span * (1 - 1e-6)
    assert 2 <= len(found) <= most + 2
    steps = [after - before for before, after in pairwise(found)]
    assert max(steps) == pytest.approx(min(steps))
    digits = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
    assert min(abs(digits - one) for one in (1, 2, 5, 10)) < 1e-6


def test_ratings_are_drawn_to_scale() -> None:
    drawing = rating_plot([Bar("a", 100, 20), Bar("b", 0, 20), Bar("c", -50, 20)])
    xs = [x for x, _ in dots(drawing)]
    assert (xs[0] - xs[1]) / (xs[1] - xs[2]) == pytest.approx(2, abs=0.01)
    assert all_inside(drawing)


@pytest.mark.parametrize("error", [0.0, math.inf])
def test_a_lone_player_can_be_drawn(error: float) -> None:
    drawing = rating_plot([Bar("only", 0, error)])
    assert all_inside(drawing)
    assert len(dots(drawing)) == 1
    assert ("unknown" in words(drawing)) == (error == math.inf)


def test_a_long_name_is_cut_but_stands_in_the_title() -> None:
    name = "x" * 200
    drawing = rating_plot([Bar(name, 0, 1)])
    assert max(len(one) for one in words(drawing)) < 50
    assert any(name in title for title, _ in drawing.groups)


def family(name: str, times: list[float], shift: float = 0.0) -> Curve:
    points = tuple(
        TimedPoint(time, 50 * math.log2(time) + shift, 25, f"{name} {time}") for time in times
    )
    middle = sum(math.log2(time) for time in times) / len(times)
    return Curve(name, points, 50.0, middle, 50 * middle + shift)


def test_doublings_of_time_have_equal_distances() -> None:
    drawing = scaling_plot([family("engine", [0.0625, 0.125, 0.25, 1, 4])])
    xs, ys = zip(*dots(drawing), strict=True)
    step = xs[1] - xs[0]
    assert xs[2] - xs[1] == pytest.approx(step, abs=0.02)
    assert xs[4] - xs[3] == pytest.approx(2 * step, abs=0.02)
    assert list(ys) == sorted(ys, reverse=True)  # up is better
    assert all_inside(drawing)
    assert [one for one in words(drawing) if one.endswith("s")] == [
        "4 s", "1 s", "250 ms", "125 ms", "62.5 ms",
    ]  # fmt: skip


def test_times_too_close_for_labels_have_none() -> None:
    drawing = scaling_plot([family("engine", [0.1, 0.11, 4.0])])
    assert "110 ms" in words(drawing) and "100 ms" not in words(drawing)


def test_the_fitted_line_passes_through_points_on_a_line() -> None:
    drawing = scaling_plot([family("engine", [0.5, 1, 2])])
    line = next(one for one in shapes(drawing, Line) if "fit" in one.kind)
    first, *_, last = dots(drawing)
    assert line[:2] == pytest.approx(first) and line[2:4] == pytest.approx(last)


def test_several_families_have_a_legend() -> None:
    one = scaling_plot([family("one", [1, 2, 4])])
    two = scaling_plot([family("one", [1, 2, 4]), family("other", [1, 2, 4], 30)])
    assert "other" in words(two)
    assert len(dots(one)) == 3 and len(dots(two)) == 6 + 2
    assert all_inside(two)


def test_every_game_has_its_share_of_the_bars() -> None:
    lengths = [(10, "1-0")] * 3 + [(10, "1/2-1/2")] + [(95, "0-1")] * 2
    drawing = length_plot(lengths)
    bars = [one for title, each in drawing.groups if title for one in each]
    heights = [one.height for one in bars]
    assert sum(heights) == pytest.approx(6 * min(heights), abs=0.1)
    assert [one.kind for one in bars] == ["white-wins", "draws", "black-wins"]
    assert all_inside(drawing)


def test_games_without_moves_can_be_drawn() -> None:
    assert all_inside(length_plot([(0, "1-0")]))


def test_the_coverage_of_the_players_that_told_it() -> None:
    event = made_up_event(entrants_named("one", "two"), games=2)
    records = {task.number: record_of(event, task, 1.0, plies=4) for task in event.tasks}
    first = records[0]
    told = replace(first.plies[0].turn, coverage=Coverage(True, True, False, 0.5))
    first.plies[0] = replace(first.plies[0], turn=told)
    result = standings_json(Standings(event, records, Anchor()), state_after(2, 2))
    row = {
        "turns": 1,
        "in_belief": 1.0,
        "searched": 1,
        "in_infoset": 1.0,
        "expanded": 0.0,
        "weight": 0.5,
        "log_weight": math.log(0.5),
    }
    assert result["coverage"] == {
        first.white: [{"size": "257-2,048", **row}, {"size": "all", **row}]
    }
