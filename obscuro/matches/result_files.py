"""The files of a tournament's directory that are made from its journal, again and again.

`games.pgn` has the games, `result.json` the standings for programs, `report.html` those for people.
A reader finds the old file or the new one, never half of one.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from obscuro import __version__
from obscuro.matches.atomic_file import replace_text
from obscuro.matches.coverage_table import coverage_json
from obscuro.matches.match_json import elo_to_json, game_to_json, player_to_json
from obscuro.matches.pgn_file import PgnFile
from obscuro.matches.rating import MEAN_IS_ZERO, Anchor, Estimate
from obscuro.matches.report_page import report_html
from obscuro.matches.standings import Standings

JOURNAL, PGN, RESULT, REPORT = "journal.jsonl", "games.pgn", "result.json", "report.html"
FORMAT = 1
"""The version of the names in the JSON file."""


class TournamentState(NamedTuple):
    """How far a tournament has come. text: in a sentence. complete: whether all games are played."""

    text: str
    complete: bool


def under_way(games: int, tasks: int) -> TournamentState:
    """Describe a tournament that is being played. After a crash this is what remains."""
    return TournamentState(
        f"Under way or broken off: {games} of {tasks} games were played so far.", False
    )


def state_after(games: int, tasks: int, reason: str = "") -> TournamentState:
    """Describe the end after so many games of so many. reason: why it ended before all."""
    if games == tasks:
        return TournamentState(f"All {tasks} games are played.", True)
    why = f": {reason}" if reason else ""
    return TournamentState(f"Broken off after {games} of {tasks} games{why}.", False)


def write_results(directory: Path, standings: Standings, state: TournamentState) -> None:
    """Write all three files. Raises OSError, and PgnFileError if the PGN has other games."""
    result = standings_json(standings, state)
    text = json.dumps(result, ensure_ascii=False, indent=2, allow_nan=False)
    replace_text(directory / RESULT, f"{text}\n")
    page = report_html(standings, state.text, complete=state.complete)
    replace_text(directory / REPORT, page)
    games = {task.number: record for task, record in standings.games}
    PgnFile.derive(directory / PGN, standings.event, games).close()


def standings_json(standings: Standings, state: TournamentState) -> dict[str, Any]:
    """Return the standings as a JSON object. What is unknown or infinite is null.

    Names that `match_to_json` has too mean the same.
    """
    found, names = standings.ratings, [entrant.name for entrant in standings.entrants]
    anchor, event = standings.anchor, standings.event
    return {
        "format": FORMAT,
        "obscuro": __version__,
        "event": event.name,
        "fingerprint": event.fingerprint(),
        "games_agreed": len(event.tasks),
        "games_played": len(standings.games),
        "complete": state.complete,
        "reason": state.text,
        "max_plies": event.max_plies,
        "stalemate": event.stalemate,
        "anchor": {
            "player": None if anchor.player is None else names[anchor.player],
            "elo": anchor.elo,
        },
        "white_advantage": _estimate(found.white_advantage),
        "draw_rate": found.draw_rate,
        "groups": found.groups,
        "players": [_player(standings, player) for player in standings.order],
        "cross_table": _encounters(standings),
        "time_scaling": [
            {
                "name": family.name,
                "players": [names[player] for player in family.members],
                "seconds": list(family.seconds),
                "elo_per_doubling": _estimate(family.per_doubling),
                "steps": [_estimate(step) for step in family.steps(found)],
            }
            for family in standings.families
        ],
        "openings": {name: one._asdict() for name, one in standings.openings().items()},
        "endings": dict(standings.endings()),
        "coverage": coverage_json(record for _, record in standings.games),
        "games": [game_to_json(task, record) for task, record in standings.games],
    }


def _player(standings: Standings, player: int) -> dict[str, Any]:
    rating, tally = standings.ratings.of(player), standings.tally(player)
    statistics = standings.statistics(player)
    return {
        **player_to_json(standings.event, player, standings.told(player), statistics),
        "rating": {
            "elo": rating.elo,
            "error_95": _finite(rating.error),
            "loose": rating.loose,
            "group": rating.group,
        },
        "games": rating.games,
        "points": rating.points,
        **asdict(tally),
    }


def _encounters(standings: Standings) -> list[dict[str, Any]]:
    """Return each meeting once, in the better rated player's view."""
    order, found = standings.order, []
    for rank, player in enumerate(order):
        for other in order[rank + 1 :]:
            encounter = standings.encounter(player, other)
            if encounter is not None:
                found.append(
                    {
                        "player": standings.entrants[player].name,
                        "against": standings.entrants[other].name,
                        **asdict(encounter.tally),
                        "elo": elo_to_json(encounter.elo),
                        "superiority": _finite(standings.ratings.superiority(player, other)),
                    }
                )
    return found


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    return {"elo": _finite(estimate.value), "error_95": _finite(estimate.error)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def read_anchor(directory: Path, names: list[str]) -> Anchor:
    """Return the anchor of the last result in this directory; the mean is 0 if there is none.

    names: the players' names by number. Raises ValueError if the file is damaged.
    """
    try:
        data = json.loads((directory / RESULT).read_text(encoding="utf-8"))
        name, elo = data["anchor"]["player"], float(data["anchor"]["elo"])
        return Anchor(None if name is None else names.index(name), elo)
    except FileNotFoundError:
        return MEAN_IS_ZERO
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{directory / RESULT} is damaged; delete it and try again") from error
