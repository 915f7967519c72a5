"""What runs on the nodes of a Ray cluster: seats, actors that each play one game at a time.

Nothing here imports Ray.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import chess
import msgspec

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.installation import page
from obscuro.matches.builtin_players import check_entrant, make_contestant
from obscuro.matches.event import Event
from obscuro.matches.game_record import BeliefError, PlayedPly, record_data
from obscuro.matches.game_workers import MachineWatch, Players, play_task
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
        return self._answer("record", msgspec.to_builtins(record_data(played.record)))

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


# -- nodes --------------------------------------------------------------------------------------


class NodeFacts(NamedTuple):
    """A node that Ray knows.

    ident: Ray's id of the node. name: its address, for messages. cores: what it lends to Ray.
    """

    ident: str
    name: str
    cores: float

    def games(self, cores_per_game: int) -> int:
        """Return how many games the node can hold at the same time."""
        return int(self.cores // cores_per_game)


def alive_nodes(listed: list[Mapping[str, Any]]) -> list[NodeFacts]:
    """Return the nodes that are alive, of what `ray.nodes` lists."""
    return [
        NodeFacts(
            str(node["NodeID"]),
            str(node["NodeManagerAddress"]),
            float(node["Resources"].get("CPU", 0)),
        )
        for node in listed
        if node["Alive"]
    ]


class Installed(NamedTuple):
    """The obscuro that a machine has.

    version: None if there is none. digest: a hash of its source files.
    """

    version: str | None
    digest: str


def make_inspector() -> Callable[[], tuple[str | None, str]]:
    """Return a function that says what a machine has installed: the fields of `Installed`.

    Ray sends it to the nodes as code, not by name. So it works on a node without obscuro.
    """

    def inspect() -> tuple[str | None, str]:
        import hashlib  # noqa: PLC0415 - the function brings nothing along
        import importlib  # noqa: PLC0415
        from pathlib import Path  # noqa: PLC0415

        try:
            package: Any = importlib.import_module("obscuro")
        except ImportError:
            return None, ""
        root = Path(package.__file__).parent
        digest = hashlib.sha256()
        for file in sorted(root.rglob("*.py")):
            digest.update(f"{file.relative_to(root)}\n".encode())
            digest.update(file.read_bytes())
        return package.__version__, digest.hexdigest()[:16]

    return inspect


def difference(node: str, there: Installed, here: Installed) -> str | None:
    """Say in one line why a node can't play with us; None if it can."""
    remedy = "install the same on all nodes"
    if there.version is None:
        return f"node {node} has no obscuro in Ray's Python; {remedy}: see {page('cluster.md')}"
    if there.version != here.version:
        return f"node {node} has obscuro {there.version}, and this machine {here.version}; {remedy}"
    if there.digest != here.digest:
        return (
            f"node {node} has another state of obscuro {there.version} than this machine; {remedy}"
        )
    return None
