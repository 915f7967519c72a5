"""The PGN file of an event, derived from its journal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from obscuro.matches.arena_error import ArenaError
from obscuro.matches.atomic_file import replacing
from obscuro.matches.event import Event
from obscuro.matches.game_record import GameRecord
from obscuro.matches.pgn import write_pgn

_FINGERPRINT = re.compile(r'^\[Fingerprint "(\w*)"\]$', re.MULTILINE)
_GAME = re.compile(r"^\[Event ", re.MULTILINE)


class PgnFileError(ArenaError):
    """A PGN file can't be written. The text is one line for the user; the file is as it was."""


class PgnFile:
    """Receives the games of one event, each once. Round n is game n - 1.

    `PgnFile.append` adds to whatever the file holds. `PgnFile.derive` makes the file anew from the
    games of a journal, and goes on from there.
    """

    def __init__(self, path: Path, event: Event, stream: TextIO) -> None:
        self._path = path
        self._event = event
        self._fingerprint = event.fingerprint()
        self._stream = stream

    @classmethod
    def append(cls, path: Path, event: Event) -> PgnFile:
        """Open the file to add games to it. Raises PgnFileError."""
        try:
            return cls(path, event, path.open("a", encoding="utf-8"))
        except OSError as error:
            raise _unwritable(path, error) from None

    @classmethod
    def derive(cls, path: Path, event: Event, games: Mapping[int, GameRecord]) -> PgnFile:
        """Write these games, and no others, into the file in place of what it holds.

        The old file stays until the new one is complete. A file with games of another event is
        never replaced, nor any file if there are no games yet. Raises PgnFileError.
        """
        _check_is_ours(path, event, bool(games))
        try:
            with replacing(path) as stream:
                file = cls(path, event, stream)
                for number in sorted(games):
                    file.add(number, games[number])
        except OSError as error:
            raise _unwritable(path, error) from None
        return file

    def add(self, number: int, game: GameRecord) -> None:
        """Append a game. Raises PgnFileError."""
        try:
            write_pgn(
                self._stream,
                game,
                event=self._event.name,
                round_=number + 1,
                fingerprint=self._fingerprint,
            )
        except OSError as error:
            raise _unwritable(self._path, error) from None

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._stream.close()

    def __enter__(self) -> PgnFile:
        """Return the file itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()


def _check_is_ours(path: Path, event: Event, resumes: bool) -> None:
    """Raise PgnFileError if the file holds what must not be replaced."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable(path, error) from None
    prints = _FINGERPRINT.findall(text)
    games = len(_GAME.findall(text))
    ours = resumes and len(prints) == games and set(prints) <= {event.fingerprint()}
    if text.strip() and (games == 0 or not ours):
        raise PgnFileError(
            f"{path} holds other games; with a journal it would be written anew, so name another "
            "file"
        )


def _unwritable(path: Path, error: OSError) -> PgnFileError:
    return PgnFileError(f"can't write {path}: {error.strerror or error}")
