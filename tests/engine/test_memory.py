"""How much memory there is, by what the system says of itself."""

from __future__ import annotations

import resource
from pathlib import Path

import psutil
import pytest

from obscuro.engine import equipment as equipment_module
from obscuro.engine.options import LEAST_HASH, Options
from obscuro.engine.player import Player
from obscuro.machine import MEBIBYTE, usable_mebibytes
from obscuro.search.search import Search

MEMINFO = """\
MemTotal:      999999999 kB
MemFree:             100 kB
MemAvailable: {available} kB
Buffers:             100 kB
Cached:              100 kB
Active:              100 kB
Inactive:            100 kB
Shmem:               100 kB
"""


def write(root: Path, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What psutil reads for `/proc`: an empty directory."""
    path = tmp_path / "proc"
    path.mkdir()
    monkeypatch.setattr(psutil, "PROCFS_PATH", str(path))
    return path


def test_what_is_free(proc: Path) -> None:
    write(proc, meminfo=MEMINFO.format(available=4096000))
    assert usable_mebibytes(str(proc)) == 3000


def test_a_containers_limit_counts(proc: Path, tmp_path: Path) -> None:
    write(proc, meminfo=MEMINFO.format(available=999999999))
    limit = {"memory_dot_max": str(1000 * MEBIBYTE), "memory_dot_current": str(200 * MEBIBYTE)}
    assert usable_mebibytes(write(tmp_path / "v2", **limit)) == 600
    limit["memory_dot_max"] = "max\n"
    assert usable_mebibytes(write(tmp_path / "v2", **limit)) == 732421
    old = {
        "memory__memory_dot_limit_in_bytes": str(100 * MEBIBYTE),
        "memory__memory_dot_usage_in_bytes": str(200 * MEBIBYTE),
    }
    assert usable_mebibytes(write(tmp_path / "v1", **old)) == 0


def test_a_limit_of_the_address_space_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Far less than what is free, and far more than what this process holds or grows by meanwhile.
    held = psutil.Process().memory_info().vms
    limit = held + 400 * MEBIBYTE
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    usable = usable_mebibytes(str(tmp_path))
    assert usable is not None and 200 <= usable <= 300


def test_a_limit_counts_whole_where_it_is_unknown_what_is_held(
    proc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 100 * MEBIBYTE
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    assert usable_mebibytes(str(proc)) == 75


@pytest.mark.parametrize("meminfo", [None, "", "MemAvailable: 100 kB\n", "MemTotal: much kB\n"])
def test_a_system_that_says_nothing(meminfo: str | None, proc: Path) -> None:
    if meminfo is not None:
        write(proc, meminfo=meminfo)
    assert usable_mebibytes(str(proc)) is None


@pytest.fixture
def options() -> Options:
    options = Options()
    for name, value in (("Evaluator", "material"), ("Threads", "1"), ("Hash", "64")):
        options.set(name, value)
    return options


def test_a_hash_that_is_too_large_is_made_smaller_with_one_warning(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equipment_module, "usable_mebibytes", lambda: 20)
    warnings: list[str] = []
    player = Player(options, warnings.append)
    player.equipment.start()
    player.equipment.start()
    assert warnings == ["there is no memory for a Hash of 64 MiB; it is 20 MiB"]


def test_what_the_system_promises_and_does_not_give(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def make(*arguments: object, **values: object) -> Search:
        size = arguments[2]
        assert isinstance(size, int)
        sizes.append(size // MEBIBYTE)
        if size > 20 * MEBIBYTE:
            raise MemoryError
        return Search(*arguments, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(equipment_module, "Search", make)
    warnings: list[str] = []
    Player(options, warnings.append).equipment.start()
    assert sizes == [64, 32, LEAST_HASH]
    assert warnings == ["there is no memory for a Hash of 64 MiB; it is 16 MiB"]
