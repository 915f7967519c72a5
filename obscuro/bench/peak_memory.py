"""How much memory an update takes at its peak, measured in a process that does nothing else.

    python -m obscuro.bench.peak_memory THREADS

reads one recorded game on stdin, follows it to its last update, and prints the bytes by which that
update's peak exceeds what the process held when it had only loaded everything.
"""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from pathlib import Path

from obscuro.bench.common import KIBIBYTE, BenchmarkError, peak_memory
from obscuro.bench.recorded import RecordedGame, parse_game

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_CLEAR_PEAK = "5"  # see proc(5)


def bytes_per_position(game: RecordedGame, threads: int) -> float:
    """Memory at the peak of a game's last update, for each position that it leads to.

    The memory is all that came on top of the loaded program: the positions before the update, the
    tables and whatever else is kept from earlier updates, and the result. Raises BenchmarkError.
    """
    command = [sys.executable, "-P", "-m", "obscuro.bench.peak_memory", str(threads)]
    result = subprocess.run(command, input=str(game), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit code {result.returncode}"]
        raise BenchmarkError(f"the process that measures memory failed: {lines[-1]}")
    return int(result.stdout) / game.updates[-1].positions


def peak_growth(game: RecordedGame, threads: int) -> int:
    """Follow a game to its last update, in this process; see `bytes_per_position`."""
    from obscuro.belief import warm_up  # noqa: PLC0415 - loads numba
    from obscuro.bench.belief_steps import check, new_belief, steps, take_in  # noqa: PLC0415

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
    """Bytes of memory that this process holds now; where the system does not say, has held."""
    return _field("VmRSS") or peak_memory()


def peak() -> int:
    """The most bytes that it has held, since `forget_peak` if the system can do that."""
    return _field("VmHWM") or peak_memory()


def forget_peak() -> None:
    """Let the process's peak begin anew, where the system can; else it is that of all its life."""
    try:
        _CLEAR.write_text(_CLEAR_PEAK)
    except OSError:
        return


def _field(name: str) -> int | None:
    """One field of /proc/self/status in bytes; None where there is none."""
    try:
        match = re.search(rf"^{name}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) * KIBIBYTE if match else None


def main() -> None:
    """See the module."""
    print(peak_growth(parse_game(sys.stdin.read().strip()), int(sys.argv[1])))


if __name__ == "__main__":
    main()
