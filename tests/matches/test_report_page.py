"""The report: a page by itself that shows everything and trusts no name."""

import json
import re
from dataclasses import replace
from pathlib import Path

from obscuro.engine.report import Coverage
from obscuro.matches.event import Entrant
from obscuro.matches.game_record import EVERYTHING
from obscuro.matches.openings import PLAIN
from obscuro.matches.rating import Anchor
from obscuro.matches.report_page import notes, report_html
from obscuro.matches.result_files import (
    PGN,
    REPORT,
    RESULT,
    read_anchor,
    state_after,
    write_results,
)
from obscuro.matches.standings import Standings
from tests.matches.made_up import entrants_named, made_up_event, played, record_of, timed
from tests.matches.test_markup import Reader

EVIL = "<img src=x onerror=alert(1)>"


def whole(anchor: Anchor = Anchor()) -> Standings:  # noqa: B008
    entrants = [*timed("engine", [125, 250, 500]), *entrants_named(EVIL)]
    event = made_up_event(entrants, 8)
    games = played(event, [-50, 0, 50, -200])
    games[3] = replace(games[3], regular=False, ending=f"white said '{EVIL}'")
    return Standings(event, games, anchor)


def page(standings: Standings, *, complete: bool = True) -> str:
    return report_html(standings, "As far as it goes.", complete=complete)


def test_a_page_has_all_sections() -> None:
    html = page(whole())
    headings = re.findall(r"<h2>(.*?)</h2>|<summary>(.*?)</summary>", html)
    assert [one or other for one, other in headings] == [
        "Ratings",
        "Time",
        "Cross table",
        "Players",
        "Lengths and endings",
        "Openings",
        "Irregular games",
        "All 48 games",
    ]
    assert html.count("<svg") == 3


def test_a_page_needs_nothing_from_elsewhere() -> None:
    html = page(whole())
    tags = set(Reader(html).tags)
    assert not tags & {"script", "link", "img", "iframe", "object", "base"}
    addresses = set(re.findall(r"\w+://[^\s\"<]+", html))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nobody opens
    assert "url(" not in html and "@import" not in html


def test_names_of_players_and_endings_are_text() -> None:
    html = page(whole())
    assert EVIL not in html
    assert Reader(html).texts.count(EVIL) >= 4


def test_light_and_dark_and_phones_are_provided_for() -> None:
    html = page(whole())
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html
    for color in re.findall(r"var\((--[\w-]+)\)", html):
        assert html.count(f"{color}:") >= 2, color  # once for light and once for dark


def test_what_is_broken_off_is_marked() -> None:
    assert '<p class="warn">As far as it goes.</p>' in page(whole(), complete=False)
    assert '<p class="soft">As far as it goes.</p>' in page(whole())
    assert state_after(3, 8, "interrupted") == (
        "Broken off after 3 of 8 games: interrupted.",
        False,
    )
    assert state_after(8, 8) == ("All 8 games are played.", True)


def test_a_tournament_without_games_has_a_page() -> None:
    html = page(Standings(whole().event, {}), complete=False)
    assert "0 of 48 games" in html
    assert "<h2>" not in html


def test_one_game_is_enough_for_a_page() -> None:
    event = made_up_event(entrants_named("a", "b"), 2, [PLAIN])
    html = page(Standings(event, {0: record_of(event, event.tasks[0], 1.0)}))
    assert "took no point from the main field" in html
    assert "<h2>Openings</h2>" not in html


def test_notes_name_the_anchor_and_groups_that_never_met() -> None:
    assert any("The mean of the ratings is 0." in one for one in notes(whole()))
    assert any("engine 250 ms has the rating 1500;" in one for one in notes(whole(Anchor(1, 1500))))
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
    found = whole(Anchor(1, 1500))
    write_results(tmp_path, found, state_after(48, 48))
    result = json.loads((tmp_path / RESULT).read_text())
    assert result["complete"] is True
    assert [one["name"] for one in result["players"]] == [
        found.entrants[player].name for player in found.order
    ]
    assert sum(one["points"] for one in result["players"]) == len(result["games"]) == 48
    assert result["players"][0]["rating"]["elo"] == found.ratings.ratings[0].elo
    assert len(result["cross_table"]) == 6
    assert result["time_scaling"][0]["players"] == [f"engine {time} ms" for time in (125, 250, 500)]
    assert [one["round"] for one in result["games"] if not one["regular"]] == [4]
    assert (tmp_path / PGN).read_text().count("[Event ") == 48
    assert (tmp_path / REPORT).read_text() == report_html(
        found, "All 48 games are played.", complete=True
    )
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([PGN, RESULT, REPORT])
    names = [entrant.name for entrant in found.entrants]
    assert read_anchor(tmp_path, names) == Anchor(1, 1500)


def test_what_is_infinite_is_null_in_json(tmp_path: Path) -> None:
    event = made_up_event(entrants_named("a", "b", "c"), 2)
    games = {0: record_of(event, event.tasks[0], 1.0)}
    write_results(tmp_path, Standings(event, games), state_after(1, 6, "interrupted"))
    text = (tmp_path / RESULT).read_text()
    assert "Infinity" not in text and "NaN" not in text
    result = json.loads(text)
    assert result["complete"] is False
    assert [one["rating"]["error_95"] for one in result["players"] if one["name"] == "c"] == [None]
