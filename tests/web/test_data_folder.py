"""The server's folder: nobody else reads it, one server at a time uses it, and it stays usable."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from obscuro.web.data_folder import LOCK, SECRET, DataFolder, GameDatabase, StoreError
from tests.hanging import HANG_SECONDS
from tests.web.rooms import browser, quick_app, start_game

HOLDER = """
import sys, time
from pathlib import Path
from obscuro.web.data_folder import DataFolder
folder = DataFolder(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nobody_else_may_read_what_the_server_keeps(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        with browser(quick_app(tmp_path / "data")) as client:
            start_game(client)
            files = list((tmp_path / "data").iterdir())
            assert mode(tmp_path / "data") == 0o700
            assert {file.name: oct(mode(file)) for file in files} == {
                file.name: oct(0o600) for file in files
            }
            assert len(files) >= 4
    finally:
        os.umask(umask)


def test_a_folder_of_an_earlier_server_becomes_private(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    GameDatabase(folder / "games.sqlite3", "").close()
    folder.chmod(0o755)
    (folder / "games.sqlite3").chmod(0o644)
    DataFolder(folder).close()
    GameDatabase(folder / "games.sqlite3", "").close()
    assert mode(folder) == 0o700
    assert mode(folder / "games.sqlite3") == 0o600


def test_a_folder_with_other_files_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("")
    tmp_path.chmod(0o755)
    DataFolder(tmp_path).close()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / SECRET) == 0o600


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("")
    tmp_path.chmod(0o777)
    with pytest.raises(StoreError, match="others may write"):
        DataFolder(tmp_path)


def test_a_second_server_does_not_share_the_folder(tmp_path: Path) -> None:
    first = DataFolder(tmp_path)
    with pytest.raises(StoreError, match="another server uses"):
        DataFolder(tmp_path)
    first.close()
    DataFolder(tmp_path).close()


def test_a_killed_server_does_not_keep_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="another server uses"):
            DataFolder(tmp_path)
        other.send_signal(signal.SIGKILL)
        other.wait(HANG_SECONDS)
        DataFolder(tmp_path).close()


def test_the_secret_stays_and_a_damaged_one_is_replaced(tmp_path: Path) -> None:
    def secret() -> bytes:
        folder = DataFolder(tmp_path)
        folder.close()
        return folder.secret

    first = secret()
    assert secret() == first
    (tmp_path / SECRET).write_bytes(b"short")
    second = secret()
    assert len(second) == len(first)
    assert second != first


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / LOCK).symlink_to(victim)
    with pytest.raises(StoreError):
        DataFolder(folder)
    (folder / LOCK).unlink()
    (folder / SECRET).symlink_to(victim)
    DataFolder(folder).close()
    assert victim.read_text() == "mine"
    assert not (folder / SECRET).is_symlink()
