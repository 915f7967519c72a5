"""The processes of the proof: pychess's real server, and `obscuro bridge` with the real engine.

Each writes to a file and dies with the proof.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from tools.common import ROOT

POLL_SECONDS = 0.05
"""How often something is looked at that is waited for."""
KILL_SECONDS = 10.0


class NotAsExpectedError(Exception):
    """What a scenario expects did not happen; the text says what happened."""


def until(
    condition: Callable[[], bool], seconds: float, what: str, pause: float = POLL_SECONDS
) -> None:
    """Wait until a condition holds. Raises NotAsExpectedError after *seconds*, which names *what*.

    pause: seconds between two looks.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise NotAsExpectedError(f"{what} did not come within {seconds:g} s")
        time.sleep(pause)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Child:
    """A process whose output, both streams, goes to one file.

    The system kills it when the proof ends, however the proof ends, where `setpriv` is installed.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], output: Path
    ) -> None:
        """Start it. environment: in addition to ours. Raises OSError."""
        self.output = output
        setpriv = shutil.which("setpriv")
        guard = [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
        with output.open("ab") as stream:
            self._start = stream.tell()
            self._popen = subprocess.Popen(
                [*guard, *command],
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal does not reach it
            )
        self.pid = self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, None while the process runs."""
        return self._popen.poll()

    def said(self) -> str:
        """Return what this process has written so far."""
        with self.output.open("rb") as stream:
            stream.seek(self._start)
            return stream.read().decode("utf-8", "replace")

    def signal(self, number: int) -> None:
        """Send a signal to this process alone."""
        self._popen.send_signal(number)

    def wait(self, seconds: float) -> int:
        """Return the exit code. Raises NotAsExpectedError if the process goes on."""
        until(lambda: self.exit_code is not None, seconds, "the end of the process")
        code = self.exit_code
        assert code is not None
        return code

    def kill(self) -> None:
        """Kill the process as a crash would, SIGKILL, and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.kill()
        self._popen.wait()

    def kill_all(self) -> None:
        """Kill the process and all that it has started, and wait until they are gone."""
        started = self.family()[1:]
        self.kill()
        for each in started:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        psutil.wait_procs(started, KILL_SECONDS)

    def family(self) -> list[psutil.Process]:
        """Return the process and all that it has started and that still runs."""
        with contextlib.suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.pid)
            return [own, *own.children(recursive=True)]
        return []


@contextlib.contextmanager
def stopped(child: Child) -> Iterator[None]:
    """Within this context the process stands still: it answers nothing, and no connection breaks."""
    child.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        child.signal(signal.SIGCONT)


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


ONLINE_SECONDS = 180.0
"""With a cold cache the engine compiles its kernels."""
TOKEN = "OBSCURO_BOT_TOKEN"
GREETING = "Good luck"
FAREWELL = "Thank you"
CONFIGURATION = f"""\
url = "URL"
log = "bridge.log"
games_file = "games.json"
pgn = "games.pgn"
greeting = "{GREETING}"
farewell = "{FAREWELL}"
en_passant = "hidden"

[engine]  # they keep the load of the proof small
Threads = 1
Hash = 64
Evaluator = "material"
Seed = 1
"""


class BridgeProcess:
    """The bridge on a server. It finds the same folder of its own at every start."""

    def __init__(self, url: str, token: str, folder: Path, arguments: Sequence[str]) -> None:
        self.pgn = folder / "games.pgn"
        file = folder / "bridge.toml"
        file.write_text(CONFIGURATION.replace("URL", url))
        program = (sys.executable, "-P", "-m", "obscuro.cli.main")
        self._command = [*program, "bridge", "--config", str(file), *arguments]
        self._environment = {
            TOKEN: token,
            "PYTHONPATH": str(ROOT),
            "XDG_STATE_HOME": str(folder / "state"),
        }
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
