"""The ids of games that are kept on disk."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from obscuro.bots.games_underway import MOST_REMEMBERED, GamesUnderway


def test_games_are_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state" / "games.json"
    games = GamesUnderway(path)
    for name in ("one", "two", "one", "three"):
        games.add(name)
    games.remove("two")
    games.remove("nothing")
    assert GamesUnderway(path).ids() == ("one", "three")
    assert [file.name for file in path.parent.iterdir()] == ["games.json"]


def test_not_more_than_enough_are_kept() -> None:
    games = GamesUnderway(None)
    for number in range(MOST_REMEMBERED + 5):
        games.add(str(number))
    assert games.ids()[0] == "5" and len(games.ids()) == MOST_REMEMBERED


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"games": 3}', '{"other": []}'])
def test_a_file_that_cannot_be_read_is_no_obstacle(tmp_path: Path, text: str) -> None:
    path = tmp_path / "games.json"
    path.write_text(text)
    games = GamesUnderway(path)
    assert games.ids() == ()
    games.add("one")
    assert GamesUnderway(path).ids() == ("one",)


def test_a_place_that_cannot_be_written_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    games = GamesUnderway(tmp_path / "file" / "games.json")
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        games.add("one")
        games.add("two")
    assert len(caplog.records) == 1 and games.ids() == ("one", "two")
