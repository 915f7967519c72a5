"""Asking Stockfish for its networks: the real one, and programs that fail in its place."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from obscuro.evaluation.nnue.install import export_networks
from obscuro.evaluation.nnue.network import NetworkError
from tests.evaluation.fakes import ends
from tests.evaluation.naive import STOCKFISH, needs_stockfish
from tests.evaluation.nnue.synthetic import fake_stockfish, name_of

pytestmark = pytest.mark.xdist_group("timing")

DATA = b"a network"


@needs_stockfish
def test_the_installed_stockfish_exports_what_it_evaluates_with(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"  # a file name that Stockfish reads ends at a space
    folder.mkdir()
    export = export_networks(STOCKFISH, str(folder))
    assert export.engine.startswith("Stockfish")
    for file in export.files:
        data = Path(file.path).read_bytes()
        assert file.sha256 == hashlib.sha256(data).digest()
        assert file.name == name_of(data)


def test_a_second_network_comes_second(tmp_path: Path) -> None:
    path = fake_stockfish(tmp_path, DATA, DATA * 2)
    export = export_networks(path, str(tmp_path))
    assert export.engine == "Stockfish 99"
    assert [file.name for file in export.files] == [name_of(DATA), name_of(DATA * 2)]
    assert [Path(file.path).read_bytes() for file in export.files] == [DATA, DATA * 2]


def test_a_network_of_the_users_own_has_any_name(tmp_path: Path) -> None:
    path = fake_stockfish(tmp_path, DATA, names=["/home/me/my network.nnue"])
    (file,) = export_networks(path, str(tmp_path)).files
    assert file.name == name_of(DATA)


@pytest.mark.parametrize(
    ("export", "message"),
    [
        ("print('Unknown command: export_net')", "can't export .*: Unknown command: export_net"),
        ("print('Failed to export a net')", "can't export .*: Failed to export a net"),
        ("pass", "can't export .*: it wrote no file"),
        ("open(targets[0], 'wb').write(b'a net')", "is damaged: it is nn-.*, not nn-"),
        ("sys.exit(1)", "was killed"),
        ("while True: print('garbage' * 1000)", "does not speak UCI"),
        ("for line in sys.stdin: pass", "does not answer 'export_net'"),
    ],
)
def test_what_goes_wrong_is_one_line(tmp_path: Path, export: str, message: str) -> None:
    path = fake_stockfish(tmp_path, DATA, export=export)
    with pytest.raises(NetworkError, match=message) as failure:
        export_networks(path, str(tmp_path), export_limit=1.0)
    assert "\n" not in str(failure.value)


def test_a_stockfish_without_network_says_what_to_install(tmp_path: Path) -> None:
    path = fake_stockfish(tmp_path)
    with pytest.raises(NetworkError, match=r"Stockfish 99 has no network; install Stockfish 15\.1"):
        export_networks(path, str(tmp_path))


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("/bin/true", "does not speak UCI"),
        ("/bin/cat", "does not answer 'uci'"),
        ("/", "can't run"),
    ],
)
def test_what_is_no_stockfish_is_refused(tmp_path: Path, program: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        export_networks(program, str(tmp_path), start_limit=0.5)


def test_a_hanging_program_is_ended(tmp_path: Path) -> None:
    path = fake_stockfish(tmp_path, DATA, export=TELL_PID + "import time; time.sleep(600)")
    with pytest.raises(NetworkError, match="does not answer"):
        export_networks(path, str(tmp_path), export_limit=1.0)
    assert ends(int((tmp_path / "pid").read_text()))


TELL_PID = """
with open(os.path.join(folder, "pid"), "w") as file:
    file.write(str(os.getpid()))
"""
PARENT = """
import sys
from obscuro.evaluation.nnue.install import export_networks
export_networks(sys.argv[1], sys.argv[2])
"""


def test_it_ends_when_we_are_killed(tmp_path: Path) -> None:
    told = "print(os.getpid(), file=open('/proc/%d/fd/1' % os.getppid(), 'w'), flush=True)"
    silent = f"{told}\nfor line in sys.stdin: pass"  # until its standard input ends
    path = fake_stockfish(tmp_path, DATA, export=silent)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, path, str(tmp_path)], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert ends(pid)
