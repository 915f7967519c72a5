"""The results of a match as JSON, and the files of a tournament's directory, made from the games.

`games.pgn` has the games, `result.json` the standings for programs, `report.html` those for people.
A reader finds the old file or the new one, never half of one.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import chess
import msgspec

from obscuro import __version__
from obscuro.matches.atomic_file import replace_text
from obscuro.matches.coverage_table import coverage_json
from obscuro.matches.pgn import PgnFile
from obscuro.matches.play_event import EventResult
from obscuro.matches.rating import MEAN_IS_ZERO, Anchor, Estimate
from obscuro.matches.report_page import report_html
from obscuro.matches.standings import FIRST, SECOND, MatchResult, PlayedGames, SeatedGame, Standings

JOURNAL, PGN, RESULT, REPORT = "journal.jsonl", "games.pgn", "result.json", "report.html"
FORMAT = 1
"""The version of the names in the JSON files."""
BIASED = "The test ended the match when the score was extreme, so the Elo estimate is biased away from 0."


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
    """Describe the end after *games* of *tasks* games. reason: why it ended before all."""
    if games == tasks:
        return TournamentState(f"All {tasks} games are played.", True)
    why = f": {reason}" if reason else ""
    return TournamentState(f"Broken off after {games} of {tasks} games{why}.", False)


def write_results(directory: Path, standings: Standings, state: TournamentState) -> None:
    """Write all three files. Raises OSError, and PgnFileError if the PGN has other games."""
    write_json(directory / RESULT, standings_json(standings, state))
    page = report_html(standings, state.text, complete=state.complete)
    replace_text(directory / REPORT, page)
    PgnFile.derive(directory / PGN, standings.event, standings.games).close()


def write_json(path: Path, result: dict[str, Any]) -> None:
    """Write a result; a number that is infinite or unknown becomes null. Raises OSError."""
    text = msgspec.json.format(msgspec.json.encode(result), indent=2).decode()
    replace_text(path, f"{text}\n")


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


# -- the contents -------------------------------------------------------------------------------


def match_to_json(match: MatchResult, ended: EventResult) -> dict[str, Any]:
    """Return all that is known of a match, from the first player's view, for `write_json`."""
    tally = match.tally()
    return {
        **_event(match, ended.complete, ended.reason),
        "first": match.first,
        "second": match.second,
        "score": tally.points,
        **asdict(tally),
        "as_white": match.tally(FIRST, chess.WHITE),
        "as_black": match.tally(FIRST, chess.BLACK),
        "pairs": {"complete": len(match.pairs), "counts": match.pair_counts()},
        "elo": asdict(match.elo()) | {"samples": "pairs" if match.pairs else "games"},
        "sprt": _sprt(match),
        "machine_faults": ended.store.faults,
        "players": [_player(match, entrant) for entrant in (FIRST, SECOND)],
        "coverage": coverage_json(match.games.values()),
        "games": [_game(game) for game in match.seated()],
    }


def standings_json(standings: Standings, state: TournamentState) -> dict[str, Any]:
    """Return the standings for `write_json`. Names that a match's result has too mean the same."""
    found, names = standings.ratings, [entrant.name for entrant in standings.entrants]
    anchor = standings.anchor
    return {
        **_event(standings, state.complete, state.text),
        "anchor": {
            "player": None if anchor.player is None else names[anchor.player],
            "elo": anchor.elo,
        },
        "white_advantage": _estimate(found.white_advantage),
        "draw_rate": found.draw_rate,
        "groups": found.groups,
        "players": [_rated(standings, player) for player in standings.order],
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
        "coverage": coverage_json(game.record for game in standings.seated()),
        "games": [_game(game) for game in standings.seated()],
    }


def _event(games: PlayedGames, complete: bool, reason: str) -> dict[str, Any]:
    event = games.event
    return {
        "format": FORMAT,
        "obscuro": __version__,
        "event": event.name,
        "fingerprint": event.fingerprint(),
        "games_agreed": len(event.tasks),
        "games_played": len(games.games),
        "complete": complete,
        "reason": reason,
        "max_plies": event.max_plies,
        "stalemate": event.stalemate,
        "resign": event.resign,
    }


def _sprt(match: MatchResult) -> dict[str, Any] | None:
    """Return the sequential test; None if none was agreed."""
    test = match.test
    if test is None:
        return None
    return {
        **asdict(test.bounds),
        "lower": test.bounds.lower,
        "upper": test.bounds.upper,
        "llr": test.llr,
        "accepted": test.accepted,
        "note": None if test.accepted is None else BIASED,
    }


def _player(games: PlayedGames, player: int) -> dict[str, Any]:
    """Return an entrant with its time, what it was told, and the means of its moves."""
    return {
        **asdict(games.entrants[player]),
        "control": games.event.control_of(player),
        "told": games.told(player),
        "statistics": games.statistics(player),
    }


def _rated(standings: Standings, player: int) -> dict[str, Any]:
    rating = standings.ratings.of(player)
    return {
        **_player(standings, player),
        "rating": {
            "elo": rating.elo,
            "error_95": rating.error,
            "loose": rating.loose,
            "group": rating.group,
        },
        "games": rating.games,
        "points": rating.points,
        **asdict(standings.tally(player)),
    }


def _game(game: SeatedGame) -> dict[str, Any]:
    """Return a game without its moves."""
    task, record = game
    return {
        "round": task.number + 1,
        "pair": task.pair + 1,
        "white": record.white,
        "black": record.black,
        "opening": task.opening.name,
        "seed": task.seed,
        "result": record.result,
        "ending": record.ending,
        "regular": record.regular,
        "plies": len(record.plies),
        "started": record.started,
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
                        "elo": encounter.elo,
                        "superiority": standings.ratings.superiority(player, other),
                    }
                )
    return found


def _estimate(estimate: Estimate) -> dict[str, float]:
    return {"elo": estimate.value, "error_95": estimate.error}
