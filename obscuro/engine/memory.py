"""How much memory this process may take: what the system has free, and what its limits leave."""

import os
import resource
from pathlib import Path

from obscuro.engine.machine import MEBIBYTE

USABLE_SHARE = 0.75
"""Of the free memory: other programs need some, and so do we besides the tree."""
_CGROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def usable_mebibytes(proc: str = "/proc", cgroup: str = "/sys/fs/cgroup") -> int | None:
    """Return how many MiB may be taken at once; None where the system doesn't say.

    proc, cgroup: where the system says it; tests give their own.
    """
    found = [_available(proc), _left_by_limit(proc)]
    for most, used in _CGROUPS:
        limit, usage = _number(Path(cgroup, most)), _number(Path(cgroup, used))
        if limit is not None and usage is not None:
            found.append(limit - usage)
    known = [number for number in found if number is not None]
    return max(0, int(USABLE_SHARE * min(known)) // MEBIBYTE) if known else None


def _available(proc: str) -> int | None:
    """Return the bytes that a program can take without swapping others out."""
    try:
        for line in Path(proc, "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _left_by_limit(proc: str) -> int | None:
    """Return the bytes of address space that a limit (`ulimit -v`) leaves us."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path(proc, "self", "statm").read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return limit
    return limit - pages * os.sysconf("SC_PAGE_SIZE")


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # `max` where there is no limit
        return None
