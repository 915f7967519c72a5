"""Tournaments that nobody played: results drawn for players of known strength."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import chess

from obscuro.client.move_report import Report
from obscuro.matches.event import Entrant, Event, GameTask, paired_games, round_robin_pairings
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.matches.openings import PLAIN, Opening
from obscuro.matches.rating import MEAN_IS_ZERO, Anchor
from obscuro.matches.standings import Standings
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import FogOfWarBoard

HOSTILE = "<img src=x onerror='document.title=1'> & a name that goes on and on and on for ever"
TIMES = [62, 125, 250, 500, 1000, 2000, 4000]
OPENINGS = [PLAIN, Opening("French", FogOfWarBoard.starting_fen, ("e2e4", "e7e6"))]
EVENT_TIME = TimeControl(200)
SHUFFLE = (("g1f3", "Nf3"), ("g8f6", "Nf6"), ("f3g1", "Ng1"), ("f6g8", "Ng8"))


def entrants_named(*names: str) -> list[Entrant]:
    """Random players of these names."""
    return [Entrant(name, "random") for name in names]


def timed(name: str, times: Sequence[int]) -> list[Entrant]:
    """The same player at several times, in milliseconds."""
    return [Entrant(f"{name} {time} ms", name, {}, TimeControl(time)) for time in times]


def made_up_event(
    entrants: Sequence[Entrant], games: int = 10, openings: Sequence[Opening] = OPENINGS
) -> Event:
    """A round robin of these entrants."""
    tasks = paired_games(round_robin_pairings(len(entrants)), games // 2, openings, 1)
    return Event("A made-up tournament", tuple(entrants), tasks, EVENT_TIME, 1000)


def record_of(
    event: Event, task: GameTask, score: float, *, plies: int = 40, ending: str = "king captured"
) -> GameRecord:
    """A record of a game with White's points; its moves are made up as well."""
    winner = {1.0: chess.WHITE, 0.0: chess.BLACK, 0.5: None}[score]
    report = Report(depth=3.5, nodes=1000, belief=500, exact=True)
    board = FogOfWarBoard()
    turns = []
    for number in range(plies):
        uci, san = SHUFFLE[number % len(SHUFFLE)]
        turns.append(PlayedPly(board.turn, Turn(uci, 0.1, report), san))
        board.push_uci(uci)
    names = [event.entrants[player].name for player in (task.white, task.black)]
    return GameRecord(
        *names,
        board,
        winner,
        ending,
        plies=turns,
        opening=task.opening.name,
        started="2026-01-02T03:04:05Z",
    )


def played(
    event: Event,
    elo: Sequence[float],
    *,
    white: float = 30.0,
    draws: float = 0.2,
    seed: int = 1,
    length: float = 40.0,
) -> dict[int, GameRecord]:
    """Draw a result for every game of the event.

    draws: their share, whoever plays. length: about how many plies a game has.
    """
    chance = random.Random(seed)
    games = {}
    for task in event.tasks:
        units = (elo[task.white] - elo[task.black] + white) * math.log(10) / 400
        score = 1.0 if chance.random() < 1 / (1 + math.exp(-units)) else 0.0
        drawn = chance.random() < draws
        plies = min(300, round(chance.lognormvariate(math.log(length), 0.5)))
        ending = "threefold repetition" if drawn else "king captured"
        games[task.number] = record_of(
            event, task, 0.5 if drawn else score, plies=plies, ending=ending
        )
    return games


@cache
def sample_standings(anchor: Anchor = MEAN_IS_ZERO) -> Standings:
    """A tournament of 112 games with a family of times, a hostile name and an irregular game."""
    event = made_up_event([*timed("engine", TIMES), *entrants_named(HOSTILE)], 4)
    games = played(event, [0, 30, 60, 90, 120, 150, 180, -900])
    games[3] = replace(games[3], regular=False, ending=f"white said '{HOSTILE}'")
    return Standings(event, games, anchor)
