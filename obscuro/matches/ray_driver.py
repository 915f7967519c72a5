"""The process that plays an event on a Ray cluster: `python -m obscuro.matches.ray_driver`.

Ray runs in a process of its own, because it prints what it likes, takes over signals, and ends its
process when it loses the cluster. `ray_workers.py` starts this one. Both speak in JSON objects, one
a line. The conductor makes seats on the nodes and gives games to them. It is moved by events: what
the process of the match says, and what calls to the cluster have come to. At the end of its input
this process breaks off all games and ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from obscuro.matches.ray_seat import (
    LEAVE_SECONDS,
    Answer,
    Installed,
    NodeFacts,
    RaySeat,
    alive_nodes,
    difference,
    make_inspector,
)

LOCAL = "local"
_LEAST_STORE = 80 * 1024 * 1024  # bytes of shared memory; Ray allows no less than 75 MiB
SCAN_SECONDS = 3.0
"""How often the conductor looks for nodes that have come or gone."""
MOST_LOSSES = 5
"""A node that loses this many workers in a row, without a game between, is not used any more."""
NODE_PATIENCE_SECONDS = 60.0
"""How long the event waits for a node if none is left."""
WAIT_NOTE_SECONDS = 20.0
"""After this time without a seat the conductor says what it waits for."""

Say = Callable[[Mapping[str, Any]], None]
Step = Callable[[], None]


class ConductorError(Exception):
    """The event can't go on. The text is one line for the user."""


@dataclass(eq=False)
class _Node:
    """A node in use. losses: workers lost since its last game."""

    facts: NodeFacts
    usable: bool = False  # it has been inspected
    prepared: bool = False
    preparing: bool = False
    losses: int = 0
    seats: list[_Seat] = field(default_factory=list)


@dataclass(eq=False)
class _Seat:
    """An actor. task: the game that it plays; None: it has none."""

    node: _Node
    actor: Any
    ready: bool = False
    task: int | None = None


class Conductor:
    """Plays the games of one event.

    event: as JSON. cores: for each game. most: the most games at the same time. say: sends a
    message to the process of the match; `ray_workers.py` lists them.
    """

    def __init__(self, event: Mapping[str, Any], cores: int, most: int, say: Say) -> None:
        self._event = ray.put(event)
        self._cores = cores
        self._most = most
        self._say = say
        self._steps: queue.SimpleQueue[Step] = queue.SimpleQueue()
        self._nodes: dict[str, _Node] = {}
        self._here = Installed(*make_inspector()())
        self._inspect = ray.remote(num_cpus=0, max_retries=0)(make_inspector())
        self._seat = ray.remote(RaySeat)
        self._begin = self._last_node = time.monotonic()
        self._seated = False  # a seat has been ready
        self._noted = False
        self._played = False  # a game has ended
        self._stopped = False

    # -- for other threads --------------------------------------------------------------------

    def play(self, number: int) -> None:
        """Play this game; there is a free seat."""
        self._steps.put(partial(self._give, number))

    def stop(self) -> None:
        """Break off all games, and let `run` end."""
        self._steps.put(self._stop)

    # -- the loop -----------------------------------------------------------------------------

    def run(self) -> None:
        """Conduct until `stop`. Raises ConductorError."""
        scan = 0.0
        try:
            while not self._stopped:
                now = time.monotonic()
                if now >= scan:
                    self._scan()
                    scan = now + SCAN_SECONDS
                try:
                    step = self._steps.get(timeout=max(0.0, scan - now))
                except queue.Empty:
                    continue
                step()
        finally:
            self._leave()

    def _stop(self) -> None:
        self._stopped = True

    def _call(self, reference: Any, then: Callable[[Any, BaseException | None], None]) -> None:
        """Let the loop call *then* with the result, or the error, of a call to the cluster."""

        def done(future: Any) -> None:
            error = future.exception()
            result = None if error is not None else future.result()
            self._steps.put(partial(then, result, error))

        reference.future().add_done_callback(done)

    # -- nodes --------------------------------------------------------------------------------

    def _scan(self) -> None:
        """Take in nodes that have come, drop those that have gone, and fill all with seats."""
        found = {node.ident: node for node in alive_nodes(ray.nodes())}
        for ident in set(self._nodes) - set(found):
            del self._nodes[ident]
        for ident, facts in found.items():
            if ident not in self._nodes and facts.games(self._cores) > 0:
                self._nodes[ident] = _Node(facts)
                self._look_at(self._nodes[ident])
        if not any(facts.games(self._cores) for facts in found.values()) and not self._played:
            most = max((facts.cores for facts in found.values()), default=0)
            raise ConductorError(
                f"no node of the Ray cluster has the {self._cores} cores of a game "
                f"(the largest lends {most:g}); give a smaller --cores-per-game"
            )
        self._fill()
        self._check_patience()

    def _look_at(self, node: _Node) -> None:
        strategy = NodeAffinitySchedulingStrategy(node.facts.ident, soft=False)
        reference = self._inspect.options(scheduling_strategy=strategy).remote()
        self._call(reference, partial(self._inspected, node))

    def _inspected(self, node: _Node, result: Any, error: BaseException | None) -> None:
        """Take in what a node has installed."""
        if error is not None:
            self._lost_worker(node, error)
            if node.losses < MOST_LOSSES and node.facts.ident in self._nodes:
                self._look_at(node)
            return
        problem = difference(node.facts.name, Installed(*result), self._here)
        if problem is None:
            node.usable = True
            self._fill()
        elif not self._played:
            raise ConductorError(problem)
        else:  # it has joined later
            node.losses = MOST_LOSSES
            self._say({"note": f"not used: {problem}"})

    def _fill(self) -> None:
        """Make seats where there is room, on the emptiest node first."""
        while sum(len(node.seats) for node in self._nodes.values()) < self._most:
            with_room = [
                node
                for node in self._nodes.values()
                if node.usable and len(node.seats) < node.facts.games(self._cores)
            ]
            if not with_room:
                return
            node = min(with_room, key=lambda node: len(node.seats))
            strategy = NodeAffinitySchedulingStrategy(node.facts.ident, soft=False)
            actor = self._seat.options(
                num_cpus=self._cores,
                max_concurrency=2,  # `leave` comes while `play` runs
                max_restarts=0,
                scheduling_strategy=strategy,
            ).remote(self._event)
            seat = _Seat(node, actor)
            node.seats.append(seat)
            self._call(actor.arrive.remote(), partial(self._arrived, seat))

    def _check_patience(self) -> None:
        """Say what the event waits for, and end it if no node is left for long."""
        now = time.monotonic()
        if any(node.usable or node.losses < MOST_LOSSES for node in self._nodes.values()):
            self._last_node = now
        if now - self._last_node > NODE_PATIENCE_SECONDS:
            raise ConductorError("no usable node of the Ray cluster is left")
        if not self._seated and not self._noted and now - self._begin > WAIT_NOTE_SECONDS:
            self._noted = True
            self._say({"note": f"waiting for {self._cores} free cores in the Ray cluster"})

    # -- seats --------------------------------------------------------------------------------

    def _arrived(self, seat: _Seat, result: Any, error: BaseException | None) -> None:
        """Use a seat that Ray has started. The first one prepares its node."""
        if error is not None:
            self._lose(seat, error)
            return
        self._seated = True
        seat.ready = True
        if seat.node.prepared:
            self._say({"free": 1})
        else:
            self._prepare(seat.node)

    def _prepare(self, node: _Node) -> None:
        """Let a seat prepare the node, unless one does."""
        seat = next((seat for seat in node.seats if seat.ready), None)
        if seat is not None and not node.preparing:
            node.preparing = True
            self._call(seat.actor.prepare.remote(), partial(self._prepared, seat))

    def _prepared(self, seat: _Seat, answer: Answer | None, error: BaseException | None) -> None:
        """Free all seats of a node on which every player has started once."""
        node = seat.node
        node.preparing = False
        if answer is None:
            self._lose(seat, error)
            self._prepare(node)
            return
        self._warn(node, answer)
        if "engine" in answer:
            raise ConductorError(f"node {node.facts.name}: {answer['engine']}")
        if "fault" in answer:
            self._lose(seat, None, str(answer["fault"]))
            self._prepare(node)
            return
        node.prepared = True
        node.losses = 0
        self._say({"free": sum(seat.ready for seat in node.seats)})

    def _give(self, number: int) -> None:
        """Let a free seat play a game; none is free if its worker was lost meanwhile."""
        seat = next(
            (
                seat
                for node in self._nodes.values()
                for seat in node.seats
                if seat.ready and node.prepared and seat.task is None
            ),
            None,
        )
        if seat is None:
            self._say({"returned": number})
            return
        seat.task = number
        self._call(seat.actor.play.remote(number), partial(self._ended, seat))

    def _ended(self, seat: _Seat, answer: Answer | None, error: BaseException | None) -> None:
        """Pass on what became of a game."""
        if answer is None:
            self._lose(seat, error)
            return
        number, seat.task = seat.task, None
        node = seat.node
        self._warn(node, answer)
        if "belief" in answer:
            self._say({"belief": answer["belief"]})
        elif "engine" in answer:
            raise ConductorError(f"node {node.facts.name}: {answer['engine']}")
        elif "fault" in answer:
            self._say({"game": number, "fault": f"node {node.facts.name}: {answer['fault']}"})
            self._say({"free": 1})
        elif "record" in answer:
            self._played = True
            node.losses = 0
            self._say({"game": number, "record": answer["record"]})
            self._say({"free": 1})

    def _warn(self, node: _Node, answer: Answer) -> None:
        for text in answer["warnings"]:
            self._say({"note": f"node {node.facts.name}: {text}"})

    def _lose(self, seat: _Seat, error: BaseException | None, fault: str = "") -> None:
        """Give up a seat. Its game is broken off by a fault of the machine."""
        node = seat.node
        if seat in node.seats:
            node.seats.remove(seat)
        if seat.task is not None:
            fault = f"the worker on node {node.facts.name} was lost"
            self._say({"game": seat.task, "fault": fault})
        elif seat.ready and node.prepared:
            self._say({"free": -1})
        self._lost_worker(node, error, fault)

    def _lost_worker(self, node: _Node, error: BaseException | None, fault: str = "") -> None:
        """Count a lost worker. Raises ConductorError for an error that is not the cluster's."""
        if isinstance(error, RayTaskError) or (error and not isinstance(error, RayError)):
            raise ConductorError(f"node {node.facts.name}: {_last_line(error)}")
        node.losses += 1
        if node.losses >= MOST_LOSSES:
            node.usable = False
            reason = fault or _last_line(error)
            self._say({"note": f"node {node.facts.name} is not used any more: {reason}"})

    def _leave(self) -> None:
        """Break off all games, so that no engine stays behind, and end all workers."""
        seats = [seat for node in self._nodes.values() for seat in node.seats]
        with contextlib.suppress(RayError):
            leaving = [seat.actor.leave.remote() for seat in seats if seat.ready]
            if leaving:
                ray.wait(leaving, num_returns=len(leaving), timeout=2 * LEAVE_SECONDS + 2)
            for seat in seats:
                ray.kill(seat.actor)


def _last_line(error: BaseException | None) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


# -- the process --------------------------------------------------------------------------------


def connect(address: str) -> None:
    """Connect to a cluster, or start one on this machine. Raises ConductorError."""
    local: dict[str, Any] = {"include_dashboard": False, "object_store_memory": _LEAST_STORE}
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            configure_logging=False,
            **(local if address == LOCAL else {}),
        )
    except (ConnectionError, RuntimeError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        hint = (
            "" if "RAY_AUTH_MODE" in os.environ else "; if it asks for a token: RAY_AUTH_MODE=token"
        )
        raise ConductorError(f"can't use the Ray cluster at {address}: {reason}{hint}") from error


class Driver:
    """Passes messages on between the process of the match and the conductor."""

    def __init__(self, commands: TextIO, messages: TextIO) -> None:
        self._commands = commands
        self._messages = messages
        self._lock = threading.Lock()

    def say(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the match has gone, the end of the input comes soon."""
        try:
            with self._lock:
                self._messages.write(json.dumps(message) + "\n")
                self._messages.flush()
        except BrokenPipeError:
            pass

    def run(self) -> None:
        """Play what the commands ask for."""
        settings = json.loads(self._commands.readline())
        try:
            connect(settings["address"])
            self.say({"connected": True})
            conductor = Conductor(settings["event"], settings["cores"], settings["most"], self.say)
            reader = threading.Thread(target=self._read, args=(conductor,), daemon=True)
            reader.start()
            conductor.run()
        except ConductorError as error:
            self.say({"error": str(error)})
        finally:
            ray.shutdown()

    def _read(self, conductor: Conductor) -> None:
        for line in self._commands:
            conductor.play(json.loads(line)["play"])
        conductor.stop()


def main() -> None:
    """Speak on what was standard output; all that Ray prints goes to standard error."""
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    Driver(sys.stdin, messages).run()


if __name__ == "__main__":
    main()
