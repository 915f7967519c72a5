"""What a first start shows: a bar on a terminal, else each step once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from obscuro import kernel_warmup
from obscuro.cli.command_support import kernel_progress, prepare
from tests.cli.conftest import written
from tests.matches.scripted import FakePlayer

STEPS = ("compiling: a (1 of about 226)", "compiling: a (9 of about 226)", "compiling: b", "ready")


@pytest.fixture
def half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_warmup, "kernels_made", lambda: kernel_warmup.ABOUT_KERNELS // 2)


def test_without_a_terminal_each_step_is_a_line_once(console: Console) -> None:
    with kernel_progress(console) as tell:
        for step in STEPS:
            tell(step)
    assert written(console).splitlines() == ["compiling: a", "compiling: b", "ready"]


@pytest.mark.usefixtures("half")
def test_a_terminal_shows_how_far_it_is(terminal: Console) -> None:
    with kernel_progress(terminal) as tell:
        tell(STEPS[0])
    shown = written(terminal)
    assert "━" * 10 in shown and STEPS[0] in shown


@pytest.mark.usefixtures("half")
def test_a_player_is_prepared_with_the_bar_or_without(console: Console, terminal: Console) -> None:
    for screen, told in ((console, False), (terminal, True)):
        player = FakePlayer()
        prepare(player, screen)  # type: ignore[arg-type]
        assert player.prepared
        assert ("one step" in written(screen)) == told


@pytest.mark.slow
def test_the_number_of_kernels_is_about_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a folder of its own: the tests have compiled kernels that a first start does not.
    monkeypatch.setenv("OBSCURO_CACHE_DIR", str(tmp_path))
    subprocess.run([sys.executable, "-m", "obscuro.cli.main", "warmup"], check=True)
    count = "from obscuro.kernel_warmup import kernels_made; print(kernels_made())"
    made = subprocess.run([sys.executable, "-c", count], capture_output=True, check=True)
    assert abs(int(made.stdout) - kernel_warmup.ABOUT_KERNELS) < 20
