"""The real server of pychess.org as a process: started, killed and started again."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from pathlib import Path

from tools.proofs.pychess.children import Child, NotAsExpectedError, free_port, until

STARTER = Path(__file__).with_name("start_server.py")
START_SECONDS = 120.0


class PychessServer:
    """A checkout of the server, run by an interpreter that has what the server needs.

    It always listens on the same port of 127.0.0.1. Its database is a file in *folder*. people: who
    has an account there, besides the bot.
    """

    def __init__(
        self,
        checkout: Path,
        interpreter: Path,
        folder: Path,
        token: str,
        bot: str,
        people: Sequence[str],
    ) -> None:
        self._command = [str(interpreter), str(STARTER), str(checkout), str(folder / "database")]
        self._database = folder / "database"
        self.port = free_port()
        self._environment = {
            "PORT": str(self.port),
            "BOT_TOKENS": json.dumps({token: bot}),
            "ACCOUNTS": json.dumps(list(people)),
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),  # the checkout stays as it is
        }
        self._output = folder / "server.log"
        self._child: Child | None = None

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def child(self) -> Child:
        """The running process."""
        assert self._child is not None
        return self._child

    def start(self) -> None:
        """Start it and wait until it listens. Raises NotAsExpectedError."""
        self._child = Child(self._command, self._environment, self._output)
        until(self._is_up, START_SECONDS, "the server")

    def _is_up(self) -> bool:
        if self.child.exit_code is not None:
            last = (self.child.said().strip().splitlines() or ["it says nothing"])[-1]
            raise NotAsExpectedError(f"the server does not start: {last}")
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """Kill it, SIGKILL."""
        self.child.kill()

    def forget(self) -> None:
        """Delete the database. The server must not be running."""
        self._database.unlink()

    def close(self) -> None:
        """Kill it if it runs."""
        if self._child is not None:
            self._child.kill_all()
