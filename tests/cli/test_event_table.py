"""What a match shows while it is played: lines anywhere, and a live table on a terminal."""

import re

import chess
import pytest
from rich.console import Console

from obscuro.cli.event_table import MatchTable
from obscuro.matches.event import Event
from obscuro.matches.game_record import GameRecord
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.standings import MatchResult
from obscuro.rules.board import FogOfWarBoard
from tests.cli.conftest import written
from tests.matches.events import match_event


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def show(console: Console, event: Event, scores: str, held: int = 0) -> MatchTable:
    """Show games that White (2) or Black (0) won or neither (1), each after half a minute."""
    games: dict[int, GameRecord] = {}
    match, clock = MatchResult(event, games), Clock()
    table = MatchTable(console, match, held, clock)
    with table.drawing():
        for task, score in zip(event.tasks, scores, strict=False):
            table.game_begins(task)
            clock.seconds += 30
            winner = {"0": chess.BLACK, "1": None, "2": chess.WHITE}[score]
            game = GameRecord("w", "b", FogOfWarBoard(), winner, "king captured")
            games[task.number] = game
            table.game_ends(task, game)
        table.game_breaks_off(event.tasks[-1], "the machine stood still for 30.0 s")
    return table


def test_elsewhere_than_on_a_terminal_there_are_plain_lines(console: Console) -> None:
    show(console, match_event(4), "21")
    assert written(console).splitlines() == [
        "game 1: w - b 1-0, king captured, 0 moves; 1/0/0",
        "game 2: w - b 1/2-1/2, king captured, 0 moves; 1/1/0",
        "game 4 was broken off and is played again: the machine stood still for 30.0 s",
    ]


def test_a_terminal_shows_scores_pairs_and_the_pace(terminal: Console) -> None:
    show(terminal, match_event(10), "202")
    text = written(terminal)
    for part in (
        "points",
        "Elo at least",
        "pairs 1: 0 0 0 0 1",
        "3 of 10 games, 0 running",
        "1 running",
        "2.0 games a minute, 4 min left",
        "game 3: w - b 1-0",
    ):
        assert part in text, part


def test_a_terminal_shows_both_players_points(terminal: Console) -> None:
    show(terminal, match_event(10), "2102")
    words = [
        line.split()
        for line in re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", written(terminal)).splitlines()
    ]
    # a won game 1 as White, drew game 2 and lost games 3 and 4: `points won drawn lost white black`.
    assert ["a", "1.5", "1", "1", "2", "1", "0.5"] in words
    assert ["b", "2.5", "2", "1", "1", "1.5", "1"] in words


def test_a_test_under_way_is_in_the_lines_and_the_table(
    console: Console, terminal: Console
) -> None:
    for shown in (console, terminal):
        show(shown, match_event(10, sprt=SprtBounds(0, 100)), "20")
    assert re.search(r"; 2/0/0, LLR \+\d\.\d\d$", written(console).splitlines()[1])
    text = written(terminal)
    assert re.search(r"LLR \+\d\.\d\d \(-2\.94, 2\.94\)", text)
    assert "at most" in text, "a test may end the match earlier"


def test_the_pace_is_that_of_this_run(terminal: Console) -> None:
    show(terminal, match_event(4), "20", held=2)
    assert "0.0 games" not in written(terminal)


@pytest.mark.parametrize("fixture", ["console", "terminal"])
def test_nothing_to_play_is_nothing_to_show(fixture: str, request: pytest.FixtureRequest) -> None:
    console = request.getfixturevalue(fixture)
    event = match_event(2)
    with MatchTable(console, MatchResult(event, {})).drawing():
        pass
    assert "game" not in written(console)
