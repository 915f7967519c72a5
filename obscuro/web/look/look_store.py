"""Games of PGN files, and documents of finished games, in a file of SQLite of their own.

One thread uses a store. Visitors are known here by a hash only.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

from obscuro.viewer.document import SCHEMA, GameDocument, in_present_form
from obscuro.viewer.worst_moments import Moment, worst_move
from obscuro.web.data_folder import GameDatabase

FILE = "look.sqlite3"
MOST_DOCUMENTS = 1_000
"""The most documents that are kept; others are made anew when they are asked for."""
MOST_FILE_GAMES = 10_000
MOST_FILE_BYTES = 256 << 20
MOST_DOCUMENT_BYTES = 256 << 20
OWN_FILE_GAMES = 1_000
OWN_FILE_BYTES = 32 << 20
"""The most of one visitor."""
_SCHEMA = """
DROP TABLE IF EXISTS file_games;
CREATE TABLE IF NOT EXISTS games_of_files (
    id TEXT PRIMARY KEY,
    visitor TEXT NOT NULL,
    opened TEXT NOT NULL,
    white TEXT NOT NULL,
    black TEXT NOT NULL,
    result TEXT NOT NULL,
    plies INTEGER NOT NULL,
    pgn TEXT NOT NULL,
    size INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS games_of_files_by_visitor ON games_of_files (visitor, size);
CREATE TABLE IF NOT EXISTS moments (
    game TEXT NOT NULL REFERENCES games_of_files (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    ply INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (game, place)
) STRICT;
CREATE TABLE IF NOT EXISTS documents (
    game TEXT PRIMARY KEY,
    form INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
"""
_COLUMNS = "id, visitor, opened, white, black, result, plies"
_WORST_MOVE = 0
"""The place among a game's moments of the move that lost most; the others come after it."""

logger = logging.getLogger("obscuro.web")


@dataclass(frozen=True, slots=True)
class FileGame:
    """A game of a PGN file, as a row of its table.

    opened: when the visitor gave it to us, UTC, as ISO 8601. moments: the worst ones, see
    `worst_moments`; the move that lost most is the first, once there is a document.
    """

    id: str
    visitor: str
    opened: str
    white: str
    black: str
    result: str
    plies: int
    pgn: str
    moments: tuple[Moment, ...] = ()


class LookStore:
    """Keeps both in a folder. Raises StoreError if it can't be used."""

    def __init__(self, folder: Path) -> None:
        self._db = GameDatabase(folder / FILE, _SCHEMA)

    def add_games(self, games: Sequence[FileGame]) -> None:
        """Keep the games of a file; older ones make place. Raises StoreError.

        Those of the same visitor first, then those of the visitors with the most.
        """
        rows = [(*astuple(each)[:-1], len(each.pgn.encode())) for each in games]
        moments = [
            (each.id, place, moment.ply, moment.text)
            for each in games
            for place, moment in enumerate(each.moments, _WORST_MOVE + 1)
        ]
        self._db.write(
            ("INSERT INTO games_of_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows),
            ("INSERT INTO moments VALUES (?, ?, ?, ?)", moments),
        )
        for visitor in {each.visitor for each in games}:
            self._keep_newest(visitor, OWN_FILE_GAMES, OWN_FILE_BYTES)
        while True:
            sums = self._db.read(
                "SELECT visitor, count(*), sum(size) FROM games_of_files GROUP BY visitor "
                "ORDER BY sum(size) DESC"
            )
            count, size = sum(row[1] for row in sums), sum(row[2] for row in sums)
            if count <= MOST_FILE_GAMES and size <= MOST_FILE_BYTES:
                return
            most_games = max(sums, key=lambda row: int(row[1]))
            visitor, has, has_bytes = sums[0] if size > MOST_FILE_BYTES else most_games
            self._keep_newest(visitor, has - max(1, has // 10), has_bytes)

    def game(self, game_id: str, visitor: str | None) -> FileGame | None:
        """Return a game of a file of this visitor's; None if there is none of this id."""
        query = f"SELECT {_COLUMNS}, pgn FROM games_of_files WHERE id = ? AND visitor = ?"
        rows = self._db.read(query, game_id, visitor)
        return self._with_moments([FileGame(*rows[0])])[0] if rows else None

    def games_of(self, visitor: str, most: int) -> list[FileGame]:
        """Return a visitor's games of files, the newest first, without their moves."""
        rows = self._db.read(
            f"SELECT {_COLUMNS}, '' FROM games_of_files "
            "WHERE visitor = ? ORDER BY opened DESC, rowid LIMIT ?",
            *(visitor, most),
        )
        return self._with_moments([FileGame(*row) for row in rows])

    def _with_moments(self, games: list[FileGame]) -> list[FileGame]:
        rows = self._db.read(
            "SELECT game, ply, text FROM moments WHERE game IN (SELECT value FROM json_each(?)) "
            "ORDER BY game, place",
            json.dumps([each.id for each in games]),
        )
        found: dict[str, list[Moment]] = defaultdict(list)
        for game_id, *moment in rows:
            found[game_id].append(Moment(*moment))
        return [replace(each, moments=tuple(found[each.id])) for each in games]

    def save_document(self, game_id: str, document: GameDocument) -> None:
        """Keep the document of a finished game, and its worst move. Raises StoreError."""
        body = zlib.compress(json.dumps(document, separators=(",", ":")).encode())
        row = (game_id, SCHEMA, body)
        worst = worst_move(document)
        moments = [] if worst is None else [(_WORST_MOVE, worst.ply, worst.text, game_id)]
        self._db.write(
            ("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", [row]),
            (
                "INSERT OR REPLACE INTO moments SELECT id, ?, ?, ? FROM games_of_files WHERE id = ?",
                moments,
            ),
        )
        order = (
            "DELETE FROM documents WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
            "row_number() OVER newer AS number, sum(length(body)) OVER newer AS size "
            "FROM documents WINDOW newer AS (ORDER BY rowid DESC)) WHERE number > ? OR size > ?)"
        )
        self._db.write((order, [(MOST_DOCUMENTS, MOST_DOCUMENT_BYTES)]))

    def document(self, game_id: str) -> GameDocument | None:
        """Return the document of a game, if it is kept and need not be made anew."""
        rows = self._db.read("SELECT body FROM documents WHERE game = ?", game_id)
        if not rows:
            return None
        try:
            return in_present_form(json.loads(zlib.decompress(rows[0][0])))
        except (ValueError, TypeError, KeyError, zlib.error):
            logger.error("the document of game %s is damaged in the file; it is made anew", game_id)
            return None

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()

    def _keep_newest(self, visitor: str, most: int, size: int) -> None:
        order = (
            "DELETE FROM games_of_files WHERE rowid IN (SELECT rowid FROM (SELECT rowid, "
            "row_number() OVER newer AS number, sum(size) OVER newer AS total FROM games_of_files "
            "WHERE visitor = ? WINDOW newer AS (ORDER BY rowid DESC)) "
            "WHERE number > ? OR (total > ? AND number > 1))"
        )
        self._db.write((order, [(visitor, most, size)]))
