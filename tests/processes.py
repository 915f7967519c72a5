"""Processes that are started by what is tested."""

from __future__ import annotations

import psutil

from tests.hanging import HANG_SECONDS


def children(pid: int) -> list[int]:
    """Return the processes that a process has started and that are still there."""
    return [child.pid for child in psutil.Process(pid).children()]


def is_running(pid: int) -> bool:
    """Tell whether there is such a process, and it has not ended."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def all_end(pids: list[int]) -> bool:
    """Wait until all processes have ended; tell whether they have."""
    processes = [psutil.Process(pid) for pid in pids if is_running(pid)]
    _, alive = psutil.wait_procs(processes, HANG_SECONDS)
    return not alive
