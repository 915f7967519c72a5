"""The kernels' cache directory: what its name depends on, where it is, what gets removed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from obscuro import kernel_cache

KERNEL = (
    "from numba import njit\nfrom obscuro.layout import SHIFT\n\n@njit\ndef f(): return SHIFT\n"
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a kernel, a constant compiled into it, and a module apart from both."""
    root = tmp_path / "obscuro"
    root.mkdir()
    (root / "__init__.py").write_text("")
    (root / "kernel.py").write_text(KERNEL)
    (root / "layout.py").write_text("from obscuro.sizes import (\n    WIDTH,\n)\nSHIFT = WIDTH\n")
    (root / "sizes.py").write_text("WIDTH = 8\n")
    (root / "text.py").write_text("GREETING = 'hello'\n")
    return root


@pytest.fixture
def restored_environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give back NUMBA_CACHE_DIR, and numba's own copy of it, after a test that activates."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.environ.get("NUMBA_CACHE_DIR", ""))
    config = sys.modules.get("numba.core.config")
    if config is not None:
        monkeypatch.setattr(config, "CACHE_DIR", config.CACHE_DIR)
    monkeypatch.delenv("OBSCURO_CACHE_DIR", raising=False)
    return monkeypatch


def run_python(code: str, **environment: str) -> str:
    """Run code in a process of its own and return what it prints."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def make_old_directories(base: Path, count: int, age: float = 1e6) -> list[Path]:
    """Make kernel directories of other versions, the first of them the oldest."""
    now = base.stat().st_mtime
    directories = []
    for i in range(count):
        directory = base / f"kernels-{i:016x}"
        directory.mkdir()
        (directory / "kernel.nbc").write_text("code")
        os.utime(directory, (now - age + i, now - age + i))
        directories.append(directory)
    return directories


@pytest.mark.parametrize("module", ["kernel.py", "layout.py", "sizes.py"])
def test_key_changes_with_a_kernel_and_with_what_it_imports(package: Path, module: str) -> None:
    before = kernel_cache.cache_key(str(package))
    (package / module).write_text((package / module).read_text() + "# changed\n")
    assert kernel_cache.cache_key(str(package)) != before


def test_key_does_not_change_with_modules_that_no_kernel_uses(package: Path) -> None:
    before = kernel_cache.cache_key(str(package))
    (package / "text.py").write_text("GREETING = 'good morning'\n")
    (package / "notes.txt").write_text("njit")
    assert kernel_cache.cache_key(str(package)) == before


def test_key_changes_when_a_kernel_moves_to_another_module(package: Path) -> None:
    before = kernel_cache.cache_key(str(package))
    (package / "kernel.py").rename(package / "kernels.py")
    assert kernel_cache.cache_key(str(package)) != before


@pytest.mark.parametrize("name", ["_cpu", "_compiler_version"])
def test_key_changes_with_cpu_and_compiler(
    package: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = kernel_cache.cache_key(str(package))
    monkeypatch.setattr(kernel_cache, name, lambda *_: "another")
    assert kernel_cache.cache_key(str(package)) != before


def test_key_changes_with_the_switch_for_pext(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OBSCURO_NO_PEXT", raising=False)
    before = kernel_cache.cache_key(str(package))
    monkeypatch.setenv("OBSCURO_NO_PEXT", "1")
    assert kernel_cache.cache_key(str(package)) != before


def test_the_sources_are_those_of_this_package() -> None:
    sources = kernel_cache.kernel_sources()
    assert "obscuro.board.moves" in sources
    assert "obscuro.board.layout" in sources, "its constants are compiled into the kernels"
    assert "obscuro.cli.main" not in sources


def test_compilers_are_told_apart_by_version_without_importing_them() -> None:
    code = (
        "import sys; from obscuro import kernel_cache as k;"
        "assert k._compiler_version('numba') != k._compiler_version('llvmlite') != 'none';"
        "print('numba' in sys.modules or 'llvmlite' in sys.modules)"
    )
    assert run_python(code) == "False"


def test_importing_the_package_imports_neither_numba_nor_numpy() -> None:
    code = "import sys, obscuro; print({'numba', 'numpy', 'chess'} & set(sys.modules))"
    assert run_python(code) == "set()"


def test_importing_the_package_overrides_a_directory_that_was_set(tmp_path: Path) -> None:
    code = "import obscuro, numba; print(numba.config.CACHE_DIR)"
    found = run_python(code, OBSCURO_CACHE_DIR=str(tmp_path), NUMBA_CACHE_DIR="/elsewhere")
    assert Path(found).parent == tmp_path
    assert Path(found).is_dir()


def test_numba_imported_before_is_told_too(tmp_path: Path) -> None:
    code = "import numba, obscuro; print(numba.config.CACHE_DIR)"
    found = run_python(code, OBSCURO_CACHE_DIR=str(tmp_path))
    assert Path(found).parent == tmp_path


def test_user_cache_directory_is_the_default(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    restored_environment.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    assert Path(found).parent == tmp_path / "obscuro"
    assert list(Path(found).iterdir()) == []


def test_unusable_directory_falls_back_to_a_private_temporary_one(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a directory should be")
    restored_environment.setenv("OBSCURO_CACHE_DIR", str(blocked))
    restored_environment.setattr("tempfile.tempdir", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    private = Path(found).parent
    assert private.parent == tmp_path
    assert private.stat().st_mode & 0o777 == 0o700
    assert kernel_cache.activate() == found, "the same directory serves the next start"


def test_temporary_directory_that_others_can_write_to_is_not_used(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    restored_environment.setenv("OBSCURO_CACHE_DIR", os.devnull)
    restored_environment.setattr("tempfile.tempdir", str(tmp_path))
    shared = tmp_path / f"obscuro-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    found = kernel_cache.activate()
    assert found is not None
    assert Path(found).parent == tmp_path
    assert Path(found) != shared


def test_passing_directory_is_removed_when_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / f"obscuro-{os.getuid()}").write_text("in the way")
    code = "import os, obscuro; d = os.environ['NUMBA_CACHE_DIR']; print(d, os.path.isdir(d))"
    found, there = run_python(code, OBSCURO_CACHE_DIR=os.devnull, TMPDIR=str(tmp_path)).split()
    assert Path(found).parent == tmp_path
    assert there == "True"
    assert not Path(found).exists()


def test_kernels_compile_where_nothing_can_be_written() -> None:
    # Without its cache switched off, numba raises "no locator available" for a function like this.
    code = (
        "from obscuro import kernel_cache; kernel_cache.candidates = lambda name: iter(());"
        "assert kernel_cache.activate() is None;"
        "from numba import njit; print(njit(cache=True)(lambda x: x + 1)(41))"
    )
    assert run_python(code) == "42"


def test_a_home_that_is_not_there_is_no_error(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    restored_environment.delenv("XDG_CACHE_HOME", raising=False)
    restored_environment.setenv("HOME", os.devnull)
    restored_environment.setattr("tempfile.tempdir", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    assert tmp_path in Path(found).parents


def test_old_directories_are_removed_but_for_the_newest(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    others = make_old_directories(tmp_path, 7)
    kept = tmp_path / "kernels-of-somebody-else"
    kept.mkdir()
    os.utime(kept, (0, 0))
    restored_environment.setenv("OBSCURO_CACHE_DIR", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    assert set(tmp_path.iterdir()) == {*others[-4:], kept, Path(found)}


def test_recently_used_directories_are_kept_however_many(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    others = make_old_directories(tmp_path, 7, age=60.0)
    restored_environment.setenv("OBSCURO_CACHE_DIR", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    assert set(tmp_path.iterdir()) == {*others, Path(found)}


def test_the_directory_in_use_survives_though_it_is_the_oldest(
    tmp_path: Path, restored_environment: pytest.MonkeyPatch
) -> None:
    restored_environment.setenv("OBSCURO_CACHE_DIR", str(tmp_path))
    found = kernel_cache.activate()
    assert found is not None
    (Path(found) / "kernel.nbc").write_text("code")
    os.utime(found, (0, 0))
    make_old_directories(tmp_path, 7)
    assert kernel_cache.activate() == found
    assert (Path(found) / "kernel.nbc").exists()
