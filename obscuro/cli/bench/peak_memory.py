"""The peak memory of a belief update, measured in a process that does nothing else.

    python -m obscuro.cli.bench.peak_memory THREADS

reads one recorded game on stdin and follows it to its last update. It prints the bytes by which
that update's peak exceeds the memory of the process after loading all code.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from pathlib import Path

from obscuro.cli.bench.common import KIBIBYTE, BenchmarkError, peak_memory
from obscuro.cli.bench.recorded import RecordedGame, parse_game

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_CLEAR_PEAK = "5"  # see proc(5)


def bytes_per_position(game: RecordedGame, threads: int) -> float:
    """Measure the peak memory of a game's last update, in bytes for each resulting position.

    It includes all memory above that of the loaded program: the positions before the update, the
    tables and other memory kept from earlier updates, and the result. Raises BenchmarkError if the
    measuring process fails.
    """
    command = [sys.executable, "-P", "-m", "obscuro.cli.bench.peak_memory", str(threads)]
    result = subprocess.run(command, input=str(game), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise BenchmarkError(f"the process that measures memory failed: {lines[-1]}")
    return int(result.stdout) / game.updates[-1].positions


def peak_growth(game: RecordedGame, threads: int) -> int:
    """Follow a game to its last update in this process; return the growth at its peak in bytes.

    Raises BenchmarkError if the update has a wrong result.
    """
    from obscuro.belief import warm_up  # noqa: PLC0415 - loads numba
    from obscuro.cli.bench.belief_steps import check, new_belief, steps, take_in  # noqa: PLC0415

    warm_up()
    gc.collect()
    loaded = resident()
    last = game.updates[-1]
    belief = new_belief(game, threads)
    for step in steps(game):
        if step.ply == last.ply:
            forget_peak()
        take_in(belief, step)
    highest = peak()
    check(game, last, belief)
    belief.close()
    return highest - loaded


def resident() -> int:
    """Return the bytes of memory that this process holds now; its peak, if that is not known."""
    return _field("VmRSS") or peak_memory()


def peak() -> int:
    """Return the most bytes that this process has held, since `forget_peak` if that works."""
    return _field("VmHWM") or peak_memory()


def forget_peak() -> None:
    """Reset the process's peak. On a system that cannot, the peak covers the whole lifetime."""
    try:
        _CLEAR.write_text(_CLEAR_PEAK)
    except OSError:
        return


def _field(name: str) -> int | None:
    """Read one field of /proc/self/status in bytes; None if it does not exist."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * KIBIBYTE if match else None


def main() -> None:
    """Measure one game; see the module."""
    print(peak_growth(parse_game(sys.stdin.read().strip()), int(sys.argv[1])))


if __name__ == "__main__":
    main()
