"""Games of PGN files, and documents of finished games, in a file of SQLite of their own.

One thread uses a store. Visitors are known here by a hash only.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from obscuro.viewer.document import SCHEMA, GameDocument
from obscuro.web.data_folder import GameDatabase

FILE = "look.sqlite3"
MOST_DOCUMENTS = 1_000
"""The most documents that are kept; others are made anew when they are asked for."""
MOST_FILE_GAMES = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS file_games (
    id TEXT PRIMARY KEY,
    visitor TEXT NOT NULL,
    opened TEXT NOT NULL,
    white TEXT NOT NULL,
    black TEXT NOT NULL,
    result TEXT NOT NULL,
    plies INTEGER NOT NULL,
    pgn TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS file_games_of_visitor ON file_games (visitor);
CREATE TABLE IF NOT EXISTS documents (
    game TEXT PRIMARY KEY,
    form INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
"""


@dataclass(frozen=True, slots=True)
class FileGame:
    """A game of a PGN file, as a row of its table.

    opened: when the visitor gave it to us, UTC, as ISO 8601.
    """

    id: str
    visitor: str
    opened: str
    white: str
    black: str
    result: str
    plies: int
    pgn: str


class LookStore:
    """Keeps both in a folder. Raises StoreError if it can't be used."""

    def __init__(self, folder: Path) -> None:
        self._db = GameDatabase(folder / FILE, _SCHEMA)

    def add_games(self, games: Sequence[FileGame]) -> None:
        """Keep the games of a file; the oldest ones of all make place. Raises StoreError."""
        rows = [astuple(each) for each in games]
        self._db.write(("INSERT INTO file_games VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows))
        self._keep_newest("file_games", MOST_FILE_GAMES)

    def game(self, game_id: str, visitor: str | None) -> FileGame | None:
        """Return a game of a file of this visitor's; None if there is none of this id."""
        query = "SELECT * FROM file_games WHERE id = ? AND visitor = ?"
        rows = self._db.read(query, game_id, visitor)
        return FileGame(*rows[0]) if rows else None

    def games_of(self, visitor: str, most: int) -> list[FileGame]:
        """Return a visitor's games of files, the newest first, without their moves."""
        rows = self._db.read(
            "SELECT id, visitor, opened, white, black, result, plies, '' FROM file_games "
            "WHERE visitor = ? ORDER BY opened DESC, rowid LIMIT ?",
            *(visitor, most),
        )
        return [FileGame(*row) for row in rows]

    def save_document(self, game_id: str, document: GameDocument) -> None:
        """Keep the document of a finished game. Raises StoreError."""
        body = zlib.compress(json.dumps(document, separators=(",", ":")).encode())
        row = (game_id, SCHEMA, body)
        self._db.write(("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", [row]))
        self._keep_newest("documents", MOST_DOCUMENTS)

    def document(self, game_id: str) -> GameDocument | None:
        """Return the document of a game, if it is kept and of the form that the page reads."""
        query = "SELECT body FROM documents WHERE game = ? AND form = ?"
        rows = self._db.read(query, game_id, SCHEMA)
        if not rows:
            return None
        document: GameDocument = json.loads(zlib.decompress(rows[0][0]))
        return document

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()

    def _keep_newest(self, table: str, most: int) -> None:
        order = (
            f"DELETE FROM {table} WHERE rowid NOT IN "
            f"(SELECT rowid FROM {table} ORDER BY rowid DESC LIMIT ?)"
        )
        self._db.write((order, [(most,)]))
