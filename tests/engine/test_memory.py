"""How much memory there is, by what the system says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.engine import equipment as equipment_module
from obscuro.engine.machine import MEBIBYTE
from obscuro.engine.memory import usable_mebibytes
from obscuro.engine.options import LEAST_HASH, Options
from obscuro.engine.player import Player
from obscuro.search.search import Search


def say(root: Path, **files: str) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def test_what_is_free(tmp_path: Path) -> None:
    proc = say(tmp_path, meminfo="MemTotal: 9 kB\nMemAvailable:  4096000 kB\n")
    assert usable_mebibytes(proc, str(tmp_path / "no")) == 3000


def test_a_containers_limit_counts(tmp_path: Path) -> None:
    proc = say(tmp_path / "proc", meminfo="MemAvailable: 999999999 kB\n")
    limit = {"memory_dot_max": str(1000 * MEBIBYTE), "memory_dot_current": str(200 * MEBIBYTE)}
    assert usable_mebibytes(proc, say(tmp_path / "v2", **limit)) == 600
    limit["memory_dot_max"] = "max\n"
    assert usable_mebibytes(proc, say(tmp_path / "v2", **limit)) == 732421
    old = {
        "memory__memory_dot_limit_in_bytes": str(100 * MEBIBYTE),
        "memory__memory_dot_usage_in_bytes": str(200 * MEBIBYTE),
    }
    assert usable_mebibytes(proc, say(tmp_path / "v1", **old)) == 0


def test_a_system_that_says_nothing(tmp_path: Path) -> None:
    assert usable_mebibytes(str(tmp_path), str(tmp_path)) is None
    assert usable_mebibytes() is None or usable_mebibytes() >= 0  # type: ignore[operator]


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
