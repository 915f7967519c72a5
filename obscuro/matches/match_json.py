"""The result of a match as one JSON object."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import chess

from obscuro import __version__
from obscuro.matches.coverage_table import coverage_json
from obscuro.matches.elo import Elo, Tally
from obscuro.matches.event import Event, GameTask
from obscuro.matches.game_record import GameRecord
from obscuro.matches.match import FIRST, SECOND, MatchResult
from obscuro.matches.play_event import EventResult
from obscuro.matches.statistics import Statistics

FORMAT = 1
BIASED = "The test ended the match when the score was extreme, so the Elo estimate is biased away from 0."


def match_to_json(match: MatchResult, ended: EventResult) -> dict[str, Any]:
    """Return all that is known of a match, from the first player's view.

    An infinite or unknown number is null.
    """
    event = match.event
    tally = match.tally()
    return {
        "format": FORMAT,
        "obscuro": __version__,
        "event": event.name,
        "fingerprint": event.fingerprint(),
        "first": match.first,
        "second": match.second,
        "games_agreed": len(event.tasks),
        "games_played": tally.games,
        "complete": ended.complete,
        "reason": ended.reason,
        "score": tally.points,
        **_tally(tally),
        "as_white": _tally(match.tally(chess.WHITE)),
        "as_black": _tally(match.tally(chess.BLACK)),
        "pairs": {"complete": len(match.pairs), "counts": match.pair_counts()},
        "elo": elo_to_json(match.elo()) | {"samples": "pairs" if match.pairs else "games"},
        "sprt": sprt_to_json(match),
        "machine_faults": ended.faults,
        "max_plies": event.max_plies,
        "stalemate": event.stalemate,
        "players": [
            player_to_json(event, entrant, match.told(entrant), match.statistics(entrant))
            for entrant in (FIRST, SECOND)
        ],
        "coverage": coverage_json(match.games.values()),
        "games": [
            game_to_json(event.tasks[number], match.games[number]) for number in sorted(match.games)
        ],
    }


def sprt_to_json(match: MatchResult) -> dict[str, Any] | None:
    """Return the sequential test; None if none was agreed."""
    test = match.test
    if test is None:
        return None
    return {
        **test.bounds.to_json(),
        "lower": test.bounds.lower,
        "upper": test.bounds.upper,
        "llr": test.llr,
        "accepted": test.accepted,
        "note": None if test.accepted is None else BIASED,
    }


def elo_to_json(elo: Elo) -> dict[str, float | None]:
    """Return a difference with its interval; an infinite or unknown number is null."""
    return {name: value if math.isfinite(value) else None for name, value in asdict(elo).items()}


def player_to_json(event: Event, entrant: int, told: str, statistics: Statistics) -> dict[str, Any]:
    """Return an entrant with its time, what it was told, and the means of its moves."""
    return {
        **event.entrants[entrant].to_json(),
        "control": event.control_of(entrant).to_json(),
        "told": told,
        "statistics": asdict(statistics),
    }


def game_to_json(task: GameTask, game: GameRecord) -> dict[str, Any]:
    """Return a game without its moves."""
    return {
        "round": task.number + 1,
        "pair": task.pair + 1,
        "white": game.white,
        "black": game.black,
        "opening": task.opening.name,
        "seed": task.seed,
        "result": game.result,
        "ending": game.ending,
        "regular": game.regular,
        "plies": len(game.plies),
        "started": game.started,
    }


def _tally(tally: Tally) -> dict[str, int]:
    return asdict(tally)
