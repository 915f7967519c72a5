"""Opens a file of SQLite in which a server keeps games."""

from __future__ import annotations

import sqlite3
from pathlib import Path


class StoreError(Exception):
    """The file of the games can't be opened or used; the text is one line for the user."""


def open_database(file: Path, schema: str) -> sqlite3.Connection:
    """Open a file, make its folder and its tables if there are none, and return the connection.

    Each statement is a transaction of its own, unless one is begun. What is committed outlives a
    killed process. Raises StoreError.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        # The thread that opens it may be another one than the thread that uses it.
        database = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA foreign_keys = ON")
        database.executescript(schema)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"can't keep games in {file.parent}: {error}") from None
    return database
