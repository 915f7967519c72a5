"""What the engines of `deadly_engine.py` are to do: files in a directory."""

from __future__ import annotations

import os
import select
import sys
from pathlib import Path

import psutil

DEADLY = [sys.executable, str(Path(__file__).with_name("deadly_engine.py"))]
"""The command; the directory follows."""
SECONDS = 60.0  # the most that anything here may take


class Orders:
    """Gives orders to all engines that look into the directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        os.mkfifo(directory / "pids")
        self._pids = os.open(directory / "pids", os.O_RDWR)

    def give(self, word: str) -> None:
        (self.directory / word).touch()

    def take_back(self, word: str) -> None:
        (self.directory / word).unlink()

    def hanging(self, count: int) -> list[psutil.Process]:
        """Wait until so many engines hang; return their processes."""
        text = ""
        while text.count("\n") < count:
            ready, _, _ = select.select([self._pids], [], [], SECONDS)
            assert ready, "no engine came to its move"
            text += os.read(self._pids, 1000).decode()
        return [psutil.Process(int(pid)) for pid in text.split()]

    def close(self) -> None:
        os.close(self._pids)
