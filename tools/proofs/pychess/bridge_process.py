"""`obscuro bridge` as a process, with the real engine."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.common import ROOT
from tools.proofs.pychess.children import Child, until

ONLINE_SECONDS = 180.0
"""With a cold cache the engine compiles its kernels."""
ENGINE = ("Threads=1", "Hash=64", "Evaluator=material", "Seed=1")
"""Options of the engine that keep the load of the proof small."""
GREETING = "Good luck"
FAREWELL = "Thank you"
TOKEN = "OBSCURO_BOT_TOKEN"


class BridgeProcess:
    """The bridge on a server. It finds the same folder of its own at every start."""

    def __init__(self, url: str, token: str, folder: Path, arguments: Sequence[str]) -> None:
        self.pgn = folder / "games.pgn"
        options = [word for option in ENGINE for word in ("--option", option)]
        self._command = [
            *(sys.executable, "-P", "-m", "obscuro.cli.main", "bridge", "--url", url),
            *("--log", str(folder / "bridge.log"), "--games-file", str(folder / "games.json")),
            *("--pgn", str(self.pgn), "--greeting", GREETING, "--farewell", FAREWELL),
            *(*options, *arguments),
        ]
        self._environment = {TOKEN: token, "PYTHONPATH": str(ROOT)}
        self._output = folder / "bridge.out"
        self._child: Child | None = None

    @property
    def child(self) -> Child:
        """The process that was started last."""
        assert self._child is not None
        return self._child

    @property
    def runs(self) -> bool:
        """Whether the bridge is there."""
        return self._child is not None and self._child.exit_code is None

    def start(self) -> None:
        """Start it and wait until it is online. Raises NotAsExpectedError."""
        self.launch()
        self.wait_for("online")

    def launch(self) -> None:
        """Start it and wait for nothing."""
        self._child = Child(self._command, self._environment, self._output)

    def lines(self, text: str) -> list[str]:
        """Return the lines of this process that match an expression, without time and level."""
        found = [line for line in self.child.said().splitlines() if re.search(text, line)]
        return [re.sub(r"^\S+ \S+ [A-Z]+ ", "", line) for line in found]

    def wait_for(self, text: str, seconds: float = ONLINE_SECONDS) -> str:
        """Return the last line that matches an expression, when there is one.

        Raises NotAsExpectedError.
        """
        until(lambda: bool(self.lines(text)), seconds, f"a line of the bridge with {text!r}")
        return self.lines(text)[-1]

    def games(self) -> str:
        """Return the games that the bridge has written, as PGN."""
        return self.pgn.read_text(encoding="utf-8") if self.pgn.exists() else ""

    def kill(self) -> None:
        """Kill the bridge, SIGKILL, and not its engines: they have to end by themselves."""
        self.child.kill()

    def interrupt(self) -> None:
        """Press Ctrl-C once."""
        self.child.signal(signal.SIGINT)

    def close(self) -> None:
        """Kill the bridge and its engines."""
        if self._child is not None:
            self._child.kill_all()
