"""`obscuro web` in a process of its own, with the real engine, as a user starts it."""

from __future__ import annotations

import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil

from obscuro.client.engine import engine_command

START_SECONDS = 120  # kernels may have to be compiled first
END_SECONDS = 30
QUICK = ("Evaluator=material", "Threads=1", "Hash=16", "Seed=1")


class WebProcess:
    """A server that can be killed, and started again at the same address.

    data: the folder of its games. url: without a slash at its end.
    """

    def __init__(self, data: Path, options: Sequence[str] = QUICK) -> None:
        self.data = data
        self.url = ""
        self._options = options
        self._port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        words = ["web", "--port", str(self._port), "--no-browser", "--data", str(self.data)]
        for option in self._options:
            words += ["--option", option]
        command = [sys.executable, "-m", "obscuro.cli.main", *words]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self._process.stdout is not None
        lines = _lines_of(self._process.stdout)
        said = []
        while (line := lines.get(timeout=START_SECONDS)) is not None:
            said.append(line)
            if found := re.search(r"board is at (http://127\.0\.0\.1:(\d+))/", line):
                self.url, self._port = found[1], int(found[2])
                return
        raise AssertionError(f"the server ended: {''.join(said)}")

    def engines(self) -> list[psutil.Process]:
        """Return the processes of its engines."""
        assert self._process is not None
        word = engine_command()[-1]
        children = psutil.Process(self._process.pid).children()
        return [child for child in children if word in child.cmdline()]

    @contextmanager
    def frozen_engines(self) -> Iterator[None]:
        """Let no engine move for the length of the block."""
        engines = self.engines()
        for engine in engines:
            engine.suspend()
        try:
            yield
        finally:
            for engine in engines:
                engine.resume()

    def kill(self) -> None:
        """End it and its engines at once, as a power cut does. It may have ended before."""
        assert self._process is not None
        if self._process.poll() is not None:
            return
        everything = [
            *psutil.Process(self._process.pid).children(recursive=True),
            psutil.Process(self._process.pid),
        ]
        for process in reversed(everything):
            process.kill()
        self._process.wait(END_SECONDS)


@contextmanager
def web_process(data: Path, options: Sequence[str] = QUICK) -> Iterator[WebProcess]:
    """Run a server for the length of the block."""
    server = WebProcess(data, options)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _lines_of(stream: IO[str]) -> queue.Queue[str | None]:
    """Read a stream to its end in a thread, so that its process never waits for us."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines
