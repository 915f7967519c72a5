"""Compiled kernels in files: where they are, which are found, which are removed."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from obscuro import kernel_cache
from obscuro.kernel_cache import KernelFiles, facts, find_directory, prune
from obscuro.kernel_sources import KernelSources
from tests.sizes import quick_among

MODULE = "obscuro.rules.moves"
DAY = 86400.0

# A package `obscuro` would be this one, so the kernels of these tests are functions of it.
ADD = """
from obscuro.kernels import kernel
from obscuro.evaluation import scale
add = kernel(scale.value_of_pawns)
"""


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Variables as if the user had set none."""
    monkeypatch.delenv("OBSCURO_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
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
    assert result.stderr == ""
    return result.stdout.strip()


def call(code: str = "", **environment: str) -> str:
    """Compile and call a small kernel in a process of its own; return what `code` prints."""
    return run_python(f"{ADD}assert add(0.0, 6.0) == 0\n{code}", **environment)


def make_versions(directory: Path, count: int, age: float, module: str = MODULE) -> list[Path]:
    """Make versions of a module's kernels, the first of them the oldest."""
    now = time.time()
    versions = []
    for i in range(count):
        version = directory / f"{module}-{i:016x}"
        version.mkdir(parents=True)
        (version / "kernel.nbc").write_text("code")
        os.utime(version, (now - age + i, now - age + i))
        versions.append(version)
    return versions


class TestImporting:
    """The package as a library in another program's process."""

    def test_imports_neither_numba_nor_numpy(self) -> None:
        code = "import sys, obscuro; print({'numba', 'numpy', 'chess'} & set(sys.modules))"
        assert run_python(code) == "set()"

    @pytest.mark.slow
    def test_changes_nothing_in_the_process(self, tmp_path: Path) -> None:
        code = (
            "import atexit, os, numba\n"
            "before = dict(os.environ), dict(vars(numba.config)), atexit._ncallbacks()\n"
            "import obscuro.engine.player, obscuro.belief.belief, obscuro.cli.main\n"
            "import obscuro.evaluation.nnue.install, obscuro.evaluation.nnue.nnue_evaluator\n"
            "after = dict(os.environ), dict(vars(numba.config)), atexit._ncallbacks()\n"
            "print([a == b for a, b in zip(before, after)])\n"
        )
        places = {
            name: str(tmp_path / name) for name in ("OBSCURO_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")
        }
        (tmp_path / "TMPDIR").mkdir()
        assert run_python(code, **places, HOME=str(tmp_path)) == "[True, True, True]"
        assert list(tmp_path.rglob("*")) == [tmp_path / "TMPDIR"]

    def test_leaves_the_kernels_of_others_where_they_keep_them(self, tmp_path: Path) -> None:
        other = tmp_path / "other.py"
        other.write_text(
            "from numba import njit\n@njit(cache=True)\ndef twice(x):\n    return 2 * x\n"
        )
        cache = tmp_path / "cache"
        call(
            "import other; assert other.twice(4) == 8",
            OBSCURO_CACHE_DIR=str(cache),
            NUMBA_CACHE_DIR="",
            PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
        )
        assert len(list((tmp_path / "__pycache__").glob("other.twice*.nbi"))) == 1
        assert len(list(cache.rglob("*.nbc"))) == 1
        assert not list(cache.rglob("*twice*"))


class TestKernels:
    """Kernels in processes of their own, one after the other."""

    COUNTS = "print(add._cache_hits.total(), add._cache_misses.total())"

    @pytest.fixture
    def cache(self, tmp_path: Path) -> Path:
        return tmp_path / "cache"

    def test_are_compiled_once(self, cache: Path) -> None:
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache)) == "0 1"
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache)) == "1 0"

    def test_are_named_by_module_and_function(self, cache: Path) -> None:
        call(OBSCURO_CACHE_DIR=str(cache))
        (file,) = (cache / "kernels").glob("*/*")
        assert file.name.startswith("value_of_pawns-")
        assert file.parent.name.startswith("obscuro.evaluation.scale-")

    @pytest.mark.slow
    def test_are_compiled_anew_for_another_setting(self, cache: Path) -> None:
        call(OBSCURO_CACHE_DIR=str(cache))
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache), OBSCURO_NO_PEXT="1") == "0 1"
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache), NUMBA_OPT="1") == "0 1"
        assert len(list((cache / "kernels").glob("*/*"))) == 3

    @pytest.mark.parametrize(
        "keep", quick_among(["nothing", "most", "others"], lambda keep: keep == "most")
    )
    def test_a_spoilt_file_is_compiled_anew_and_replaced(self, cache: Path, keep: str) -> None:
        spoilt = {
            "nothing": lambda data: b"",
            "most": lambda data: data[:-9],
            "others": lambda data: b"x",
        }
        call(OBSCURO_CACHE_DIR=str(cache))
        (file,) = (cache / "kernels").glob("*/*")
        file.write_bytes(spoilt[keep](file.read_bytes()))
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache)) == "0 1"
        assert call(self.COUNTS, OBSCURO_CACHE_DIR=str(cache)) == "1 0"

    def test_where_nothing_can_be_written_they_are_compiled(self) -> None:
        code = (
            "from obscuro import kernel_cache; kernel_cache.candidates = lambda name: iter(())\n"
            f"{ADD}assert add(0.0, 6.0) == 0\n{self.COUNTS}; print(kernel_cache.kernel_files().problem)"
        )
        assert run_python(code).splitlines() == ["0 1", "there is no place to write"]

    @pytest.mark.slow
    def test_a_full_disk_is_no_error(self, cache: Path) -> None:
        code = (
            "import errno\nfrom obscuro import kernel_cache\n"
            "def full(path, data): raise OSError(errno.ENOSPC, 'No space left on device', path)\n"
            "kernel_cache.replace_file = full\n"
            f"{ADD}assert add(0.0, 6.0) == 0\n{self.COUNTS}; print(kernel_cache.kernel_files().problem)"
        )
        counts, problem = run_python(code, OBSCURO_CACHE_DIR=str(cache)).splitlines()
        assert counts == "0 1"
        assert "No space left on device" in problem

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "other",
        [
            "import sys; sys.modules['obscuro.numba_cache'] = None  # its import fails",
            "from numba.core.caching import FunctionCache as c; del c.__mro__[1]._index_key",
        ],
    )
    def test_are_compiled_by_a_numba_that_keeps_code_in_another_way(
        self, cache: Path, other: str
    ) -> None:
        code = f"{other}\n{ADD}print(add(0.0, 6.0), kernel_files().problem)"
        told = run_python(
            f"from obscuro.kernel_cache import kernel_files\n{code}", OBSCURO_CACHE_DIR=str(cache)
        )
        assert told.startswith("0.0 ")
        assert "this numba keeps compiled code in a way" in told or "_index_key" in told
        assert not list(cache.rglob("*.nbc"))

    def test_without_numbas_compiler_they_are_plain_functions(self, cache: Path) -> None:
        code = "import types; print(type(add) is types.FunctionType)"
        assert call(code, NUMBA_DISABLE_JIT="1", OBSCURO_CACHE_DIR=str(cache)) == "True"
        assert not cache.exists()


class TestPlaces:
    """Which directory it is."""

    def test_the_users_cache_directory_is_the_default(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        environment.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert find_directory() == str(tmp_path / "obscuro" / "kernels")
        assert list((tmp_path / "obscuro" / "kernels").iterdir()) == []

    def test_a_variable_names_another(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        environment.setenv("OBSCURO_CACHE_DIR", str(tmp_path / "mine"))
        assert find_directory() == str(tmp_path / "mine" / "kernels")

    def test_an_unusable_directory_falls_back_to_a_private_temporary_one(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        blocked = tmp_path / "blocked"
        blocked.write_text("a file where a directory should be")
        environment.setenv("OBSCURO_CACHE_DIR", str(blocked))
        environment.setattr("tempfile.tempdir", str(tmp_path))
        found = find_directory()
        assert found is not None
        private = Path(found).parent
        assert private.parent == tmp_path
        assert private.stat().st_mode & 0o777 == 0o700
        assert find_directory() == found, "the same directory serves the next start"

    def test_a_temporary_directory_that_others_can_write_to_is_not_used(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        environment.setenv("OBSCURO_CACHE_DIR", os.devnull)
        environment.setattr("tempfile.tempdir", str(tmp_path))
        shared = tmp_path / f"obscuro-{os.getuid()}"
        shared.mkdir()
        shared.chmod(0o777)
        found = find_directory()
        assert found is not None
        assert Path(found).parent == tmp_path
        assert Path(found) != shared

    def test_a_named_directory_that_others_can_write_to_is_passed_over(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        shared = tmp_path / "shared" / "kernels"
        shared.mkdir(parents=True)
        shared.chmod(0o777)
        environment.setenv("OBSCURO_CACHE_DIR", str(shared.parent))
        environment.setattr("tempfile.tempdir", str(tmp_path))
        found = find_directory()
        assert found is not None
        assert Path(found) != shared
        assert list(shared.iterdir()) == []
        shared.chmod(0o755)
        assert find_directory() == str(shared)

    def test_a_link_in_the_place_of_a_file_is_not_followed(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        victim = tmp_path / "victim"
        victim.write_text("mine")
        environment.setenv("OBSCURO_CACHE_DIR", str(tmp_path / "cache"))
        environment.setattr("os.urandom", bytes)
        (tmp_path / "cache" / "kernels").mkdir(parents=True, mode=0o700)
        probe = tmp_path / "cache" / "kernels" / f"probe-{os.getpid()}-00000000"
        probe.symlink_to(victim)
        find_directory()
        files = KernelFiles(str(tmp_path / "files"), [])
        files.save(MODULE, "kernel.nbc", b"code")
        kernel = Path(str(files.folder(MODULE))) / "kernel.nbc"
        kernel.unlink()
        kernel.symlink_to(victim)
        assert files.load(MODULE, "kernel.nbc") is None
        assert victim.read_text() == "mine"

    def test_a_file_that_others_can_write_to_is_not_loaded(self, tmp_path: Path) -> None:
        files = KernelFiles(str(tmp_path), [])
        files.save(MODULE, "kernel.nbc", b"code")
        (Path(str(files.folder(MODULE))) / "kernel.nbc").chmod(0o666)
        assert files.load(MODULE, "kernel.nbc") is None

    def test_a_passing_directory_is_removed_when_the_process_ends(self, tmp_path: Path) -> None:
        (tmp_path / f"obscuro-{os.getuid()}").write_text("in the way")
        code = (
            "import os; from obscuro.kernel_cache import kernel_files as f;"
            "d = f().directory; print(d, len(os.listdir(d)) > 0)"
        )
        found, there = call(code, OBSCURO_CACHE_DIR=os.devnull, TMPDIR=str(tmp_path)).split()
        assert Path(found).parent == tmp_path
        assert there == "True"
        assert not Path(found).exists()

    def test_a_home_that_is_not_there_is_no_error(
        self, tmp_path: Path, environment: pytest.MonkeyPatch
    ) -> None:
        environment.setenv("HOME", os.devnull)
        environment.setattr("tempfile.tempdir", str(tmp_path))
        found = find_directory()
        assert found is not None
        assert tmp_path in Path(found).parents


class TestVersions:
    """A directory for each version of a module's code."""

    def test_differ_by_what_else_the_machine_code_depends_on(self, tmp_path: Path) -> None:
        folders = {
            KernelFiles(str(tmp_path), [cpu], KernelSources()).folder(MODULE)
            for cpu in ("this CPU", "this CPU", "another")
        }
        assert len(folders) == 2

    @pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
    def test_differ_by_the_compilers(self, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
        before = facts()
        monkeypatch.setattr(f"{package}.__version__", "another")
        assert facts() != before

    def test_differ_by_the_cpu(self, monkeypatch: pytest.MonkeyPatch) -> None:
        before = facts()
        monkeypatch.setattr("obscuro.target_cpu.target_cpu", lambda: ("another", frozenset()))
        assert facts() != before

    def test_nothing_is_kept_for_code_that_is_not_known(self, tmp_path: Path) -> None:
        files = KernelFiles(str(tmp_path), [], KernelSources(loaded_after=-math.inf))
        assert files.folder(MODULE) is None
        files.save(MODULE, "kernel.nbc", b"code")
        assert files.load(MODULE, "kernel.nbc") is None
        assert not list(tmp_path.iterdir())

    def test_what_is_saved_is_loaded_by_others(self, tmp_path: Path) -> None:
        KernelFiles(str(tmp_path), []).save(MODULE, "kernel.nbc", b"code")
        assert KernelFiles(str(tmp_path), []).load(MODULE, "kernel.nbc") == b"code"
        assert KernelFiles(str(tmp_path), ["another CPU"]).load(MODULE, "kernel.nbc") is None

    def test_the_oldest_are_removed(self, tmp_path: Path) -> None:
        versions = make_versions(tmp_path, 7, 2 * DAY)
        others = make_versions(tmp_path, 3, 2 * DAY, "obscuro.rules.make")
        kept = tmp_path / "of another user"
        kept.mkdir()
        os.utime(kept, (0, 0))
        prune(str(tmp_path))
        assert set(tmp_path.iterdir()) == {*versions[-5:], *others, kept}

    def test_those_in_use_are_kept_however_many(self, tmp_path: Path) -> None:
        versions = make_versions(tmp_path, 9, 60.0)
        prune(str(tmp_path))
        assert set(tmp_path.iterdir()) == set(versions)

    def test_unused_ones_are_forgotten(self, tmp_path: Path) -> None:
        make_versions(tmp_path, 2, 31 * DAY)
        used = make_versions(tmp_path, 1, 29 * DAY, "obscuro.rules.make")
        prune(str(tmp_path))
        assert list(tmp_path.iterdir()) == used

    def test_loading_counts_as_use(self, tmp_path: Path) -> None:
        files = KernelFiles(str(tmp_path), [])
        files.save(MODULE, "kernel.nbc", b"code")
        folder = Path(str(files.folder(MODULE)))
        os.utime(folder, (0, 0))
        KernelFiles(str(tmp_path), []).load(MODULE, "kernel.nbc")
        assert folder.stat().st_mtime > time.time() - DAY

    def test_saving_removes_what_is_old_and_loading_does_not(self, tmp_path: Path) -> None:
        make_versions(tmp_path, 1, 31 * DAY, "obscuro.gone")
        left = tmp_path / "sources.json.1-1.part"
        left.touch()
        os.utime(left, (0, 0))
        files = KernelFiles(str(tmp_path), [])
        files.load(MODULE, "kernel.nbc")
        assert left.exists() and len(list(tmp_path.glob("obscuro.gone-*"))) == 1
        files.save(MODULE, "kernel.nbc", b"code")
        assert {path.name for path in tmp_path.iterdir()} == {
            "sources.json",
            Path(str(files.folder(MODULE))).name,
        }


class TestComplete:
    """Whether all kernels of a program were there before."""

    def test_is_noted_for_other_processes(self, tmp_path: Path) -> None:
        assert not KernelFiles(str(tmp_path), []).is_complete(MODULE, "nnue")
        KernelFiles(str(tmp_path), []).note_complete(MODULE, "nnue")
        assert KernelFiles(str(tmp_path), []).is_complete(MODULE, "nnue")

    def test_holds_for_one_version_and_one_use(self, tmp_path: Path) -> None:
        KernelFiles(str(tmp_path), []).note_complete(MODULE, "nnue")
        assert not KernelFiles(str(tmp_path), ["another CPU"]).is_complete(MODULE, "nnue")
        assert not KernelFiles(str(tmp_path), []).is_complete(MODULE, "material")

    def test_ends_when_versions_are_removed(self, tmp_path: Path) -> None:
        files = KernelFiles(str(tmp_path), [])
        files.note_complete(MODULE, "nnue")
        prune(str(tmp_path))
        assert files.is_complete(MODULE, "nnue")
        make_versions(tmp_path, 1, 31 * DAY)
        prune(str(tmp_path))
        assert not files.is_complete(MODULE, "nnue")

    def test_is_not_noted_where_nothing_is_kept(self) -> None:
        files = KernelFiles(None, [])
        files.note_complete(MODULE, "nnue")
        assert not files.is_complete(MODULE, "nnue")


def test_one_process_has_one_cache() -> None:
    assert kernel_cache.kernel_files() is kernel_cache.kernel_files()
