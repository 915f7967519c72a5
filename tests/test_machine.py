"""What the machine has, compared with what psutil says."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

import psutil
import pytest

from obscuro import machine


def test_the_usable_cores_are_those_that_the_process_is_bound_to() -> None:
    all_cores = os.sched_getaffinity(0)
    assert machine.usable_cores() == len(psutil.Process().cpu_affinity() or ())
    os.sched_setaffinity(0, {min(all_cores)})
    try:
        assert machine.usable_cores() == 1
    finally:
        os.sched_setaffinity(0, all_cores)


def test_without_proc_the_real_cores_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_proc(logical: bool) -> int:
        raise FileNotFoundError("/proc/cpuinfo")

    assert machine.real_cores() == psutil.cpu_count(logical=False)
    monkeypatch.setattr(psutil, "cpu_count", no_proc)
    assert machine.real_cores() is None


def test_without_a_binding_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert machine.usable_cores() == os.cpu_count()


def test_the_memory_is_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert machine.total_memory() == psutil.virtual_memory().total
    monkeypatch.delattr(os, "sysconf")
    assert machine.total_memory() is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "processor\t: 0\nmodel name\t: Fast: One\nprocessor\t: 1\nmodel name\t: Two\n",
            "Fast: One",
        ),
        ("processor\t: 0\nBogoMIPS\t: 50.00\n", platform.machine()),
        (None, platform.machine()),
    ],
)
def test_the_processor_is_named_or_else_its_architecture(
    text: str | None, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)

    def open_ours(_: str, **options: Any) -> Any:
        return path.open(**options)

    monkeypatch.setattr(machine, "open", open_ours, raising=False)
    assert machine.processor_name() == name
