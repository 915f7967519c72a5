"""Workers on the nodes of a Ray cluster.

A child process, `ray_driver.py`, holds the connection to the cluster. It makes seats, actors that
keep their players from game to game, and sends what they have played. Messages of the child:

    {"connected": true}               it has reached the cluster
    {"free": n}                       n more seats are free; fewer if negative
    {"game": n, "record": {...}}      a game has ended; its seat says `free` again
    {"game": n, "fault": "..."}       a fault of the machine broke the game off
    {"returned": n}                   the game was not begun, since its seat was lost
    {"note": "..."}                   something to tell the user
    {"belief": "..."}                 a BeliefError
    {"error": "..."}                  the event can't go on

We answer with `{"play": n}`. When we close its input, the child breaks off all games and ends.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import queue
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from obscuro.installation import how_to_add
from obscuro.matches.builtin_players import Warn
from obscuro.matches.event import ArenaError, Entrant, Event, GameTask
from obscuro.matches.game_record import BeliefError, RecordData
from obscuro.matches.game_workers import Played
from obscuro.players.roster import PLAYERS

AUTO, LOCAL = "auto", "local"
CLIENT = "ray://"
REACH_SECONDS = 10.0
"""The most seconds until the port of a cluster answers."""
CONNECT_SECONDS = 90.0
"""The most seconds until Ray has connected, or started a cluster on this machine."""
END_SECONDS = 30.0
"""The most seconds that the child may take to end."""
LOOK_SECONDS = 0.5  # how often we look whether the event has been stopped
THREADS, PONDER = "threads", "ponder"
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # Ray reports nothing
    "RAY_NUM_REDIS_GET_RETRIES": "1",  # or a wrong address takes ten minutes
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class ClusterError(ArenaError):
    """A Ray cluster can't be used, or was lost. The text is one line for the user."""


class RayWorkers:
    """Plays games on a Ray cluster.

    address: `auto`, `HOST:PORT` or `ray://HOST:PORT` of a cluster, or `local` to start one on this
    machine. cores: for each game; see `cores_of_a_game`. most: the most games at the same time;
    None: as many as the cluster holds. warn: receives the players' warnings and notes.
    """

    def __init__(self, address: str, cores: int, warn: Warn, *, most: int | None = None) -> None:
        self._address = address
        self._cores = cores
        self._warn = warn
        self._most = most

    def run(
        self, event: Event, tasks: Iterable[GameTask], stop: threading.Event
    ) -> Iterator[Played]:
        """Play the tasks; see `GameWorkers.run`. Raises ClusterError."""
        check_ray(self._address)
        child = _Child(self._settings(event))
        play = _RayPlay(event, iter(tasks), stop, child, self._warn)
        try:
            yield from play.outcomes()
        finally:
            child.close()
        play.raise_failure()

    def _settings(self, event: Event) -> dict[str, Any]:
        most = len(event.tasks)
        return {
            "address": self._address,
            "cores": self._cores,
            "most": most if self._most is None else min(most, self._most),
            "event": with_threads(event, self._cores).to_json(),
        }


def check_ray(address: str) -> None:
    """Raise ClusterError if Ray is not installed, or no cluster answers at the address."""
    client = address.startswith(CLIENT)
    for module in ("ray", "grpc") if client else ("ray",):
        if importlib.util.find_spec(module) is None:
            raise ClusterError(f"--ray needs the package ray; run: {how_to_add('cluster')}")
    if address in (AUTO, LOCAL):
        return
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not colon or not host or not port.isdigit():
        raise ClusterError(
            f"--ray: {address!r} is not {AUTO}, {LOCAL}, HOST:PORT or {CLIENT}HOST:PORT"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ClusterError(f"no Ray cluster answers at {address}: {reason}") from None


# -- cores and threads --------------------------------------------------------------------------


def cores_of_a_game(entrants: Sequence[Entrant]) -> int:
    """Return the cores that a game of these entrants needs.

    Only one side thinks at a time, so that is the largest number of threads. If a player ponders,
    it is the sum of the two largest.
    """
    threads = sorted(_threads(entrant) or 1 for entrant in entrants)
    ponders = any(_option(entrant, PONDER, "false").lower() == "true" for entrant in entrants)
    return sum(threads[-2:]) if ponders else threads[-1]


def check_cores(entrants: Sequence[Entrant], cores: int) -> None:
    """Raise ValueError, with one clear line, if an entrant wants more threads than a game has."""
    for entrant in entrants:
        named = _option(entrant, THREADS)
        if named.isdigit() and int(named) > cores:
            raise ValueError(
                f"{entrant.name} has Threads {named}, but a game has {cores} of a node's cores; "
                "give fewer Threads, or a larger --cores-per-game"
            )


def with_threads(event: Event, cores: int) -> Event:
    """Return the event with the number of threads set for our players that name none.

    Their default depends on the machine, and the nodes differ. So they get this machine's default,
    or the cores of a game if these are fewer.
    """
    entrants = []
    for entrant in event.entrants:
        threads = _threads(entrant)
        if threads is not None and not _option(entrant, THREADS):
            options = {**entrant.options, "Threads": str(min(threads, cores))}
            entrant = replace(entrant, options=options)  # noqa: PLW2901
        entrants.append(entrant)
    return replace(event, entrants=tuple(entrants))


def _threads(entrant: Entrant) -> int | None:
    """Return how many threads an entrant has; None if nothing says so."""
    named = _option(entrant, THREADS)
    if named.isdigit():
        return int(named)
    kind = PLAYERS.get(entrant.player)
    for option in () if kind is None else kind.options:
        if option.name.lower() == THREADS:
            return int(option.default)
    return None


def _option(entrant: Entrant, name: str, default: str = "") -> str:
    named = {option.lower(): value for option, value in entrant.options.items()}
    return named.get(name, default).strip()


def _environment(address: str) -> dict[str, str]:
    """Return the child's environment. What the user has set stands."""
    private: dict[str, str] = {}
    if address == LOCAL:
        # Ray opens its ports to the network. A token of our own keeps others out, and saves Ray
        # from writing one into the user's home directory.
        private = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return {**ENVIRONMENT, **private, **os.environ}


# -- the child ----------------------------------------------------------------------------------


class _Child:
    """The process that speaks with the cluster."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.messages: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()  # None: end
        self._stderr: deque[str] = deque(maxlen=20)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-m", "obscuro.matches.ray_driver"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=_environment(settings["address"]),
            start_new_session=True,  # a Ctrl-C in the terminal does not reach it
        )
        self._readers = [
            threading.Thread(target=reader, daemon=True)
            for reader in (self._read_messages, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()
        self.send(settings)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the child is gone, `messages` says so."""
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._popen.stdin.write(json.dumps(message) + "\n")
            self._popen.stdin.flush()

    def end_input(self) -> None:
        """Let the child break off all games and end. A second call does nothing."""
        assert self._popen.stdin is not None
        with contextlib.suppress(OSError):
            self._popen.stdin.close()

    def close(self) -> None:
        """End the child, by force if it takes too long."""
        self.end_input()
        try:
            self._popen.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        for reader in self._readers:
            reader.join(1.0)

    def last_words(self) -> str:
        """Return the last line that the child printed, for an error, but none of Ray's log."""
        lines = [line for line in self._stderr if line.strip() and not line.startswith("[")]
        return f": {lines[-1].strip()}" if lines else ""

    def _read_messages(self) -> None:
        assert self._popen.stdout is not None
        for line in self._popen.stdout:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def _read_stderr(self) -> None:
        assert self._popen.stderr is not None
        for line in self._popen.stderr:
            self._stderr.append(line)


class _RayPlay:
    """One run: what the child says becomes games."""

    def __init__(
        self,
        event: Event,
        tasks: Iterator[GameTask],
        stop: threading.Event,
        child: _Child,
        warn: Warn,
    ) -> None:
        self._event = event
        self._tasks = tasks
        self._stop = stop
        self._child = child
        self._warn = warn
        self._free = 0
        self._returned: list[GameTask] = []
        self._given: dict[int, GameTask] = {}
        self._failure: BaseException | None = None
        self._deadline: float | None = time.monotonic() + CONNECT_SECONDS  # for the next message
        self._ending = False

    def outcomes(self) -> Iterator[Played]:
        """Yield each game that has ended, until all have, or the event ends."""
        while True:
            try:
                self._give()
                message = self._next_message()
                if message is None:
                    return
                played = self._take(message)
            except BaseException as error:  # Ctrl-C: the games that have ended still count
                self._fail(error)
                continue
            if played is not None:
                yield played

    def raise_failure(self) -> None:
        """Raise the first error that ended the run, if there was one."""
        if self._failure is not None:
            raise self._failure

    def _next_message(self) -> dict[str, Any] | None:
        """Wait for a message; return None at the end of the child, or if it takes too long."""
        while True:
            if self._stop.is_set() and not self._ending:
                self._end()
            if self._deadline is not None and time.monotonic() > self._deadline:
                if not self._ending:
                    self._fail(ClusterError("the Ray cluster did not answer in time"))
                return None
            try:
                message = self._child.messages.get(timeout=LOOK_SECONDS)
            except queue.Empty:
                continue
            if message is None and not self._ending:
                last = self._child.last_words()
                self._fail(ClusterError(f"the connection to the Ray cluster was lost{last}"))
            return message

    def _take(self, message: Mapping[str, Any]) -> Played | None:
        if "connected" in message:
            self._deadline = None
        elif "free" in message:
            self._free += message["free"]
        elif "returned" in message:
            self._returned.append(self._given.pop(message["returned"]))
            self._free += 1  # it was taken for a seat that was gone, which `free` has subtracted
        elif "note" in message:
            self._warn(message["note"])
        elif "belief" in message:
            self._fail(BeliefError(message["belief"]))
        elif "error" in message:
            self._fail(ClusterError(message["error"]))
        elif "fault" in message:
            return Played(self._given.pop(message["game"]), None, message["fault"])
        elif "record" in message:
            record = msgspec.convert(message["record"], RecordData).record()
            return Played(self._given.pop(message["game"]), record)
        return None

    def _give(self) -> None:
        """Give games to free seats; end the run when none is left."""
        while not self._ending and not self._stop.is_set() and self._free > 0:
            task = self._returned.pop() if self._returned else next(self._tasks, None)
            if task is None:
                break
            self._free -= 1
            self._given[task.number] = task
            self._child.send({"play": task.number})
        if self._free > 0 and not self._given and not self._ending:
            self._end()

    def _fail(self, error: BaseException) -> None:
        if self._failure is None:
            self._failure = error
        self._stop.set()
        self._end()

    def _end(self) -> None:
        """Let the child end; what it still says is read."""
        self._ending = True
        self._child.end_input()
        self._deadline = time.monotonic() + END_SECONDS
