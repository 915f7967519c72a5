"""The games of the web server in a file of SQLite. What is saved survives a killed process.

One thread uses a store. Visitors are known here by a hash only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chess
import chess.pgn

from obscuro import __version__
from obscuro.engine.strength import level_numbered
from obscuro.matches.game_record import GameRecord, PlayedPly, turn_from_json, turn_to_json
from obscuro.matches.pgn import to_pgn, write_comment
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.hosted_game import GameResult, HostedGame, HostedPly, Status
from obscuro.web.play.player_notes import color_name

FILE = "games.sqlite3"
EVENT = "Obscuro web"
_UNFINISHED = "unfinished"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS games (
    id TEXT PRIMARY KEY,
    visitor TEXT NOT NULL,
    is_match INTEGER NOT NULL,
    setup TEXT NOT NULL,
    started TEXT NOT NULL,
    state TEXT NOT NULL,
    is_over INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS games_of_visitor ON games (visitor, is_over);
CREATE TABLE IF NOT EXISTS plies (
    game TEXT NOT NULL REFERENCES games (id) ON DELETE CASCADE,
    ply INTEGER NOT NULL,
    said TEXT NOT NULL,
    PRIMARY KEY (game, ply)
) STRICT, WITHOUT ROWID;
"""


class StoreError(Exception):
    """The file of the games can't be opened or used; the text is one line for the user."""


class GameDatabase:
    """A file of SQLite in which the server keeps games; its folder and tables are made if needed.

    What is committed outlives a killed process. Raises StoreError.
    """

    def __init__(self, file: Path, schema: str) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            # The thread that opens it may be another one than the thread that uses it.
            self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._db.executescript(schema)
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"can't keep games in {file.parent}: {error}") from None

    def read(self, query: str, *values: object) -> list[Any]:
        """Return the rows that a query finds."""
        return self._db.execute(query, values).fetchall()

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

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as the file has it. left: both clocks' milliseconds. started: UTC, as ISO 8601.

    visitor: the hash of who started it.
    """

    id: str
    visitor: str
    setup: GameSetup
    started: str
    plies: tuple[HostedPly, ...]
    left: dict[chess.Color, float]
    result: GameResult | None
    version: int

    def game(self) -> HostedGame:
        """Return the game, to go on with."""
        return HostedGame(
            self.id,
            self.setup,
            plies=self.plies,
            left=self.left,
            result=self.result,
            version=self.version,
        )

    def pgn(self) -> chess.pgn.Game:
        """Return the game as PGN, with the engines' reports in comments."""
        record = self._record()
        game = to_pgn(record, event=EVENT)
        for node, ply, played in zip(game.mainline(), self.plies, record.plies, strict=True):
            node.comment = write_comment(ply.turn, played.color, ply.clock)
        if self.result is None or not self.result.scored:
            game.headers["Result"] = "*"
        return game

    def _record(self) -> GameRecord:
        """Return the game's record; one that goes on has no winner and the ending `unfinished`."""
        board, plies = self.setup.board(), []
        for ply in self.plies:
            move = chess.Move.from_uci(ply.turn.uci)
            plies.append(PlayedPly(board.turn, ply.turn, board.san(move)))
            board.push(move)
        result = self.result
        return GameRecord(
            white=player_name(self.setup, chess.WHITE),
            black=player_name(self.setup, chess.BLACK),
            board=board,
            winner=None if result is None else result.winner,
            ending=_UNFINISHED if result is None else result.ending,
            regular=result is not None and board.outcome() is not None,
            plies=plies,
            controls=dict.fromkeys(chess.COLORS, self.setup.control),
            started=self.started,
        )


class GameStore:
    """Keeps games in a folder. Raises StoreError if it can't be used."""

    def __init__(self, folder: Path) -> None:
        self._db = GameDatabase(folder / FILE, _SCHEMA)

    def add(self, game: HostedGame, visitor: str, started: str) -> None:
        """Put a new game into the file. Raises StoreError."""
        setup = game.setup
        text = json.dumps(setup.to_json())
        row = (game.id, visitor, setup.human is None, text, started, _state_text(game, 0.0))
        self._db.write(("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, 0)", [row]))

    def save(self, game: HostedGame, now: float) -> None:
        """Bring the file up to the game as it stands. now: for its clocks. Raises StoreError.

        When it returns, the change has been committed.
        """
        new = list(enumerate(game.plies))[game.saved :]
        self._db.write(
            (
                "UPDATE games SET state = ?, is_over = ? WHERE id = ?",
                [(_state_text(game, now), game.result is not None, game.id)],
            ),
            ("DELETE FROM plies WHERE game = ? AND ply >= ?", [(game.id, game.saved)]),
            (
                "INSERT INTO plies VALUES (?, ?, ?)",
                [(game.id, number, ply_to_json(ply)) for number, ply in new],
            ),
        )
        game.saved = len(game.plies)

    def load(self, game_id: str) -> StoredGame | None:
        """Return a game; None if there is none of this id."""
        rows = self._db.read(
            "SELECT visitor, setup, started, state FROM games WHERE id = ?", game_id
        )
        if not rows:
            return None
        visitor, setup, started, text = rows[0]
        state = json.loads(text)
        plies = self._db.read("SELECT said FROM plies WHERE game = ? ORDER BY ply", game_id)
        return StoredGame(
            id=game_id,
            visitor=visitor,
            setup=GameSetup.from_json(json.loads(setup)),
            started=started,
            plies=tuple(ply_from_json(text) for (text,) in plies),
            left=dict(zip(chess.COLORS, state["left"], strict=True)),
            result=_result_of(state),
            version=state["version"],
        )

    def summaries(self, visitor: str, most: int) -> list[dict[str, Any]]:
        """Return what a list of a visitor's games shows, the newest first."""
        rows = self._db.read(
            "SELECT id, setup, started, state, (SELECT count(*) FROM plies WHERE game = id) "
            "FROM games WHERE visitor = ? ORDER BY rowid DESC LIMIT ?",
            *(visitor, most),
        )
        return [_summary(*row) for row in rows]

    def count_unfinished(self, visitor: str) -> int:
        """Return how many games of a visitor are not over."""
        query = "SELECT count(*) FROM games WHERE visitor = ? AND NOT is_over"
        ((count,),) = self._db.read(query, visitor)
        return int(count)

    def unfinished_matches(self) -> list[str]:
        """Return the ids of the games of two engines that are not over, the oldest first."""
        rows = self._db.read("SELECT id FROM games WHERE is_match AND NOT is_over")
        return [game_id for (game_id,) in rows]

    def prune(self, most: int, kept: Collection[str]) -> None:
        """Remove the oldest games but `most`. kept: games that stay all the same.

        Raises StoreError.
        """
        rows = self._db.read("SELECT id FROM games ORDER BY rowid DESC LIMIT -1 OFFSET ?", most)
        old = [row for row in rows if row[0] not in kept]
        if old:
            self._db.write(("DELETE FROM games WHERE id = ?", old))

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()


def player_name(setup: GameSetup, color: chess.Color) -> str:
    """Return the name of a side's player."""
    if color == setup.human:
        return "you"
    level = setup.levels[color]
    name = f"Obscuro {__version__}"
    return name if level is None else f"{name} ({level_numbered(level).name})"


def ply_to_json(ply: HostedPly) -> str:
    """Return a ply as JSON text."""
    return json.dumps({"turn": turn_to_json(ply.turn), "clock": ply.clock, "score": ply.score})


def ply_from_json(text: str) -> HostedPly:
    """Read what `ply_to_json` wrote."""
    data = json.loads(text)
    return HostedPly(turn_from_json(data["turn"]), data["clock"], data["score"])


def _state_text(game: HostedGame, now: float) -> str:
    """Return the changing part of a game as JSON text, but for its plies."""
    return json.dumps(
        {
            "version": game.version,
            "left": [game.clock.left(color, now) for color in chess.COLORS],
            "result": None if game.result is None else asdict(game.result),
        }
    )


def _result_of(state: dict[str, Any]) -> GameResult | None:
    return None if state["result"] is None else GameResult(**state["result"])


def _summary(game_id: str, setup: str, started: str, state: str, plies: int) -> dict[str, Any]:
    chosen = GameSetup.from_json(json.loads(setup))
    result = _result_of(json.loads(state))
    human = chosen.human
    return {
        "game": game_id,
        "you": None if human is None else color_name(human),
        "status": (Status.PLAYING if result is None else Status.OVER).value,
        "result": None if result is None else result.text,
        "ending": None if result is None else result.ending,
        "level": None if human is None else chosen.levels[not human],
        "started": started,
        "plies": plies,
    }
