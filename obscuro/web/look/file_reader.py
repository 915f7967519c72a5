"""Reads strangers' files of games in a process of its own, so that no player's move waits for it.

`python -m obscuro.web.look.file_reader` is that process. It reads the length of a text as a line, then
the text; it answers with the length of a JSON object as a line, then the object.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import BinaryIO

import msgspec

from obscuro.child_process import ChildProcess
from obscuro.viewer.game_file import GameFileError, games_of_bytes, kept_text
from obscuro.viewer.worst_moments import Moment, men_lost

NICE = 5
"""How much the process stands behind others."""


class ReadGame(msgspec.Struct):
    """A game of a file. pgn: as `kept_text` returns it. moments: what the fog did, by rules."""

    white: str
    black: str
    result: str
    plies: int
    pgn: str
    moments: list[Moment]


class ReadFile(msgspec.Struct):
    """What a text holds. faults: what is wrong with other games. error: why there is no game."""

    games: list[ReadGame] = []
    faults: list[str] = []
    error: str | None = None


class FileReader:
    """The process; it starts with the first text. One thread at a time uses it."""

    def __init__(self) -> None:
        self._process: ChildProcess | None = None

    def read(self, text: bytes) -> ReadFile:
        """Read a text. Raises OSError if the process fails; the next text gets another one."""
        process = self._process
        if process is None:
            arguments = ["-P", "-m", "obscuro.web.look.file_reader"]
            process = self._process = ChildProcess(sys.executable, arguments)
        try:
            with (
                os.fdopen(process.input, "wb", closefd=False) as to_process,
                os.fdopen(process.output, "rb", closefd=False) as from_process,
            ):
                _write(to_process, text)
                answer = _read(from_process)
            if answer is None:
                raise OSError("the process that reads files has ended")
            return msgspec.json.decode(answer, type=ReadFile)
        except (OSError, ValueError) as error:
            self.close()
            raise OSError(str(error)) from None

    def close(self) -> None:
        """End the process. A second call does nothing."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def read_games(data: bytes) -> ReadFile:
    """Return what a file holds, such that each game can be read again."""
    try:
        found = games_of_bytes(data)
    except GameFileError as error:
        return ReadFile(error=str(error))
    read = ReadFile(faults=found.faults)
    for game in found.games:
        headers = game.headers
        try:
            pgn = kept_text(game)
        except GameFileError as error:
            read.faults.append(f"{headers['White']} - {headers['Black']}: {error}")
            continue
        plies = sum(1 for _ in game.mainline())
        players = headers["White"], headers["Black"]
        read.games.append(ReadGame(*players, headers["Result"], plies, pgn, men_lost(game)))
    if not read.games:
        read.error = read.faults[0]
    return read


def _write(stream: BinaryIO, data: bytes) -> None:
    stream.write(b"%d\n" % len(data) + data)
    stream.flush()


def _read(stream: BinaryIO) -> bytes | None:
    """Return the next data; None at the end."""
    length = stream.readline()
    data = stream.read(int(length)) if length else b""
    return data if length and len(data) == int(length) else None


def main() -> None:
    """Read texts until the input ends."""
    with contextlib.suppress(OSError):
        os.nice(NICE)
    while (data := _read(sys.stdin.buffer)) is not None:
        read = read_games(data)
        _write(sys.stdout.buffer, msgspec.json.encode(read))


if __name__ == "__main__":
    main()
