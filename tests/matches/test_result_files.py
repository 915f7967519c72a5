"""The tournament's JSON, as far as no test of the command reads it."""

from __future__ import annotations

from dataclasses import replace

from obscuro.engine.report import Coverage
from obscuro.matches.rating import Anchor
from obscuro.matches.result_files import standings_json, state_after
from obscuro.matches.standings import Standings
from tests.matches.made_up import entrants_named, made_up_event, record_of


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
    }
    assert result["coverage"] == {
        first.white: [{"size": "257-2,048", **row}, {"size": "all", **row}]
    }
