"""The process that speaks with a Ray cluster for a match: `python -m obscuro.matches.ray_driver`.

Ray runs in a process of its own, because it prints what it likes, takes over signals, and ends its
process when it loses the cluster. `ray_workers.py` starts this one. Both speak in JSON objects, one
a line. At the end of its input this process breaks off all games and ends.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, TextIO

import ray

from obscuro.matches.ray_conductor import Conductor, ConductorError

LOCAL = "local"
_LEAST_STORE = 80 * 1024 * 1024  # bytes of shared memory; Ray allows no less than 75 MiB


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
        """Send a message; if nobody reads it any more, the end of the input comes soon."""
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
