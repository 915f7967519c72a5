"""A seat for one game at a time, as an actor on a node of a Ray cluster. It does not import Ray."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import chess

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.entrant import check_entrant, make_contestant
from obscuro.matches.event import Event
from obscuro.matches.game_record import BeliefError, PlayedPly
from obscuro.matches.game_workers import Players, play_task
from obscuro.matches.machine_watch import MachineWatch
from obscuro.matches.record_json import record_to_json
from obscuro.rules.board import FogOfWarBoard

LEAVE_SECONDS = 2.0
"""How long a game that is broken off may go on with its move before its engines are killed."""

Answer = dict[str, Any]
"""What a seat says: `warnings` (list of texts), and one of `record` (JSON), `fault` (text: the
machine's), `engine` (text: a player can't be started), `belief` (text: BeliefError), `left`
(True: the game was broken off) or `ready` (True)."""


class _GameLeft(Exception):  # noqa: N818
    """The event ends, and this game with it."""


class RaySeat:
    """Keeps the players of an event alive from game to game. Ray calls it from two threads."""

    def __init__(self, event: Mapping[str, Any]) -> None:
        """Take the event as JSON."""
        self._event = Event.from_json(event)
        self._tasks = {task.number: task for task in self._event.tasks}
        self._warnings: list[str] = []
        self._players = Players(self._warnings.append)
        self._watch = MachineWatch()
        self._watch.__enter__()
        self._leaving = threading.Event()
        self._idle = threading.Event()
        self._idle.set()

    def arrive(self) -> bool:
        """Say that Ray has started this seat."""
        return True

    def prepare(self) -> Answer:
        """Start each player once, so that all is compiled on this node before its first game."""
        try:
            for entrant in self._event.entrants:
                check_entrant(entrant)
                player = make_contestant(entrant, self._warnings.append, self._event.coverage)
                try:
                    player.new_game(FogOfWarBoard(), chess.WHITE, 0)
                finally:
                    player.close()
        except (MachineFault, OSError, MemoryError) as fault:
            return self._answer("fault", str(fault))
        except (EngineError, ValueError) as error:
            return self._answer("engine", str(error))
        return self._answer("ready", True)

    def play(self, number: int) -> Answer:
        """Play one game of the event."""
        self._idle.clear()
        try:
            task = self._tasks[number]
            played = play_task(self._event, task, self._players, self._watch, self._after_ply)
        except _GameLeft:
            return self._answer("left", True)
        except EngineError as error:
            return self._answer("engine", str(error))
        except BeliefError as error:
            return self._answer("belief", str(error))
        finally:
            self._idle.set()
        if self._leaving.is_set():  # `leave` may have killed an engine, which then lost the game
            return self._answer("left", True)
        if played.record is None:
            return self._answer("fault", played.fault)
        return self._answer("record", record_to_json(played.record))

    def leave(self) -> None:
        """Break the game off, and close the players."""
        self._leaving.set()
        self._idle.wait(LEAVE_SECONDS)
        self._players.close()
        self._idle.wait(LEAVE_SECONDS)

    def _after_ply(self, board: FogOfWarBoard, ply: PlayedPly) -> None:
        if self._leaving.is_set():
            raise _GameLeft

    def _answer(self, key: str, value: object) -> Answer:
        warnings = list(self._warnings)
        del self._warnings[: len(warnings)]
        return {key: value, "warnings": warnings}
