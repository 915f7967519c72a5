"""Tournament files: TOML that says who plays, how often, and with how much time.

`FILE_KEYS` and `PLAYER_KEYS` name all keys. Every mistake is a `TournamentFileError` with one line
that names the file, the line where it can be found, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from obscuro.matches.builtin_players import check_entrant
from obscuro.matches.event import Entrant, Event, Pairing, paired_games, round_robin_pairings
from obscuro.matches.openings import DEFAULT, NONE, openings_named
from obscuro.matches.rating import Anchor
from obscuro.matches.time_control import MILLISECONDS, TimeControl, time_text
from obscuro.rules.stalemate import LOSS, known_stalemate
from obscuro.suggestion import did_you_mean
from obscuro.toml_text import TomlError, read_toml

FILE_KEYS = {
    "name": "the tournament's name; default: the file's name",
    "format": "round-robin or gauntlet; default: round-robin",
    "challengers": "gauntlet: the names of the players that meet all others",
    "games": "games of each pairing, an even number; default: 10",
    "movetime": "milliseconds for each move; default: 1000",
    "tc": "a clock in place of movetime: seconds for the game, and added for each move",
    "nodes": "nodes of each search, in place of a time",
    "openings": "default, none, chess960, draft, or a file, relative to the tournament file; default: "
    "default",
    "seed": "seed of openings and random players; default: 1",
    "concurrency": "games played at the same time; default: 1",
    "max_moves": "the game is a draw after this number of moves; default: 500",
    "resign": "the game is won once both players see the same side this number of pawns ahead for three "
    "moves each; default: 0, never",
    "stalemate": "what a side without a move gets, loss or draw; default: loss",
    "coverage": "whether players tell where the true position was in their search; default: true",
    "anchor": "the name of the player whose rating is anchor_rating; default: the mean of all",
    "anchor_rating": "the rating of the anchor; default: 0",
    "player": "one table [[player]] for each player",
}
"""The keys of the file, with what they say."""
PLAYER_KEYS = {
    "name": "the player's name; default: what player says",
    "player": "a built-in player or the command line of a UCI engine",
    "movetime": "milliseconds for each move of this player",
    "tc": "a clock of this player",
    "nodes": "nodes of each search of this player",
    "movetimes": "a list of milliseconds: one player for each of these times",
    "options": "UCI options, such as { Threads = 1 }",
}
"""The keys of a table `[[player]]`, with what they say."""
MOST_GAMES = 1_000_000
"""A tournament of more games would take more memory than there is."""
FORMATS = ("round-robin", "gauntlet")
_HEADER = re.compile(r"\s*\[\[?\s*([\w-]+)")
_PLAYER_HEADER = re.compile(r"\s*\[\[\s*player\s*\]\]")
_KEY = re.compile(r"""\s*["']?([\w -]+?)["']?\s*[=.]""")


class TournamentFileError(ValueError):
    """A tournament file can't be used. The text is one line for the user."""


@dataclass(frozen=True, slots=True)
class TournamentFile:
    """What a tournament file asks for.

    event: the players and all games. anchor: what fixes the zero of the ratings. concurrency: how
    many games to play at the same time.
    """

    event: Event
    anchor: Anchor
    concurrency: int


def read_tournament(path: Path) -> TournamentFile:
    """Read a tournament file. Raises TournamentFileError."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TournamentFileError(f"can't read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise TournamentFileError(f"{path} is not a text file (UTF-8)") from None
    return parse_tournament(text, path)


def parse_tournament(text: str, path: Path) -> TournamentFile:
    """Read the text of a tournament file. path: where it came from. Raises TournamentFileError."""
    try:
        data = read_toml(text, path)
    except TomlError as error:
        raise TournamentFileError(str(error)) from None
    return _TournamentReader(data, text, path).read()


class _Table:
    """A table of the file, with functions that read its keys and refuse what is wrong."""

    def __init__(
        self,
        data: Mapping[str, Any],
        known: Mapping[str, str],
        what: str,
        lines: Mapping[str, int],
        path: Path,
    ) -> None:
        self._data = data
        self._what = what
        self._lines = lines
        self._path = path
        for key in data:
            if key not in known:
                hint = did_you_mean(key, known)
                self.refuse(key, f"unknown key {key!r}; {what} has: {', '.join(known)}{hint}")

    def refuse(self, key: str, message: str) -> NoReturn:
        """Raise TournamentFileError with the key's line, or that of the table."""
        line = self._lines.get(key, self._lines.get(""))
        place = f"{self._path}, line {line}" if line else str(self._path)
        raise TournamentFileError(f"{place}: {message}")

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def text(self, key: str, default: str | None = None) -> str:
        """Read a text that is not empty. Without a default the key must be there."""
        value = self._data.get(key, default)
        if value is None:
            self.refuse(key, f"{self._what} needs the key {key!r}")
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            self.refuse(key, f"{key} must be a text in quotes, not {_shown(value)}")
        return value.strip()

    def whole(self, key: str, default: int, least: int) -> int:
        """Read a whole number that is not below *least*."""
        value = self._data.get(key, default)
        if not _is_whole(value) or value < least:
            self.refuse(key, f"{key} must be a whole number from {least} on, not {_shown(value)}")
        return int(value)

    def number(self, key: str, default: float) -> float:
        """Read a number."""
        value = self._data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value - value != 0:
            self.refuse(key, f"{key} must be a number, not {_shown(value)}")
        return float(value)

    def truth(self, key: str, default: bool) -> bool:
        """Read `true` or `false`."""
        value = self._data.get(key, default)
        if not isinstance(value, bool):
            self.refuse(key, f"{key} must be true or false, not {_shown(value)}")
        return value

    def items(self, key: str) -> list[Any]:
        """Read a list that is not empty."""
        value = self._data[key]
        if not isinstance(value, list) or not value:
            self.refuse(key, f"{key} must be a list with something in it, not {_shown(value)}")
        return value

    def control(self) -> TimeControl | None:
        """Read `movetime`, `tc` or `nodes`; None if none is there."""
        given = [key for key in ("movetime", "tc", "nodes") if key in self]
        if len(given) > 1:
            self.refuse(given[1], f"{given[0]} and {given[1]} exclude each other; keep one of them")
        if "movetime" in self:
            return TimeControl(self.whole("movetime", 0, 1))
        if "nodes" in self:
            return TimeControl(None, nodes=self.whole("nodes", 0, 1))
        if "tc" in self:
            try:
                return TimeControl.parse(self.text("tc"))
            except ValueError as error:
                self.refuse("tc", f"tc: {error}")
        return None

    def options(self) -> dict[str, str]:
        """Read the UCI options as texts."""
        value = self._data.get("options", {})
        if not isinstance(value, dict):
            self.refuse("options", f"options must be like {{ Threads = 1 }}, not {_shown(value)}")
        options = {}
        for name, setting in value.items():
            if not isinstance(setting, str | int | float):
                self.refuse(
                    name, f"option {name} must be a text or a number, not {_shown(setting)}"
                )
            text = str(setting).lower() if isinstance(setting, bool) else str(setting)
            if not (name + text).isprintable():
                self.refuse(name, f"option {name!r} must be one line of printable characters")
            options[name] = text
        return options


class _TournamentReader:
    """Reads one tournament file."""

    def __init__(self, data: Mapping[str, Any], text: str, path: Path) -> None:
        self._path = path
        file_lines, self._player_lines = _key_lines(text)
        self._file = _Table(data, FILE_KEYS, "a tournament", file_lines, path)
        self._members: dict[str, list[int]] = {}  # a player's name to its entrants
        self._entrants: list[Entrant] = []
        self._tables = data.get("player", [])

    def read(self) -> TournamentFile:
        """Read everything. Raises TournamentFileError."""
        file = self._file
        self._read_players()
        if "games" in file and file.whole("games", 0, 1) % 2:
            file.refuse(
                "games", "games must be even: each opening is played once with either colour"
            )
        seed = file.whole("seed", 1, 0)
        rounds, pairings = file.whole("games", 10, 2) // 2, self._pairings()
        if 2 * rounds * len(pairings) > MOST_GAMES:
            file.refuse(
                "games", f"that makes {2 * rounds * len(pairings)} games; at most {MOST_GAMES} go"
            )
        event = Event(
            name=file.text("name", self._path.stem),
            entrants=tuple(self._entrants),
            tasks=paired_games(pairings, rounds, self._openings(), seed),
            control=file.control() or TimeControl(MILLISECONDS),
            max_plies=2 * file.whole("max_moves", 500, 1),
            resign=file.whole("resign", 0, 0),
            coverage=file.truth("coverage", True),
            stalemate=self._stalemate(),
        )
        return TournamentFile(event, self._anchor(), file.whole("concurrency", 1, 1))

    def _read_players(self) -> None:
        tables = self._tables
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            self._file.refuse("player", "write each player as a table of its own: [[player]]")
        for number, data in enumerate(tables):
            lines = self._player_lines[number] if number < len(self._player_lines) else {}
            table = _Table(data, PLAYER_KEYS, "a player", lines, self._path)
            self._read_player(table)
        if len(self._entrants) < 2:
            self._file.refuse("player", "a tournament needs two players or more: [[player]]")

    def _read_player(self, table: _Table) -> None:
        player = table.text("player")
        name = table.text("name", player)
        control, options = table.control(), table.options()
        if "movetimes" in table:
            if control is not None:
                table.refuse(
                    "movetimes", "movetimes excludes movetime, tc and nodes; keep one of them"
                )
            entrants = [
                Entrant(
                    f"{name} {time_text(time / MILLISECONDS)}", player, options, TimeControl(time)
                )
                for time in self._movetimes(table)
            ]
        else:
            entrants = [Entrant(name, player, options, control)]
        try:
            check_entrant(entrants[0])
        except ValueError as error:
            table.refuse("options" if "options" in table else "player", str(error))
        taken = {entrant.name for entrant in self._entrants}
        for entrant in entrants:
            if entrant.name in taken:
                table.refuse("name", f"two players are called {entrant.name!r}; give each a name")
        first = len(self._entrants)
        self._members[name] = list(range(first, first + len(entrants)))
        self._entrants += entrants

    @staticmethod
    def _movetimes(table: _Table) -> list[int]:
        times = table.items("movetimes")
        for time in times:
            if not _is_whole(time) or time < 1:
                table.refuse(
                    "movetimes", f"movetimes must be whole numbers from 1 on, not {_shown(time)}"
                )
        if len(set(times)) < len(times):
            table.refuse("movetimes", "movetimes has a time twice")
        return [int(time) for time in times]

    def _pairings(self) -> list[Pairing]:
        file, count = self._file, len(self._entrants)
        form = file.text("format", FORMATS[0])
        if form not in FORMATS:
            file.refuse("format", f"format must be {' or '.join(FORMATS)}, not {form!r}")
        if form == "round-robin":
            if "challengers" in file:
                file.refuse("challengers", "challengers goes with format = 'gauntlet' only")
            return round_robin_pairings(count)
        if "challengers" not in file:
            file.refuse("format", "a gauntlet needs challengers = [...], names of players")
        found = [index for name in file.items("challengers") for index in self._named(name)]
        others = [index for index in range(count) if index not in found]
        if not others:
            file.refuse("challengers", "all players are challengers, so there is no player to meet")
        return [(challenger, other) for other in others for challenger in dict.fromkeys(found)]

    def _named(self, name: object) -> Sequence[int]:
        """Return the entrants of a player, or the one of this name."""
        for index, entrant in enumerate(self._entrants):
            if entrant.name == name:
                return [index]
        if not isinstance(name, str) or name not in self._members:
            self._file.refuse("challengers", f"challengers: no player is called {_shown(name)}")
        return self._members[name]

    def _anchor(self) -> Anchor:
        file = self._file
        rating = file.number("anchor_rating", 0.0)
        if "anchor" not in file:
            return Anchor(None, rating)
        name = file.text("anchor")
        names = [entrant.name for entrant in self._entrants]
        if name not in names:
            file.refuse("anchor", f"anchor: no player is called {name!r}, but: {', '.join(names)}")
        return Anchor(names.index(name), rating)

    def _stalemate(self) -> str:
        try:
            return known_stalemate(self._file.text("stalemate", LOSS))
        except ValueError as error:
            self._file.refuse("stalemate", str(error))

    def _openings(self) -> list[Any]:
        text = self._file.text("openings", DEFAULT)
        if text not in (DEFAULT, NONE):
            text = str(self._path.parent / text)
        try:
            return list(openings_named(text))
        except ValueError as error:
            self._file.refuse("openings", f"openings: {error}")


def _key_lines(text: str) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Find the lines on which keys stand: of the file, and of each player.

    The key "" stands for a player's header. A text of several lines may look like keys; then a
    message names a wrong line, and that is all.
    """
    file: dict[str, int] = {}
    players: list[dict[str, int]] = []
    current = file
    for number, line in enumerate(text.splitlines(), 1):
        if _PLAYER_HEADER.match(line):
            current = {"": number}
            players.append(current)
            file.setdefault("player", number)
        elif (header := _HEADER.match(line)) is not None:
            current.setdefault(line.strip(" []").rpartition(".")[2], number)
            file.setdefault(header[1], number)
        elif (key := _KEY.match(line)) is not None:
            current.setdefault(key[1], number)
    return file, players


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """Return a value for an error message, cut to one short line."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
