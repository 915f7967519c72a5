"""The folder of the server's data: nobody else may read it, and one server at a time uses it."""

from __future__ import annotations

import fcntl
import os
import secrets
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LOCK, SECRET = "lock", "secret"
_SECRET_BYTES = 32
_SUFFIXES = ("", "-wal", "-shm")


class StoreError(Exception):
    """The server's data can't be opened or used; the text is one line for the user."""


class DataFolder:
    """A folder that is ours alone, held until `close`.

    The folder gets the mode 0700 if it is new, empty, or ours from an earlier time. Files that the
    server makes have the mode 0600 in any case. Raises StoreError, also if another server uses it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._make_private()
            self._lock = self._locked()
            self.secret = self._read_secret()
            """The key that signs the visitors' cookies."""
        except OSError as error:
            self.close()
            raise StoreError(f"can't keep games in {path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Let another server use the folder. A second call does nothing."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _make_private(self) -> None:
        names = os.listdir(self.path)
        if not names or LOCK in names or any(name.endswith(".sqlite3") for name in names):
            self.path.chmod(0o700)
        elif stat.S_IMODE(self.path.stat().st_mode) & 0o022:
            raise StoreError(
                f"others may write to {self.path}; choose a folder of the server's own for --data"
            )

    def _locked(self) -> int:
        """Return the open lock. The system gives it back when the process ends, however it ends."""
        lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise StoreError(
                f"another server uses {self.path}; end it, or choose another folder with --data"
            ) from None
        except OSError:
            os.close(lock)
            raise
        return lock

    def _read_secret(self) -> bytes:
        """Return the secret; make one if there is none that can be used."""
        file = self.path / SECRET
        if file.is_file() and not file.is_symlink():
            file.chmod(0o600)
            secret = file.read_bytes()
            if len(secret) == _SECRET_BYTES:
                return secret
        secret = secrets.token_bytes(_SECRET_BYTES)
        fresh = self.path / f"{SECRET}.{secrets.token_hex(8)}"
        with os.fdopen(make_private_file(fresh), "wb") as stream:
            stream.write(secret)
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(file)
        return secret


def make_private_file(path: Path) -> int:
    """Make a file for this user alone, and return it open for writing.

    Raises FileExistsError if anything has this name, a symbolic link too.
    """
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)


class GameDatabase:
    """A file of SQLite in which the server keeps games; its folder and tables are made if needed.

    What is committed outlives a killed process. Only this user may read the file. Raises StoreError.
    """

    def __init__(self, file: Path, schema: str) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _restrict(file)
            # The thread that opens it may be another one than the thread that uses it.
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(schema)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"can't keep games in {file.parent}: {error}") from None

    def read(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds. Raises StoreError."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"can't read the games: {error}") from None

    def write(self, *orders: tuple[str, Sequence[Sequence[object]]]) -> None:
        """Carry out each order for each of its rows, all in one transaction. Raises StoreError."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for order, rows in orders:
                    self._db.executemany(order, rows)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"can't save the game: {error}") from None

    def used_bytes(self) -> int:
        """Return how much of the file is in use; removed rows leave space for others."""
        pages, free, size = (
            self.read(f"PRAGMA {name}")[0][0]
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * size)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()


def _restrict(file: Path) -> None:
    """Make the file if need be, for this user alone; SQLite's other files get the same mode."""
    if not file.exists() and not file.is_symlink():
        os.close(make_private_file(file))
    for suffix in _SUFFIXES:
        each = file.with_name(file.name + suffix)
        if each.is_file() and not each.is_symlink() and stat.S_IMODE(each.stat().st_mode) & 0o077:
            each.chmod(0o600)
