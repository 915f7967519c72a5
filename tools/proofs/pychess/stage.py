"""The stage of the proof: a server, a bridge on it, humans; and the list of scenarios."""

from __future__ import annotations

import contextlib
import itertools
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from websockets.exceptions import WebSocketException

from tools.proofs.pychess.human import Human
from tools.proofs.pychess.processes import BridgeProcess, NotAsExpectedError, PychessServer

BOT = "Obscuro-Bot"
PEOPLE = tuple(f"Human{number}" for number in range(1, 100))
"""Each plays in one scenario only, so no game that one leaves unfinished is in another's way."""
ARGUMENTS = ("--games", "2", "--least-base", "15", "--abort-after", "12")
"""Of every bridge: two games at a time, short games, and little patience for a first move."""


class Stage:
    """What every scenario finds: a server that runs and a bridge that is online.

    folder: where the processes write.
    """

    def __init__(self, server: PychessServer, token: str, folder: Path) -> None:
        self.server = server
        self.token = token
        self.folder = folder
        self._people = iter(PEOPLE)
        self._folders = itertools.count()
        self._humans: list[Human] = []
        self._others: list[BridgeProcess] = []  # bridges of one scenario
        self._mute = socket.create_server(("127.0.0.1", 0))
        self.bridge = self._bridge(server.url, token)
        self.bridge_on_mute_server = self._bridge(_url(self._mute), token)

    def human(self) -> Human:
        """Return somebody new."""
        self._humans.append(Human(self.server.url, next(self._people), BOT))
        return self._humans[-1]

    def make_bridge(self, *arguments: str, token: str = "", url: str = "") -> BridgeProcess:
        """Return another bridge, not started. It is closed after the scenario."""
        self._others.append(self._bridge(url or self.server.url, token or self.token, *arguments))
        return self._others[-1]

    def _bridge(self, url: str, token: str, *arguments: str) -> BridgeProcess:
        folder = self.folder / f"bridge{next(self._folders)}"
        folder.mkdir()
        return BridgeProcess(url, token, folder, [*ARGUMENTS, *arguments])

    def make_ready(self) -> None:
        """Send all humans home, and start what a scenario has left dead."""
        for human in self._humans:
            human.leave()
        for other in self._others:
            other.close()
        self._humans.clear()
        self._others.clear()
        if self.server.child.exit_code is not None:
            self.server.start()
        if not self.bridge.runs:
            self.bridge.start()

    def clear(self) -> None:
        """End the games that a failed scenario has left, and the bridge, which may hold on to them."""
        for game in (game for human in self._humans for game in human.games):
            with contextlib.suppress(NotAsExpectedError):
                game.send("resign")
        self.bridge.close()

    def end_of(self, game: str, seconds: float = 20.0) -> str:
        """Return what the bridge says of a game's end, when it says so.

        Raises NotAsExpectedError.
        """
        line = self.bridge.wait_for(
            rf"game {game}: (won|lost|drawn|draw|aborted|over|given)", seconds
        )
        return line.removeprefix(f"game {game}: ")

    @contextlib.contextmanager
    def only(self, other: BridgeProcess) -> Iterator[None]:
        """Within this context *other* plays in place of the usual bridge."""
        self.bridge.close()
        other.start()
        try:
            yield
        finally:
            other.close()
            self.bridge.start()

    def close(self) -> None:
        """End all processes."""
        for each in (self.bridge, self.bridge_on_mute_server, *self._others):
            each.close()
        self.server.close()
        self._mute.close()


def _url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


class Scenario(NamedTuple):
    """Something that is done, and what must come of it.

    play: does it and returns what happened, in a few words. Raises NotAsExpectedError.
    """

    name: str
    done: str
    expected: str
    play: Callable[[Stage], str]


class Row(NamedTuple):
    """A scenario that was played."""

    name: str
    done: str
    expected: str
    happened: str
    passed: bool
    seconds: float


def play(scenario: Scenario, stage: Stage) -> Row:
    """Play one scenario on a stage that is made ready before."""
    begin = time.monotonic()
    try:
        stage.make_ready()
        happened, passed = scenario.play(stage), True
    except (NotAsExpectedError, WebSocketException, OSError) as error:
        happened, passed = " ".join(str(error).split()) or type(error).__name__, False
        stage.clear()
    seconds = round(time.monotonic() - begin, 1)
    return Row(scenario.name, scenario.done, scenario.expected, happened, passed, seconds)


def expect(condition: bool, otherwise: str) -> None:
    """Go on if it is so. Raises NotAsExpectedError, which says *otherwise*, if not."""
    if not condition:
        raise NotAsExpectedError(otherwise)


def expect_match(pattern: str, text: str) -> None:
    """Go on if the text matches an expression. Raises NotAsExpectedError with the text if not."""
    expect(re.search(pattern, text) is not None, text)
