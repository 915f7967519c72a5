"""The journal of an event: a file that knows every finished game, whatever happens to the program.

It holds one JSON object a line. The first line is the event. Each further line is a game that has
ended (`"kind": "game"`) or one that a fault of the machine broke off (`"kind": "fault"`). A line is
on the disk before anybody hears of the game. So whoever resumes an event counts each game once.

PGN files and results are made from the journal, never the other way round.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from obscuro import __version__
from obscuro.matches.arena_error import ArenaError
from obscuro.matches.event import Event
from obscuro.matches.game_record import GameRecord
from obscuro.matches.game_workers import Played
from obscuro.matches.record_json import record_from_json, record_to_json

_FORMAT = 1
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""What reading raises for JSON that is not ours. JSONDecodeError is a ValueError."""


class JournalError(ArenaError):
    """A journal can't be used. The text is one line for the user; the file is as it was."""


class JournalContent(NamedTuple):
    """What a journal holds.

    games: the finished games by number, in the order in which they ended. faults: how many games
    were broken off for faults of the machine. size: of the complete lines, in bytes. torn: whether
    an incomplete line follows, as after a crash.
    """

    event: Event
    games: dict[int, GameRecord]
    faults: int
    size: int
    torn: bool


def read_journal(path: Path) -> JournalContent:
    """Read a journal that may be in use. Raises JournalError."""
    try:
        content = _parse(path, path.read_bytes())
    except OSError as error:
        raise JournalError(f"can't read {path}: {error.strerror or error}") from None
    if content is None:
        raise JournalError(f"{path} is empty")
    return content


class Journal:
    """The journal of an event that is being played. One process at a time has it.

    games: the finished games by number, in the order in which they ended. faults: how many games
    the machine broke off. torn: whether `open` dropped an incomplete last line. `Journal.open`
    makes one; close it, or use `with`.
    """

    def __init__(self, path: Path, stream: BinaryIO, content: JournalContent | None) -> None:
        self._path = path
        self._stream = stream
        self._size = 0 if content is None else content.size
        self.games: dict[int, GameRecord] = {} if content is None else content.games
        self.faults = 0 if content is None else content.faults
        self.torn = content is not None and content.torn

    @classmethod
    def open(cls, path: Path, event: Event) -> Journal:
        """Open the journal of *event*, or begin it. Raises JournalError.

        A torn last line is dropped. All else that is wrong is an error and changes nothing: another
        event's journal, one that another process uses, a damaged line, a file of something else.
        """
        try:
            stream = path.open("a+b", buffering=0)
        except OSError as error:
            raise JournalError(f"can't write {path}: {error.strerror or error}") from None
        try:
            journal = cls(path, stream, cls._content(path, stream, event))
            journal._begin(event)
        except OSError as error:
            stream.close()
            raise JournalError(f"can't write {path}: {error.strerror or error}") from None
        except BaseException:
            stream.close()
            raise
        return journal

    @staticmethod
    def _content(path: Path, stream: BinaryIO, event: Event) -> JournalContent | None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError(
                f"{path} is in use by another process; wait for its end, or name another file"
            ) from None
        stream.seek(0)
        content = _parse(path, stream.read())
        if content is not None and content.event != event:
            raise JournalError(
                f"{path} belongs to {_difference(content.event, event)}; give the same arguments "
                "to resume it, or name another file"
            )
        return content

    def _begin(self, event: Event) -> None:
        """Cut a torn line off, and write the event into a new journal."""
        self._stream.truncate(self._size)
        if self._size == 0:
            self._write(
                {
                    "kind": "event",
                    "format": _FORMAT,
                    "obscuro": __version__,
                    "fingerprint": event.fingerprint(),
                    "event": event.to_json(),
                }
            )

    def add(self, played: Played) -> None:
        """Write one game, or one fault, and wait until it is on the disk. Raises JournalError."""
        number, record = played.task.number, played.record
        try:
            if record is None:
                self._write({"kind": "fault", "game": number, "fault": played.fault})
                self.faults += 1
            else:
                self._write({"kind": "game", "game": number, "record": record_to_json(record)})
                self.games[number] = record
        except OSError as error:
            raise JournalError(f"can't write {self._path}: {error.strerror or error}") from None

    def _write(self, data: Mapping[str, Any]) -> None:
        """Append a line. Whatever error ends this, Ctrl-C too, nothing of the line is left."""
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) :]
            os.fsync(self._stream.fileno())
        except BaseException:
            self._stream.truncate(self._size)
            raise
        self._size += len(line)

    def close(self) -> None:
        """Close the file and let others use it. A second call does nothing."""
        self._stream.close()

    def __enter__(self) -> Journal:
        """Return the journal itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the journal."""
        self.close()


def _parse(path: Path, data: bytes) -> JournalContent | None:
    """Read a journal's bytes; return None if it was never begun. Raises JournalError."""
    size = data.rfind(b"\n") + 1
    if size == 0:
        if (
            data
            and not data.startswith(b'{"kind":"event"')
            and data != b'{"kind":"event"'[: len(data)]
        ):
            raise JournalError(f"{path} is not a journal of games")
        return None
    lines = _lines(path, data[:size])
    event = _event(path, next(lines)[1])
    games: dict[int, GameRecord] = {}
    faults = 0
    for number, line in lines:
        try:
            if line["kind"] == "fault":
                faults += 1
                continue
            if line["kind"] != "game":
                raise ValueError(line["kind"])
            game = int(line["game"])
            if game in games or not 0 <= game < len(event.tasks):
                raise ValueError(game)
            games[game] = record_from_json(line["record"])
        except _DAMAGE:
            raise _damaged(path, number) from None
    return JournalContent(event, games, faults, size, size < len(data))


def _lines(path: Path, data: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the complete lines with their numbers, from 1."""
    for number, line in enumerate(data.splitlines(), 1):
        try:
            yield number, dict(json.loads(line))
        except _DAMAGE:
            if number == 1:
                raise JournalError(f"{path} is not a journal of games") from None
            raise _damaged(path, number) from None


def _event(path: Path, line: Mapping[str, Any]) -> Event:
    if line.get("kind") != "event":
        raise JournalError(f"{path} is not a journal of games")
    if line.get("format") != _FORMAT:
        raise JournalError(
            f"{path} has the format {line.get('format')} of another version of obscuro, "
            f"not {_FORMAT}"
        )
    try:
        event = Event.from_json(line["event"])
        if line["fingerprint"] != event.fingerprint():
            raise ValueError(line["fingerprint"])
    except _DAMAGE:
        raise _damaged(path, 1) from None
    return event


def _damaged(path: Path, number: int) -> JournalError:
    """Describe a damaged line. Without its line a game is played again."""
    remedy = "" if number == 1 else "; delete the line to play its game again"
    return JournalError(f"{path}, line {number} is damaged; nothing was changed{remedy}")


def _difference(old: Event, new: Event) -> str:
    """Say in a few words what distinguishes the journal's event from the one to be played."""
    named = {
        "players": ([e.to_json() for e in old.entrants], [e.to_json() for e in new.entrants]),
        "time": (old.control, new.control),
        "number of games": (len(old.tasks), len(new.tasks)),
        "sequential test": (old.sprt, new.sprt),
        "limit of moves": (old.max_plies, new.max_plies),
        "openings or seed": (old.tasks, new.tasks),
        "name": (old.name, new.name),
        "coverage": (old.coverage, new.coverage),
        "rule of stalemate": (old.stalemate, new.stalemate),
    }
    others = [name for name, (before, after) in named.items() if before != after]
    return f"another event (different {others[0]})" if others else "another event"
