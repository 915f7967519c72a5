"""The files of a release: what is in the sdist and the wheel, and that the wheel plays by itself."""

import email
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import obscuro
from obscuro.viewer.browser_parts.parts import NAMES as PARTS

ROOT = Path(__file__).resolve().parent.parent

NAME = "obscuro_fow"

# The first one may have to compile every kernel, on a busy machine.
PATIENCE_SECONDS = 900

NOT_SOURCES = shutil.ignore_patterns(
    ".git",
    ".venv",
    ".*_cache",
    ".*-cache",
    ".hypothesis",
    "__pycache__",
    "build",
    "dist",
    "*.egg-info",
)

Run = Callable[..., str]


def run(*command: str | Path, **options: object) -> str:
    """Run a program that must succeed; return what it wrote to stdout."""
    result = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
        stdin=subprocess.DEVNULL,
        **options,  # type: ignore[call-overload]
    )
    assert result.returncode == 0, f"{command}: {result.stdout}\n{result.stderr}"
    return str(result.stdout)


def fetched(url: str) -> str:
    """Return what a server of this machine answers."""
    with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
        return str(answer.read().decode())


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an sdist, and of the wheel that was built from this sdist."""
    source = tmp_path_factory.mktemp("source") / "obscuro"
    shutil.copytree(ROOT, source, ignore=NOT_SOURCES)
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", directory, source)
    return directory


@pytest.fixture(scope="module")
def sdist(release: Path) -> Path:
    return release / f"{NAME}-{obscuro.__version__}.tar.gz"


@pytest.fixture(scope="module")
def wheel(release: Path) -> Path:
    return release / f"{NAME}-{obscuro.__version__}-py3-none-any.whl"


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that holds the wheel.

    It borrows the dependencies of the environment that the tests run in, but not what is installed
    there as editable: a path in a .pth file does not lead to further .pth files.
    """
    environment = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install")
    run(*pip, "--quiet", "--no-index", "--no-deps", "--no-compile", wheel)
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", purelib).strip())
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "dependencies.pth").write_text("\n".join(sorted(borrowed)) + "\n")
    return environment


@pytest.fixture
def installed(environment: Path, tmp_path: Path) -> Run:
    """Return what runs a program of that environment, from an empty directory."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "OBSCURO_EVALUATORS"))
    }

    def run_installed(program: str, *arguments: str) -> str:
        path = environment / "bin" / program
        return run(path, *arguments, cwd=tmp_path, env=variables)

    return run_installed


class TestContents:
    @pytest.mark.slow
    def test_sdist_holds_every_file_of_the_repository(self, sdist: Path) -> None:
        if not (ROOT / ".git").exists() or shutil.which("git") is None:
            pytest.skip("there is no repository to compare with")
        # The checkout may belong to another user, as a directory mounted into a container does.
        git = ("git", "-c", f"safe.directory={ROOT}")
        tracked = run(*git, "ls-files", "-z", cwd=ROOT).strip("\0").split("\0")
        there = {name for name in tracked if (ROOT / name).exists()}
        with tarfile.open(sdist) as archive:
            packed = {name.partition("/")[2] for name in archive.getnames()}
        assert there - packed == set()

    @pytest.mark.slow
    def test_sdist_keeps_programs_executable(self, sdist: Path) -> None:
        with tarfile.open(sdist) as archive:
            modes = {
                name.partition("/")[2]: archive.getmember(name).mode for name in archive.getnames()
            }
        for program in (
            ".ci/run",
            *(f"engine_bin/{path.name}" for path in (ROOT / "engine_bin").iterdir()),
        ):
            assert modes[program] & 0o100, program

    def test_wheel_holds_the_package_with_its_data_and_nothing_else(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        metadata = f"{NAME}-{obscuro.__version__}.dist-info"
        assert {name.partition("/")[0] for name in names} == {"obscuro", metadata}
        there = {
            str(path.relative_to(ROOT))
            for path in (ROOT / "obscuro").rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert {name for name in names if name.startswith("obscuro/")} == there
        assert {"obscuro/py.typed", "obscuro/cli/bench/belief_games.txt"} <= names
        assert {f"obscuro/viewer/browser_parts/files/{name}" for name in PARTS} <= names
        assert f"{metadata}/licenses/LICENSE" in names

    def test_metadata_has_the_readme_and_the_addresses_of_pyproject(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            path = f"{NAME}-{obscuro.__version__}.dist-info/METADATA"
            metadata = email.message_from_bytes(archive.read(path))
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        told = [f"{label}, {url}" for label, url in project.get("urls", {}).items()]
        assert metadata.get_all("Project-URL", []) == told
        assert metadata["Description-Content-Type"] == "text/markdown"
        assert str(metadata.get_payload()).startswith("# Obscuro\n")


class TestInstalled:
    """The wheel, used from an empty directory away from the checkout."""

    def test_is_the_one_that_was_installed(self, installed: Run, environment: Path) -> None:
        file = installed("python", "-P", "-c", "import obscuro; print(obscuro.__file__)")
        assert environment in Path(file.strip()).parents
        assert installed("obscuro", "--version") == f"obscuro {obscuro.__version__}\n"

    def test_plays_a_game_and_shows_it(self, installed: Run, tmp_path: Path) -> None:
        options = ("Evaluator=material", "Threads=1", "Hash=16")
        told = installed(
            "obscuro",
            *("match", "obscuro", "random", "--games", "1", "--movetime", "50"),
            *("--max-moves", "8", "--pgn", "game.pgn"),
            *(word for option in options for word in ("--option-a", option)),
        )
        assert "obscuro against random, 1 game" in told, told
        assert "forfeits" not in told, told
        assert " 3. " in (tmp_path / "game.pgn").read_text()
        told = installed("obscuro", "show", "game.pgn")
        assert told.startswith("game.html: obscuro - random"), told
        assert "JavaScript draws the game" in (tmp_path / "game.html").read_text()

    @pytest.mark.slow
    def test_serves_the_board_and_all_that_its_page_names(
        self, environment: Path, tmp_path: Path
    ) -> None:
        command = [environment / "bin" / "obscuro", "web", "--port", "0", "--no-browser"]
        command += ["--data", tmp_path / "games", "--option", "Evaluator=material"]
        variables = {name: value for name, value in os.environ.items() if "PYTHON" not in name}
        with subprocess.Popen(
            [str(word) for word in command],
            cwd=tmp_path,
            env=variables,
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
                assert found is not None
                for path in ("/", "/play/abcdefghijkl"):
                    text = fetched(found[0] + path)
                    named = set(re.findall(r'"(/(?:css|js|parts)/[^"]+)"', text))
                    assert len(named) > 3
                    for file in named:
                        assert fetched(found[0] + file)
            finally:
                server.terminate()

    def test_finds_the_data_of_its_benchmarks(self, installed: Run) -> None:
        code = (
            "from obscuro.cli.bench.recorded import read_games\n"
            "from obscuro.cli.bench.eval_speed import bench_positions\n"
            "print(len(read_games()), len(bench_positions()))"
        )
        games, positions = map(int, installed("python", "-P", "-c", code).split())
        assert games > 0 and positions > 0


@pytest.mark.slow
def test_installs_with_its_dependencies_and_plays(wheel: Path, tmp_path: Path) -> None:
    # All by itself: pip resolves and downloads the dependencies that the wheel names.
    run(sys.executable, "-m", "venv", tmp_path / "installed")
    binaries = tmp_path / "installed" / "bin"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run(binaries / "pip", "install", "--quiet", wheel, cwd=tmp_path, env=variables)
    demo = (binaries / "obscuro", "demo", "--evaluator", "material", "--movetime", "50")
    told = run(*demo, "--max-moves", "8", "--seed", "1", cwd=tmp_path, env=variables)
    assert told.startswith(f"Obscuro {obscuro.__version__}: a game of Fog of War chess"), told


@pytest.mark.slow
def test_a_build_is_stamped_with_its_commit(tmp_path: Path) -> None:
    source = tmp_path / "obscuro"
    shutil.copytree(ROOT, source, ignore=NOT_SOURCES)
    git = ("git", "-C", source, "-c", "user.name=x", "-c", "user.email=x@example.org")
    run(*git, "init", "-q")
    run(*git, "add", "pyproject.toml", "setup.py", "README.md", "LICENSE", "obscuro")
    run(*git, "commit", "-q", "-m", "x")
    commit = run(*git, "rev-parse", "HEAD")[:7]
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path, source)
    wheel = tmp_path / f"{NAME}-{obscuro.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:  # it was built from the sdist, which knows no git
        stamp = archive.read("obscuro/version_stamp.txt").decode().strip()
    assert stamp == f"{obscuro.__version__}.dev+g{commit}"
