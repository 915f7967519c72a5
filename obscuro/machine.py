"""The machine: its processor, its cores, and the memory that this process may take.

The import loads no package, so that `obscuro doctor` can run without any.
"""

import os
import platform
import resource
from pathlib import Path

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


def real_cores() -> int | None:
    """Return how many cores the machine has, threads of one core counted once; None if unknown."""
    try:
        import psutil  # noqa: PLC0415 - `obscuro doctor` runs without any package
    except ImportError:
        return None
    try:
        return psutil.cpu_count(logical=False)
    except OSError:  # no /proc
        return None


def total_memory() -> int | None:
    """Return the machine's memory in bytes; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


USABLE_SHARE = 0.75
"""Of the free memory: other programs need some, and so do we besides the tree."""
_CGROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def usable_mebibytes(cgroup: str = "/sys/fs/cgroup") -> int | None:
    """Return how many MiB may be taken at once; None where the system doesn't say.

    cgroup: where the system tells a container's limits; tests give their own.
    """
    found = [_available(), _left_by_limit()]
    for most, used in _CGROUPS:
        limit, usage = _number(Path(cgroup, most)), _number(Path(cgroup, used))
        if limit is not None and usage is not None:
            found.append(limit - usage)
    known = [number for number in found if number is not None]
    return max(0, int(USABLE_SHARE * min(known)) // MEBIBYTE) if known else None


def _available() -> int | None:
    """Return the bytes that a program can take without swapping others out."""
    import psutil  # noqa: PLC0415 - the engine says `uciok` without any package

    try:
        return psutil.virtual_memory().available
    except (OSError, LookupError, ValueError):  # /proc is missing, or another program fakes it
        return None


def _left_by_limit() -> int | None:
    """Return the bytes of address space that a limit (`ulimit -v`) leaves us."""
    import psutil  # noqa: PLC0415

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        return limit - psutil.Process().memory_info().vms
    except (OSError, psutil.Error):
        return limit


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # `max` where there is no limit
        return None
