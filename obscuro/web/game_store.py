"""The games of the web server in a file of SQLite. What is saved survives a killed process.

One thread uses a store. Visitors are known here by a hash only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess

from obscuro.matches.game_record import turn_from_json, turn_to_json
from obscuro.web.game_database import StoreError, open_database
from obscuro.web.game_setup import GameSetup
from obscuro.web.hosted_game import GameResult, HostedGame, HostedPly, Status
from obscuro.web.player_notes import color_name

FILE = "games.sqlite3"
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


class GameStore:
    """Keeps games in a folder. Raises StoreError if it can't be used."""

    def __init__(self, folder: Path) -> None:
        self._db = open_database(folder / FILE, _SCHEMA)
        self._saved: dict[str, list[HostedPly]] = {}  # the plies in the file, of games in use

    def add(self, game: HostedGame, visitor: str, started: str) -> None:
        """Put a new game into the file. Raises StoreError."""
        setup = game.setup
        self._write(
            [
                (
                    "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, 0)",
                    (
                        game.id,
                        visitor,
                        setup.human is None,
                        json.dumps(setup.to_json()),
                        started,
                        _state(game, 0.0),
                    ),
                )
            ]
        )

    def save(self, game: HostedGame, now: float) -> None:
        """Bring the file up to the game as it stands. now: for its clocks. Raises StoreError.

        When it returns, the change has been committed.
        """
        saved = self._saved.get(game.id)
        if saved is None:
            saved = list(self._plies(game.id))
        same = 0
        while same < min(len(saved), len(game.plies)) and saved[same] == game.plies[same]:
            same += 1
        orders: list[tuple[str, Sequence[object]]] = [
            (
                "UPDATE games SET state = ?, is_over = ? WHERE id = ?",
                (_state(game, now), game.result is not None, game.id),
            )
        ]
        if same < len(saved):
            orders.append(("DELETE FROM plies WHERE game = ? AND ply >= ?", (game.id, same)))
        orders += [
            ("INSERT INTO plies VALUES (?, ?, ?)", (game.id, ply, _said(game.plies[ply])))
            for ply in range(same, len(game.plies))
        ]
        self._write(orders)
        self._saved[game.id] = list(game.plies)

    def forget(self, game_id: str) -> None:
        """Keep nothing of a game in memory any more."""
        self._saved.pop(game_id, None)

    def load(self, game_id: str) -> StoredGame | None:
        """Return a game; None if there is none of this id."""
        row = self._db.execute(
            "SELECT visitor, setup, started, state FROM games WHERE id = ?", (game_id,)
        ).fetchone()
        if row is None:
            return None
        visitor, setup, started, text = row
        state = json.loads(text)
        result = state["result"]
        return StoredGame(
            id=game_id,
            visitor=visitor,
            setup=GameSetup.from_json(json.loads(setup)),
            started=started,
            plies=tuple(self._plies(game_id)),
            left=dict(zip(chess.COLORS, state["left"], strict=True)),
            result=None if result is None else GameResult(**result),
            version=state["version"],
        )

    def summaries(self, visitor: str, most: int) -> list[dict[str, Any]]:
        """Return what a list of a visitor's games shows, the newest first."""
        rows = self._db.execute(
            "SELECT id, setup, started, state, (SELECT count(*) FROM plies WHERE game = id) "
            "FROM games WHERE visitor = ? ORDER BY rowid DESC LIMIT ?",
            (visitor, most),
        )
        return [_summary(*row) for row in rows]

    def count_unfinished(self, visitor: str) -> int:
        """Return how many games of a visitor are not over."""
        (count,) = self._db.execute(
            "SELECT count(*) FROM games WHERE visitor = ? AND NOT is_over", (visitor,)
        ).fetchone()
        return int(count)

    def unfinished_matches(self) -> list[str]:
        """Return the ids of the games of two engines that are not over, the oldest first."""
        rows = self._db.execute("SELECT id FROM games WHERE is_match AND NOT is_over")
        return [game_id for (game_id,) in rows]

    def prune(self, most: int, kept: Collection[str]) -> None:
        """Remove the oldest games but `most`. kept: games that stay all the same.

        Raises StoreError.
        """
        rows = self._db.execute(
            "SELECT id FROM games ORDER BY rowid DESC LIMIT -1 OFFSET ?", (most,)
        )
        old = [game_id for (game_id,) in rows if game_id not in kept]
        if old:
            self._write([("DELETE FROM games WHERE id = ?", (game_id,)) for game_id in old])

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()

    # -- inside -----------------------------------------------------------------------------

    def _plies(self, game_id: str) -> list[HostedPly]:
        rows = self._db.execute("SELECT said FROM plies WHERE game = ? ORDER BY ply", (game_id,))
        return [_heard(said) for (said,) in rows]

    def _write(self, orders: Sequence[tuple[str, Sequence[object]]]) -> None:
        """Carry out orders in one transaction."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for order, values in orders:
                    self._db.execute(order, values)
                self._db.execute("COMMIT")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"can't save the game: {error}") from None


def _state(game: HostedGame, now: float) -> str:
    result = game.result
    return json.dumps(
        {
            "version": game.version,
            "left": [game.clock.left(color, now) for color in chess.COLORS],
            "result": None
            if result is None
            else {
                "winner": result.winner,
                "ending": result.ending,
                "rematch": result.rematch,
                "scored": result.scored,
            },
        }
    )


def _summary(game_id: str, setup: str, started: str, state: str, plies: int) -> dict[str, Any]:
    chosen = GameSetup.from_json(json.loads(setup))
    stored = json.loads(state)["result"]
    result = None if stored is None else GameResult(**stored)
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


def _said(ply: HostedPly) -> str:
    return json.dumps({"turn": turn_to_json(ply.turn), "clock": ply.clock, "score": ply.score})


def _heard(said: str) -> HostedPly:
    data = json.loads(said)
    return HostedPly(turn_from_json(data["turn"]), data["clock"], data["score"])
