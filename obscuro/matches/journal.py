"""The games of an event: the one store that rules, tables and files read, and its journal.

A journal is a file that knows every finished game, whatever happens to the program. It holds one
JSON object a line. The first line is the event. Each further line is a game that has ended
(`"kind": "game"`) or one that a fault of the machine broke off (`"kind": "fault"`). A line is on the
disk before a game is in the store. So whoever resumes an event counts each game once.

PGN files and results are made from the journal, never the other way round.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from obscuro import __version__
from obscuro.matches.event import ArenaError, Event
from obscuro.matches.game_record import GameRecord, RecordData, record_data
from obscuro.matches.game_workers import Played

_FORMAT = 1
_DAMAGE = (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""What reading raises for JSON that is not ours. The errors of msgspec are ValueErrors."""


class JournalError(ArenaError):
    """A journal can't be used. The text is one line for the user; the file is as it was."""


class EventStore:
    """The finished games of an event.

    games: by number, in the order in which they ended. faults: how many games were broken off for
    faults of the machine. torn: whether the journal had an incomplete last line, as after a crash.
    """

    def __init__(self, event: Event, games: Mapping[int, GameRecord] | None = None) -> None:
        self.event = event
        self.games: dict[int, GameRecord] = dict(games or {})
        self.faults = 0
        self.torn = False

    def add(self, played: Played) -> None:
        """Keep one game, or count one fault."""
        if played.record is None:
            self.faults += 1
        else:
            self.games[played.task.number] = played.record


class Journal(EventStore):
    """The store of an event that is being played, and its file. One process at a time has it.

    `Journal.open` makes one; close it, or use `with`.
    """

    def __init__(self, path: Path, stream: BinaryIO, event: Event) -> None:
        super().__init__(event)
        self._path = path
        self._stream = stream
        self._size = 0

    @classmethod
    def open(cls, path: Path, event: Event) -> Journal:
        """Open the journal of *event*, or begin it. Raises JournalError.

        A torn last line is dropped. All else that is wrong is an error and changes nothing: another
        event's journal, one that another process uses, a damaged line, a file of something else.
        """
        try:
            stream = path.open("a+b", buffering=0)
        except OSError as error:
            raise _unwritable(path, error) from None
        journal = cls(path, stream, event)
        try:
            journal._begin()
        except OSError as error:
            stream.close()
            raise _unwritable(path, error) from None
        except BaseException:
            stream.close()
            raise
        return journal

    def _begin(self) -> None:
        """Read the file, cut a torn line off, and write the event into a new journal."""
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise JournalError(
                f"{self._path} is in use by another process; wait for its end, or name another file"
            ) from None
        self._stream.seek(0)
        data = self._stream.read()
        held = _parse(self._path, data)
        if held is not None:
            if held.event != self.event:
                raise JournalError(
                    f"{self._path} belongs to {_difference(held.event, self.event)}; give the same "
                    "arguments to resume it, or name another file"
                )
            self.games, self.faults, self.torn = held.games, held.faults, held.torn
            self._size = _complete(data)
        self._stream.truncate(self._size)
        if self._size == 0:
            event = msgspec.Raw(msgspec.json.encode(self.event.to_json()))
            self._write(
                _EventLine(
                    format=_FORMAT,
                    obscuro=__version__,
                    fingerprint=self.event.fingerprint(),
                    event=event,
                )
            )

    def add(self, played: Played) -> None:
        """Write one game, or one fault, and wait until it is on the disk. Raises JournalError."""
        number, record = played.task.number, played.record
        try:
            if record is None:
                self._write(_FaultLine(game=number, fault=played.fault or ""))
            else:
                self._write(_GameLine(game=number, record=record_data(record)))
        except OSError as error:
            raise _unwritable(self._path, error) from None
        super().add(played)

    def _write(self, entry: _Line) -> None:
        """Append a line. Whatever error ends this, Ctrl-C too, nothing of the line is left."""
        line = msgspec.json.encode(entry) + b"\n"
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


# -- the file ---------------------------------------------------------------------------------


class _EventLine(msgspec.Struct, tag_field="kind", tag="event"):
    """The first line. Another format may have other fields."""

    format: object = None
    obscuro: str = ""
    fingerprint: str = ""
    event: msgspec.Raw = msgspec.Raw()


class _GameLine(msgspec.Struct, tag_field="kind", tag="game"):
    game: int
    record: RecordData


class _FaultLine(msgspec.Struct, tag_field="kind", tag="fault"):
    game: int = -1
    fault: str | None = None


_Line = _EventLine | _GameLine | _FaultLine


def read_journal(path: Path) -> EventStore:
    """Read a journal that may be in use. Raises JournalError."""
    try:
        store = _parse(path, path.read_bytes())
    except OSError as error:
        raise JournalError(f"can't read {path}: {error.strerror or error}") from None
    if store is None:
        raise JournalError(f"{path} is empty")
    return store


def _complete(data: bytes) -> int:
    """Return the size of the complete lines."""
    return data.rfind(b"\n") + 1


def _parse(path: Path, data: bytes) -> EventStore | None:
    """Read a journal's bytes; return None if it was never begun. Raises JournalError."""
    size = _complete(data)
    if size == 0:
        begin = b'{"kind":"event"'
        if not data.startswith(begin) and not begin.startswith(data):
            raise JournalError(f"{path} is not a journal of games")
        return None
    first, *lines = data[:size].splitlines()
    store = EventStore(_event(path, first))
    store.torn = size < len(data)
    decoder = msgspec.json.Decoder(_GameLine | _FaultLine)
    for number, text in enumerate(lines, 2):
        try:
            line = decoder.decode(text)
            if isinstance(line, _FaultLine):
                store.faults += 1
                continue
            if line.game in store.games or not 0 <= line.game < len(store.event.tasks):
                raise ValueError(line.game)
            store.games[line.game] = line.record.record()
        except _DAMAGE:
            raise _damaged(path, number) from None
    return store


def _event(path: Path, text: bytes) -> Event:
    try:
        line = msgspec.json.decode(text, type=_Line)
        if not isinstance(line, _EventLine):
            raise ValueError(line)
    except _DAMAGE:
        raise JournalError(f"{path} is not a journal of games") from None
    if line.format != _FORMAT:
        raise JournalError(
            f"{path} has the format {line.format} of another version of obscuro, not {_FORMAT}"
        )
    try:
        data: dict[str, Any] = msgspec.json.decode(line.event)
        event = Event.from_json(data)
        if line.fingerprint != event.fingerprint():
            raise ValueError(line.fingerprint)
    except _DAMAGE:
        raise _damaged(path, 1) from None
    return event


def _damaged(path: Path, number: int) -> JournalError:
    """Describe a damaged line. Without its line a game is played again."""
    remedy = "" if number == 1 else "; delete the line to play its game again"
    return JournalError(f"{path}, line {number} is damaged; nothing was changed{remedy}")


def _unwritable(path: Path, error: OSError) -> JournalError:
    return JournalError(f"can't write {path}: {error.strerror or error}")


def _difference(old: Event, new: Event) -> str:
    """Say in a few words what distinguishes the journal's event from the one to be played."""
    named = {
        "players": (old.entrants, new.entrants),
        "time": (old.control, new.control),
        "number of games": (len(old.tasks), len(new.tasks)),
        "sequential test": (old.sprt, new.sprt),
        "limit of moves": (old.max_plies, new.max_plies),
        "openings or seed": (old.tasks, new.tasks),
        "name": (old.name, new.name),
        "coverage": (old.coverage, new.coverage),
        "rule of stalemate": (old.stalemate, new.stalemate),
        "pawns to resign": (old.resign, new.resign),
    }
    others = [name for name, (before, after) in named.items() if before != after]
    return f"another event (different {others[0]})" if others else "another event"
