"""Events: all that decides the games of a match or a tournament, as plain data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from obscuro.matches.entrant import Entrant
from obscuro.matches.openings import Opening
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.time_control import TimeControl
from obscuro.rules.stalemate import LOSS, known_stalemate


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


@dataclass(frozen=True, slots=True)
class Event:
    """All that decides the games of a match or a tournament, and when it ends.

    tasks: the games, by number. control: the time of entrants without their own. max_plies: a game
    is drawn after so many plies. coverage: whether players say where the true position was in their
    search. sprt: the sequential test that may end a match before all games are played. stalemate:
    what a side without a move gets, of `obscuro.rules.stalemate.STALEMATES`.
    """

    name: str
    entrants: tuple[Entrant, ...]
    tasks: tuple[GameTask, ...]
    control: TimeControl
    max_plies: int
    coverage: bool = True
    sprt: SprtBounds | None = None
    stalemate: str = LOSS

    def control_of(self, entrant: int) -> TimeControl:
        """Return the time of the entrant with this index."""
        own = self.entrants[entrant].control
        return self.control if own is None else own

    def to_json(self) -> dict[str, Any]:
        """Return the event as a JSON object. Each opening is in it once.

        The usual rule of stalemate is not in it, so that journals from before there was a choice
        still belong to their events.
        """
        openings = list(dict.fromkeys(task.opening for task in self.tasks))
        index = {opening: number for number, opening in enumerate(openings)}
        return {
            "name": self.name,
            "entrants": [entrant.to_json() for entrant in self.entrants],
            "control": self.control.to_json(),
            "max_plies": self.max_plies,
            "coverage": self.coverage,
            "sprt": None if self.sprt is None else self.sprt.to_json(),
            **({} if self.stalemate == LOSS else {"stalemate": self.stalemate}),
            "openings": [[each.name, each.fen, list(each.moves)] for each in openings],
            "tasks": [
                [task.number, task.white, task.black, index[task.opening], task.seed, task.pair]
                for task in self.tasks
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Event:
        """Read what `to_json` wrote.

        Raises KeyError, TypeError, ValueError or IndexError for anything else.
        """
        openings = [Opening(name, fen, tuple(moves)) for name, fen, moves in data["openings"]]
        return cls(
            name=str(data["name"]),
            entrants=tuple(Entrant.from_json(entrant) for entrant in data["entrants"]),
            tasks=tuple(
                GameTask(number, white, black, openings[opening], seed, pair)
                for number, white, black, opening, seed, pair in data["tasks"]
            ),
            control=TimeControl.from_json(data["control"]),
            max_plies=int(data["max_plies"]),
            coverage=bool(data["coverage"]),
            sprt=None if data["sprt"] is None else SprtBounds.from_json(data["sprt"]),
            stalemate=known_stalemate(data.get("stalemate", LOSS)),
        )

    def fingerprint(self) -> str:
        """Return a short hash of all of it. Two events with one fingerprint are the same."""
        text = json.dumps(self.to_json(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
