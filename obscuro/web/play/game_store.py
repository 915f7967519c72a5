"""The games of the web server in a file of SQLite. What is saved survives a killed process.

One thread uses a store. Visitors are known here by a hash only.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import chess
import chess.pgn

from obscuro import __version__
from obscuro.engine.strength import level_numbered
from obscuro.matches.game_record import GameRecord, PlayedPly, turn_from_json, turn_to_json
from obscuro.matches.pgn import to_pgn, write_comment
from obscuro.web.data_folder import GameDatabase
from obscuro.web.play.game_setup import GameSetup
from obscuro.web.play.hosted_game import GameResult, HostedGame, HostedPly, Status
from obscuro.web.play.player_notes import color_name
from obscuro.web.web_limits import CONFLICT, WebError

FILE = "games.sqlite3"
EVENT = "Obscuro web"
_UNFINISHED = "unfinished"
_PRUNED_AT_ONCE = 50
_MOST_TOLD = 1000
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError)
"""What a row raises that no server of ours has written."""
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


class DamagedGameError(WebError):
    """A game's rows in the file are no game."""

    def __init__(self, reason: str) -> None:
        super().__init__(CONFLICT, f"the game is damaged in the server's file: {reason}")


# What may make place for other games: one that is over, one in which not both sides have moved,
# and one of two engines. A person's game under way stays.
_PRUNABLE = (
    "(is_over OR is_match OR NOT EXISTS (SELECT 1 FROM plies WHERE game = games.id AND ply = 1))"
)

logger = logging.getLogger("obscuro.web")
_Read = TypeVar("_Read")


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
        """Return the game, to go on with. Raises DamagedGameError."""
        self._check_moves()
        return HostedGame(
            self.id,
            self.setup,
            plies=self.plies,
            left=self.left,
            result=self.result,
            version=self.version,
        )

    def _check_moves(self) -> None:
        """Raise DamagedGameError unless the moves are legal."""
        try:
            board = self.setup.board()
            for ply in self.plies:
                move = chess.Move.from_uci(ply.turn.uci)
                if not board.is_legal(move):
                    raise ValueError(f"the move {ply.turn.uci[:10]!r} is not legal")
                board.push(move)
        except _DAMAGE as error:
            raise DamagedGameError(_reason(error)) from None

    def pgn(self) -> chess.pgn.Game:
        """Return the game as PGN, with the engines' reports in comments.

        Raises DamagedGameError.
        """
        self._check_moves()
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
        self._told: set[str] = set()  # damaged games that the log knows of

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
        """Return a game; None if there is none of this id, or if its rows are damaged.

        Raises StoreError.
        """
        rows = self._db.read(
            "SELECT visitor, setup, started, state FROM games WHERE id = ?", game_id
        )
        if not rows:
            return None
        visitor, setup, started, text = rows[0]
        said = self._db.read("SELECT ply, said FROM plies WHERE game = ? ORDER BY ply", game_id)

        def read() -> StoredGame:
            state = json.loads(text)
            if [number for number, _ in said] != list(range(len(said))):
                raise ValueError("a ply is missing")
            return StoredGame(
                id=game_id,
                visitor=visitor,
                setup=GameSetup.from_json(json.loads(setup)),
                started=started,
                plies=tuple(ply_from_json(ply) for _, ply in said),
                left={
                    color: float(left)
                    for color, left in zip(chess.COLORS, state["left"], strict=True)
                },
                result=_result_of(state),
                version=int(state["version"]),
            )

        return self._undamaged(game_id, read)

    def summaries(self, visitor: str, most: int) -> list[dict[str, Any]]:
        """Return what a list of a visitor's games shows, the newest first. Raises StoreError."""
        rows = self._db.read(
            "SELECT id, setup, started, state, (SELECT count(*) FROM plies WHERE game = id) "
            "FROM games WHERE visitor = ? ORDER BY rowid DESC LIMIT ?",
            *(visitor, most),
        )
        found = (self._undamaged(row[0], functools.partial(_summary, *row)) for row in rows)
        return [summary for summary in found if summary is not None]

    def _undamaged(self, game_id: str, read: Callable[[], _Read]) -> _Read | None:
        """Return what is read of a game; None if that fails, and say so once."""
        try:
            return read()
        except _DAMAGE as error:
            if game_id not in self._told and len(self._told) < _MOST_TOLD:
                self._told.add(game_id)
                logger.error(
                    "game %s is damaged in the file, and left out: %s", game_id, _reason(error)
                )
            return None

    def count_unfinished(self, visitor: str) -> int:
        """Return how many games of a visitor are not over."""
        query = "SELECT count(*) FROM games WHERE visitor = ? AND NOT is_over"
        ((count,),) = self._db.read(query, visitor)
        return int(count)

    def make_place(
        self, visitor: str, kept: Collection[str], *, most: int, own: int, size: int
    ) -> bool:
        """Remove old games, so that one more of this visitor can be kept; tell whether it can.

        own: the most games of one visitor. most, size: the most games and bytes of all. Then the
        visitors with the most games lose some. Games that are over go first. A game under way stays.
        kept: games that stay in any case. Raises StoreError.
        """
        ((count,),) = self._db.read("SELECT count(*) FROM games WHERE visitor = ?", visitor)
        if count >= own:
            self._remove_oldest(visitor, count - own + 1, kept)
        while self._is_full(most, size):
            owners = self._db.read(
                f"SELECT visitor FROM games WHERE {_PRUNABLE} "
                "GROUP BY visitor ORDER BY count(*) DESC, min(rowid)"
            )
            if not any(self._remove_oldest(owner, _PRUNED_AT_ONCE, kept) for (owner,) in owners):
                return False
        return True

    def _is_full(self, most: int, size: int) -> bool:
        ((count,),) = self._db.read("SELECT count(*) FROM games")
        return bool(count >= most) or self._db.used_bytes() >= size

    def _remove_oldest(self, visitor: str, most: int, kept: Collection[str]) -> bool:
        """Remove games of a visitor that may make place; tell whether there was any."""
        rows = self._db.read(
            f"SELECT id FROM games WHERE visitor = ? AND {_PRUNABLE} ORDER BY is_over DESC, rowid",
            visitor,
        )
        old = [row for row in rows if row[0] not in kept][:most]
        if old:
            self._db.write(("DELETE FROM games WHERE id = ?", old))
        return bool(old)

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._db.close()


def _reason(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:100]


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
