"""The files of a tournament's directory that are made from its journal, again and again.

`games.pgn` has the games, `result.json` the standings for programs, `report.html` those for people.
Each is written beside its old version and then takes its place, so a reader never sees half a file.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, NamedTuple

from obscuro import __version__
from obscuro.arena.coverage import coverage_json
from obscuro.arena.elo import Elo
from obscuro.arena.game_record import GameRecord
from obscuro.arena.pgn import to_pgn
from obscuro.arena.rating import MEAN_IS_ZERO, Anchor, Estimate
from obscuro.tournament.report_page import report_html
from obscuro.tournament.standings import Standings

JOURNAL, PGN, RESULT, REPORT = "journal.jsonl", "games.pgn", "result.json", "report.html"


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
    """Write all three files. Raises OSError."""
    games = "".join(
        f"{to_pgn(record, event=standings.event.name, round_=task.number + 1)}\n\n"
        for task, record in standings.games
    )
    result = json.dumps(standings_json(standings, state), ensure_ascii=False, indent=2)
    page = report_html(standings, state.text, complete=state.complete)
    for name, text in ((PGN, games), (RESULT, f"{result}\n"), (REPORT, page)):
        fresh = directory / f".{name}.new"
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, directory / name)


def standings_json(standings: Standings, state: TournamentState) -> dict[str, Any]:
    """Return the standings as a JSON object. What is unknown or infinite is null."""
    found, names = standings.ratings, [entrant.name for entrant in standings.entrants]
    anchor = standings.anchor
    return {
        "kind": "tournament",
        "obscuro": __version__,
        "name": standings.event.name,
        "complete": state.complete,
        "state": state.text,
        "games": len(standings.games),
        "games_planned": len(standings.event.tasks),
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
        "irregular": [
            {"game": task.number + 1, "ending": record.ending}
            for task, record in standings.irregular()
        ],
        "results": [
            _game(task.number, names[task.white], names[task.black], record)
            for task, record in standings.games
        ],
    }


def _player(standings: Standings, player: int) -> dict[str, Any]:
    rating, tally = standings.ratings.of(player), standings.tally(player)
    stated = standings.statistics(player)
    entrant = standings.entrants[player]
    return {
        "name": entrant.name,
        "player": entrant.player,
        "options": dict(entrant.options),
        "control": standings.event.control_of(player).to_json(),
        "elo": rating.elo,
        "error_95": _finite(rating.error),
        "one_sided": rating.one_sided,
        "group": rating.group,
        "games": rating.games,
        "points": rating.points,
        "wins": tally.wins,
        "draws": tally.draws,
        "losses": tally.losses,
        "told_everything": standings.told_everything(player),
        "moves": stated.moves,
        "seconds_a_move": stated.seconds,
        "largest_overrun_ms": stated.overrun,
        "largest_belief": stated.largest_belief,
        "inexact_moves": stated.inexact,
        "means": stated.means,
    }


def _encounters(standings: Standings) -> list[dict[str, Any]]:
    """Return each meeting once, in the better rated player's view."""
    order, found = standings.order, []
    for rank, player in enumerate(order):
        for other in order[rank + 1 :]:
            encounter = standings.encounter(player, other)
            if encounter is not None:
                tally = encounter.tally
                found.append(
                    {
                        "player": standings.entrants[player].name,
                        "against": standings.entrants[other].name,
                        "wins": tally.wins,
                        "draws": tally.draws,
                        "losses": tally.losses,
                        "elo": _elo(encounter.elo),
                        "superiority": _finite(standings.ratings.superiority(player, other)),
                    }
                )
    return found


def _game(number: int, white: str, black: str, record: GameRecord) -> dict[str, Any]:
    return {
        "game": number + 1,
        "white": white,
        "black": black,
        "result": record.result,
        "ending": record.ending,
        "plies": len(record.plies),
        "opening": record.opening,
    }


def _elo(elo: Elo) -> dict[str, float | None]:
    return {
        "difference": _finite(elo.difference),
        "low": _finite(elo.low),
        "high": _finite(elo.high),
    }


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
