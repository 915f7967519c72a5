"""Events: all that decides the games of a match or a tournament, as plain data; who plays whom.

Games 2k and 2k + 1 are a pair: the same two entrants, the same opening, the same seed, with colours
swapped. So neither the better colour nor the better side of an opening favours an entrant.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from obscuro.matches.openings import Opening
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.time_control import TimeControl
from obscuro.rules.stalemate import LOSS, known_stalemate

_SEEDS = 2**30
"""Seeds lie below this, so that a player's own, derived from it, fits into 31 bits."""

Pairing = tuple[int, int]


class ArenaError(Exception):
    """An event can't go on. The text is one line for the user. No finished game is lost."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One who plays in an event: plain data, from which any machine can make the player.

    name: unique in the event. player: the name of a built-in player, or the command line of a UCI
    engine. options: UCI options, set at every start. control: its own time; None: the event's.
    """

    name: str
    player: str
    options: Mapping[str, str] = field(default_factory=dict)
    control: TimeControl | None = None


@dataclass(frozen=True, slots=True)
class GameTask:
    """One game of an event that is to be played.

    number: from 0. white, black: indices of entrants. pair: the number of the pair that the game
    belongs to: both games have the same entrants, opening and seed, with colours swapped.
    """

    number: int
    white: int
    black: int
    opening: Opening
    seed: int
    pair: int


class _StoredEvent(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An event as JSON has it, with each opening once.

    The usual rule of stalemate and games played to their end are not in it, so that journals from
    before there was a choice still belong to their events. tasks: the fields of `GameTask`, with the
    index of the opening.
    """

    name: str
    entrants: tuple[Entrant, ...]
    control: TimeControl
    max_plies: int
    coverage: bool
    sprt: SprtBounds | None
    stalemate: str = LOSS
    resign: int = 0
    openings: list[Opening]
    tasks: list[tuple[int, int, int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Event:
    """All that decides the games of a match or a tournament, and when it ends.

    tasks: the games, by number. control: the time of entrants without their own. max_plies: a game
    is drawn after this many plies. coverage: whether players say where the true position was in
    their search. sprt: the sequential test that may end a match before all games are played.
    stalemate: what a side without a move gets, of `obscuro.rules.stalemate.STALEMATES`. resign: see
    `referee.agreed_winner`; 0 plays each game to its end.
    """

    name: str
    entrants: tuple[Entrant, ...]
    tasks: tuple[GameTask, ...]
    control: TimeControl
    max_plies: int
    coverage: bool = True
    sprt: SprtBounds | None = None
    stalemate: str = LOSS
    resign: int = 0

    def control_of(self, entrant: int) -> TimeControl:
        """Return the time of the entrant with this index."""
        own = self.entrants[entrant].control
        return self.control if own is None else own

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object."""
        index: dict[Opening, int] = {}
        for task in self.tasks:
            index.setdefault(task.opening, len(index))
        stored = _StoredEvent(
            name=self.name,
            entrants=self.entrants,
            control=self.control,
            max_plies=self.max_plies,
            coverage=self.coverage,
            sprt=self.sprt,
            stalemate=self.stalemate,
            resign=self.resign,
            openings=list(index),
            tasks=[
                (t.number, t.white, t.black, index[t.opening], t.seed, t.pair) for t in self.tasks
            ],
        )
        data: dict[str, Any] = msgspec.to_builtins(stored)
        # Journals from before there were hidden starts or nodes still belong to their events.
        data["openings"] = [each if each[-1] else each[:-1] for each in data["openings"]]
        for control in (data["control"], *(entrant["control"] for entrant in data["entrants"])):
            if control is not None and control["nodes"] is None:
                del control["nodes"]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Event:
        """Read what `to_json` wrote. Raises ValueError or IndexError for anything else."""
        stored = msgspec.convert(data, _StoredEvent)
        known_stalemate(stored.stalemate)
        return cls(
            name=stored.name,
            entrants=stored.entrants,
            tasks=tuple(
                GameTask(number, white, black, stored.openings[opening], seed, pair)
                for number, white, black, opening, seed, pair in stored.tasks
            ),
            control=stored.control,
            max_plies=stored.max_plies,
            coverage=stored.coverage,
            sprt=stored.sprt,
            stalemate=stored.stalemate,
            resign=stored.resign,
        )

    def fingerprint(self) -> str:
        """Return a short hash of all of it. Two events with one fingerprint are the same."""
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# -- schedules --------------------------------------------------------------------------------


def paired_games(
    pairings: Sequence[Pairing], rounds: int, openings: Sequence[Opening], seed: int
) -> tuple[GameTask, ...]:
    """Let every pairing play a pair of games in each round. All pairings advance together.

    The openings are shuffled by *seed* and used one after the other, again and again. In one round
    all pairings have the same opening.
    pairings: indices of two entrants; the first has White in even games.
    """
    chance = random.Random(seed)
    book = chance.sample(openings, len(openings))
    tasks: list[GameTask] = []
    for number, (round_, (first, second)) in enumerate(itertools.product(range(rounds), pairings)):
        opening, game_seed = book[round_ % len(book)], chance.randrange(1, _SEEDS)
        for white, black in ((first, second), (second, first)):
            tasks.append(GameTask(len(tasks), white, black, opening, game_seed, number))
    return tuple(tasks)


def match_games(games: int, openings: Sequence[Opening], seed: int) -> tuple[GameTask, ...]:
    """Return the games of entrant 0 against entrant 1. If *games* is odd, one is without its twin."""
    return paired_games([(0, 1)], (games + 1) // 2, openings, seed)[:games]


def round_robin_pairings(entrants: int) -> list[Pairing]:
    """Return every pairing of *entrants* entrants."""
    return list(itertools.combinations(range(entrants), 2))
