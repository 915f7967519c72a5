"""The tournament files that come with the documentation, played small."""

from dataclasses import replace
from pathlib import Path

import pytest

from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.play_event import play_event
from obscuro.matches.report_page import report_html
from obscuro.matches.standings import Standings
from obscuro.matches.tournament_file import TournamentFile, parse_tournament, read_tournament

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.toml"))


def small(wanted: TournamentFile) -> TournamentFile:
    """The same tournament between random players, of the first game of each pair of players."""
    event = wanted.event
    entrants = tuple(replace(one, player="random", options={}) for one in event.entrants)
    meetings = {frozenset((task.white, task.black)): task for task in reversed(event.tasks)}
    tasks = tuple(replace(task, number=number) for number, task in enumerate(meetings.values()))
    return replace(wanted, event=replace(event, entrants=entrants, tasks=tasks, max_plies=16))


def test_there_are_examples() -> None:
    assert [path.stem for path in EXAMPLES] == [
        "gauntlet",
        "opponents",
        "round_robin",
        "time_scaling",
    ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_can_be_played(path: Path) -> None:
    event = small(read_tournament(path)).event
    result = play_event(event, LocalWorkers(1, lambda text: None))
    assert result.complete
    html = report_html(Standings(event, result.games), "Played.", complete=True)
    assert all(entrant.name in html for entrant in event.entrants)


def test_the_time_scaling_has_a_curve() -> None:
    path = ROOT / "docs" / "examples" / "time_scaling.toml"
    event = read_tournament(path).event
    seconds = [event.control_of(player).movetime for player in range(len(event.entrants))]
    assert seconds == [62, 125, 250, 500, 1000, 2000, 4000]
    assert len({(one.player, tuple(one.options)) for one in event.entrants}) == 1


def test_what_is_commented_out_can_be_taken_in() -> None:
    path = ROOT / "docs" / "examples" / "gauntlet.toml"
    text = path.read_text().replace("\n# [[", "\n[[").replace("\n# name", "\nname")
    text = text.replace('\n# player = "/opt/other/engine --uci"', '\nplayer = "sh -c exit"')
    event = parse_tournament(text, path).event
    assert event.entrants[-1].name == "other"
