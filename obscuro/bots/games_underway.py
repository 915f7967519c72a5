"""The ids of the games that go on, kept on disk for the next start.

A server may tell of a game again only once it has a first move (pychess.org), or may lose the event
that tells of it. The bridge then asks for the game by its id.
"""

from __future__ import annotations

import json
import logging
import threading
from pathlib import Path

from obscuro.matches.atomic_file import replace_text

logger = logging.getLogger(__name__)

MOST_REMEMBERED = 100


class GamesUnderway:
    """The games of one account on one server. Any thread may call this.

    path: None keeps nothing. A file that can't be read or written is one warning, and no more.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._ids = _read(path)

    def ids(self) -> tuple[str, ...]:
        """Return the games, the oldest first."""
        with self._lock:
            return tuple(self._ids)

    def add(self, game: str) -> None:
        """Remember a game."""
        with self._lock:
            if game not in self._ids:
                self._ids = [*self._ids, game][-MOST_REMEMBERED:]
                self._write()

    def remove(self, game: str) -> None:
        """Forget a game that is over."""
        with self._lock:
            if game in self._ids:
                self._ids.remove(game)
                self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(self._path, json.dumps({"games": self._ids}) + "\n")
        except OSError as error:
            logger.warning("games are not remembered: %s: %s", self._path, error.strerror)
            self._path = None


def _read(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        logger.warning("can't read %s: %s", path, error)
        return []
    games = said.get("games") if isinstance(said, dict) else None
    return [game for game in games if isinstance(game, str)] if isinstance(games, list) else []
