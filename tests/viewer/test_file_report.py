"""The page over all games of a file: it stands by itself, trusts no name, and counts right."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import chess
import pytest

from obscuro.matches.report_page import Box
from obscuro.viewer.file_report import (
    FileReport,
    Mistake,
    lost_plot,
    parts_plot,
    report_page,
    scouting_plot,
)
from obscuro.viewer.game_facts import game_facts
from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.loss_parts import LossParts

HOSTILE = "<script>alert(1)</script>"
GAMES = f"""
[White "{HOSTILE}"]
[Black "b"]
[Result "1-0"]
[Opening "{HOSTILE}"]

1. e4 f6 2. Qh5 a6 3. Qxe8 1-0

[White "b"]
[Black "c"]
[Result "1/2-1/2"]

1. e4 d5 2. exd5 Qxd5 1/2-1/2

[White "b"]
[Black "d"]

1. d4 d5 *
"""


def report(**changes: object) -> FileReport:
    games = [game_facts(game, number) for number, game in enumerate(games_of_text(GAMES).games, 1)]
    return FileReport(f"games {HOSTILE}", games, **changes)  # type: ignore[arg-type]


class Cells(HTMLParser):
    """The texts of all table cells, row by row, and every tag that was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        self._in_cell = tag == "td"
        if self._in_cell:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag != "td"


def cells(page: str) -> Cells:
    parser = Cells()
    parser.feed(page)
    return parser


def test_the_page_loads_nothing_and_runs_no_name() -> None:
    page = report_page(report(faults=[f"game 4: {HOSTILE}"]))
    assert "script" not in cells(page).tags
    assert not re.search(r"(?:src|href)=", page) and "default-src 'none'" in page
    assert "1 more can&#39;t be read" in page or "1 more can't be read" in page


def test_players_and_games_have_their_figures() -> None:
    rows = cells(report_page(report())).rows
    b = next(row for row in rows if row[:1] == ["b"])
    # games, points, score, pawns lost a game, unseen, kings, unseen, scouting moves a game, won
    assert b[:8] == ["b", "3", "½", "25.0%", "0.3", "100.0%", "1", "100.0%"]
    first = next(row for row in rows if row[:1] == ["1"])
    assert first[3:6] == ["1-0", "", "3"]
    assert first[7:9] == ["0 (0) / 0 (0)", "Black's, unseen"]


def test_openings_are_counted_with_results() -> None:
    rows = cells(report_page(report())).rows
    assert [HOSTILE, "1", "100.0%", ""] in rows
    assert ["1. d4 d5", "1", "-", ""] in rows


def test_every_capture_and_every_scouting_move_is_drawn_once() -> None:
    games = report().games
    for drawing, count in (
        (lost_plot(games), sum(len(game.men) for game in games)),
        (scouting_plot(games), sum(len(game.scouting) for game in games)),
    ):
        named = [title for title, shapes in drawing.groups if isinstance(shapes[0], Box) and title]
        assert sum(int(title.rsplit(" ", 1)[1]) for title in named) == count


def test_mistakes_come_with_their_parts_and_reasons_the_largest_first() -> None:
    mistakes = [
        Mistake(1, chess.BLACK, "2... a6", LossParts(0.2, 0.05, 0.05, 0.1), "Small."),
        Mistake(2, chess.WHITE, "1. e4", LossParts(0.5, 0.0, 0.4, 0.1), f"Large {HOSTILE}."),
    ]
    analysis = {"by": "Analyst", "limit": "9 nodes a move"}
    page = report_page(report(mistakes=mistakes, analysis=analysis))
    assert page.index("Large") < page.index("Small") and HOSTILE not in page
    rows = cells(page).rows
    assert ["b", "3", "0.7", "70", "5", "45", "20"] in rows
    assert next(row for row in rows if row[:1] == ["2"])[-1] == "1 / 0"
    assert [title for title, _ in parts_plot(mistakes).groups if "lost:" in title] == [
        "20 to 24 points of 100 lost: chose badly 1",
        "50 to 54 points of 100 lost: did not think of 1",
    ]


@pytest.mark.parametrize("stopped", ["", "Broken off after 3 games."])
def test_a_page_that_was_broken_off_says_so(stopped: str) -> None:
    assert ("Broken off" in report_page(report(stopped=stopped))) == bool(stopped)


def test_a_file_whose_games_have_no_moves_is_a_page(tmp_path: Path) -> None:
    (game,) = games_of_text('[White "a"]\n\n*').games
    page = report_page(FileReport("empty", [game_facts(game, 1)]))
    assert "1 without a result" in page
