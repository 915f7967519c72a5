"""Getting the network out of the installed Stockfish, and keeping it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from obscuro import kernel_cache
from obscuro.evaluation.nnue import install
from obscuro.evaluation.nnue import install as store
from obscuro.evaluation.nnue.install import export_networks, load_networks
from obscuro.evaluation.nnue.network import Network, NetworkError, shapes
from tests.evaluation.fakes import ends
from tests.evaluation.naive import STOCKFISH, needs_stockfish
from tests.evaluation.nnue.synthetic import (
    WIDTH,
    fake_stockfish,
    name_of,
    network_file,
    random_network,
    starts_of,
)

HASH = bytes(range(32))


@pytest.fixture(scope="module")
def network() -> Network:
    return random_network()


def test_what_was_written_is_mapped(network: Network, tmp_path: Path) -> None:
    path = store.write(network, HASH, str(tmp_path))
    assert path == str(tmp_path / "nn-000102030405.v1")
    mapped = store.open_mapped(str(tmp_path), HASH)
    for name, (kind, shape) in shapes(WIDTH).items():
        array = getattr(mapped, name)
        assert (array.dtype, array.shape, type(array)) == (kind, shape, np.ndarray)
        assert array.flags.c_contiguous and array.ctypes.data % store.ALIGNMENT == 0
        np.testing.assert_array_equal(array, getattr(network, name))


def test_a_mapped_network_can_not_be_changed(network: Network, tmp_path: Path) -> None:
    store.write(network, HASH, str(tmp_path))
    mapped = store.open_mapped(str(tmp_path), HASH)
    assert not any(array.flags.writeable for array in mapped)


def test_writing_again_leaves_those_who_read_alone(network: Network, tmp_path: Path) -> None:
    store.write(network, HASH, str(tmp_path))
    mapped = store.open_mapped(str(tmp_path), HASH)
    store.write(random_network(1), HASH, str(tmp_path))
    np.testing.assert_array_equal(mapped.feature_weights, network.feature_weights)
    assert [file.name for file in tmp_path.iterdir()] == [store.file_name(HASH)]


@pytest.mark.parametrize("damage", ["empty", "short", "long", "magic", "layout", "width", "source"])
def test_a_damaged_file_is_not_mapped(network: Network, tmp_path: Path, damage: str) -> None:
    path = Path(store.write(network, HASH, str(tmp_path)))
    data = bytearray(path.read_bytes())
    places = {"magic": 0, "layout": 16, "width": 20, "source": 32}
    if damage in places:
        data[places[damage]] ^= 1
    size = {"empty": 0, "short": len(data) - 1, "long": len(data) + 1}.get(damage, len(data))
    path.write_bytes(data[:size].ljust(size, b"\0"))
    with pytest.raises(NetworkError, match="damaged"):
        store.open_mapped(str(tmp_path), HASH)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.open_mapped(str(tmp_path), HASH)


def test_nothing_is_left_where_writing_fails(network: Network, tmp_path: Path) -> None:
    (tmp_path / store.file_name(HASH)).mkdir()
    with pytest.raises(OSError):
        store.write(network, HASH, str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


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


@pytest.fixture
def program(network: Network, tmp_path: Path) -> str:
    """A Stockfish with one network."""
    return fake_stockfish(tmp_path / "program", network_file(network))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where networks are kept during a test; nothing is there yet."""
    monkeypatch.setenv("OBSCURO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "networks"


def left_behind(cache: Path) -> list[str]:
    """Names of files that are not needed."""
    return [path.name for path in cache.iterdir() if path.name.startswith(("part-", "export-"))]


def test_it_is_fetched_once_and_then_found(program: str, network: Network, cache: Path) -> None:
    for _ in range(2):
        (found,) = load_networks(program)
        assert found.name == name_of(network_file(network))
        assert found.engine == "Stockfish 99"
        assert Path(found.path).parent == cache
        for field, array in zip(Network._fields, network, strict=True):
            np.testing.assert_array_equal(getattr(found.network, field), array)
    assert starts_of(Path(program).parent) == 1
    assert left_behind(cache) == []


def test_compressed_and_small_networks_are_fetched_as_well(tmp_path: Path) -> None:
    big, small = random_network(1, width=128), random_network(2)
    files = [network_file(big, compressed=True), network_file(small, compressed=True)]
    found = load_networks(fake_stockfish(tmp_path / "program", *files))
    assert [one.name for one in found] == [name_of(file) for file in files]
    assert [one.network.feature_bias.size for one in found] == [128, 64]
    np.testing.assert_array_equal(found[0].network.fc0_weights, big.fc0_weights)


def test_another_stockfish_has_another_network(program: str, tmp_path: Path) -> None:
    (first,) = load_networks(program)
    other = fake_stockfish(tmp_path / "other", network_file(random_network(5)))
    (second,) = load_networks(other)
    assert first.path != second.path
    os.replace(other, program)  # an update of the program in its place
    shutil.copy(tmp_path / "other" / "source0", Path(program).parent / "source0")
    (third,) = load_networks(program)
    assert third.path == second.path


@pytest.mark.parametrize("what", ["nn-*", "stockfish-*"])
@pytest.mark.parametrize("damage", ["missing", "short", "garbage"])
def test_what_is_damaged_is_fetched_again(
    program: str, cache: Path, what: str, damage: str
) -> None:
    load_networks(program)
    (path,) = cache.glob(what)
    if damage == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        replacement = path.with_name("replacement")  # a mapped file must not become shorter
        replacement.write_bytes(data[: len(data) // 2] if damage == "short" else b"[1]" + data[3:])
        replacement.rename(path)
    (found,) = load_networks(program)
    assert int(found.network.feature_bias.size) == 64
    assert starts_of(Path(program).parent) == 2


def test_processes_at_the_same_time_fetch_once(program: str, cache: Path) -> None:
    command = [sys.executable, "-m", "obscuro.evaluation.nnue.install", program]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    said = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], said
    assert len(set(said)) == 1
    assert starts_of(Path(program).parent) == 1
    assert left_behind(cache) == []


def test_without_a_lock_the_network_is_got_all_the_same(
    program: str, cache: Path, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError("not here")

    monkeypatch.setattr(install.fcntl, "flock", no_locks)
    found: list[Network] = []
    threads = [
        threading.Thread(target=lambda: found.append(load_networks(program)[0].network))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for one in found:
        np.testing.assert_array_equal(one.feature_weights, network.feature_weights)
    assert left_behind(cache) == []


def test_a_place_that_can_be_read_serves_who_can_not_write(
    program: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_networks(program)

    def read_only(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    for function in ("makedirs", "utime", "replace", "unlink"):
        monkeypatch.setattr(os, function, read_only)
    monkeypatch.setattr(install.tempfile, "mkdtemp", read_only)
    assert Path(load_networks(program)[0].path).parent == cache


def test_where_nothing_can_be_written_the_next_place_serves(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")

    def candidates(name: str) -> Iterator[str]:
        yield str(tmp_path / "file" / name)
        yield str(tmp_path / "next" / name)

    monkeypatch.setattr(kernel_cache, "candidates", candidates)
    assert Path(load_networks(program)[0].path).parent == tmp_path / "next" / "networks"


def test_no_place_at_all_is_one_line(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    places = [str(tmp_path / "file" / "networks")]
    monkeypatch.setattr(kernel_cache, "candidates", lambda name: iter(places))
    with pytest.raises(NetworkError, match=r"no place .*Not a directory; set OBSCURO_CACHE_DIR"):
        load_networks(program)


def test_no_stockfish_is_one_line() -> None:
    with pytest.raises(NetworkError, match=r"no/such is missing, .*; install Stockfish"):
        load_networks("no/such")


def test_a_network_that_we_can_not_read_is_refused_and_not_kept(
    tmp_path: Path, network: Network, cache: Path
) -> None:
    file = network_file(network)
    program = fake_stockfish(tmp_path / "program", b"????" + file[4:])
    with pytest.raises(NetworkError, match="unknown version"):
        load_networks(program)
    assert [path.name for path in cache.iterdir()] == ["lock"]


def test_what_is_long_out_of_use_is_removed(program: str, cache: Path) -> None:
    cache.mkdir(parents=True)
    for number in range(9):
        (cache / f"nn-{number:012x}.v1").touch()
        os.utime(cache / f"nn-{number:012x}.v1", (number, number))
    (cache / "part-old").touch()
    os.utime(cache / "part-old", (0, 0))
    (cache / "part-new").touch()
    (cache / "export-old").mkdir()
    os.utime(cache / "export-old", (0, 0))
    (found,) = load_networks(program)
    assert left_behind(cache) == ["part-new"]
    kept = sorted(path.name for path in cache.glob("nn-*") if str(path) != found.path)
    assert kept == [f"nn-{number:012x}.v1" for number in range(9 - install.KEPT, 9)]


class TestProgram:
    """What `engine_bin/export_network` runs."""

    def test_says_which_and_where(self, program: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert install.main([program]) == 0
        (found,) = load_networks(program)
        assert capsys.readouterr().out == f"{found.name} of Stockfish 99: {found.path}\n"

    def test_a_failure_is_one_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert install.main(["no/such"]) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("export_network: no/such is missing")
        assert len(captured.err.splitlines()) == 1

    @pytest.mark.parametrize("arguments", [["--help"], ["one", "two"]])
    def test_anything_else_is_usage(
        self, arguments: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert install.main(arguments) == 2
        assert "usage" in capsys.readouterr().err
