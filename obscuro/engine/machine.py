"""What the machine has: its processor, its cores and its memory.

The import is quick, and needs no package: the options' defaults depend on it, and so does `doctor`.
"""

import os
import platform

MEBIBYTE = 1 << 20


def processor_name() -> str:
    """Return the processor's model, or its architecture where the system does not say more."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int | None:
    """Return the machine's memory in bytes; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
