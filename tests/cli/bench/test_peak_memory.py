"""The measurement of memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from obscuro.belief.record import RECORD_WORDS
from obscuro.cli.bench import peak_memory as memory
from obscuro.cli.bench.common import BenchmarkError
from obscuro.cli.bench.recorded import parse_game, read_games
from tests.hanging import HANG_SECONDS

GAME = parse_game("small | white | startpos | e2e4 d7d6 | 1:1>13/20")
PEAK = """
import numpy as np
from obscuro.cli.bench import peak_memory as memory

MEBIBYTE = 1 << 20
memory.forget_peak()
held = memory.resident()
block = np.ones(64 * MEBIBYTE, dtype=np.uint8)
assert memory.peak() >= held + 60 * MEBIBYTE
del block
assert memory.peak() >= held + 60 * MEBIBYTE
memory.forget_peak()
assert memory.peak() < held + 30 * MEBIBYTE
"""


def test_a_peak_is_seen_and_forgotten() -> None:
    # In a process of its own: other tests leave memory here that the system takes back at any time.
    subprocess.run([sys.executable, "-c", PEAK], check=True, timeout=HANG_SECONDS)


def test_measures_in_a_process_of_its_own() -> None:
    game = next(
        game.with_updates([update])
        for game in read_games()
        for update in game.updates
        if 100_000 < update.positions < 200_000
    )
    measured = memory.bytes_per_position(game, threads=1)
    assert RECORD_WORDS * 8 < measured < 1_000


def test_a_failure_is_one_line() -> None:
    update = GAME.updates[-1]._replace(positions=7)
    with pytest.raises(BenchmarkError, match=r"failed: .*the belief has \d+ positions") as caught:
        memory.bytes_per_position(GAME.with_updates([update]), threads=1)
    assert "\n" not in str(caught.value)
