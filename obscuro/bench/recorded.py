"""The recorded games that the belief is measured on: a text file in the package, a game a line.

A line has five fields, separated by ` | `:

    name | side | start | moves | updates

name: where the game is from. side: whose belief is followed, `white` or `black`. start: `startpos`
or a FEN. moves: both sides' moves in UCI, to the last update that is measured. updates: what the
belief does at the plies that are measured, all of them after a move of the other side, each as
`ply:parents>positions/candidates`. Lines that begin with `#` are comments. The file is written by
`tools/record/record_belief_games.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import chess

GAMES_FILE = Path(__file__).with_name("belief_games.txt")

SMALLEST, LARGEST = 1_000, 2_000_000  # |P| before an update that is measured
MILLION = 900_000, 1_600_000  # positions after an update that leads "to a million"

# What `quick_games` takes.
QUICK_PARENTS = 100_000
QUICK_CANDIDATES = 8_000_000  # in all of a game's updates
QUICK_GAMES = 6

SIDES = ("white", "black")
SEPARATOR = " | "
_UPDATE = re.compile(r"(\d+):(\d+)>(\d+)/(\d+)")


class RecordedUpdate(NamedTuple):
    """One update of the belief after a move of the other side, and what must come of it."""

    ply: int  # index of the other side's move among the game's moves
    parents: int  # |P| before
    positions: int  # |P| after
    candidates: int  # pseudo-legal moves of the other side in all the parents together

    @property
    def grows(self) -> bool:
        """Whether there are more positions after the update than before."""
        return self.positions > self.parents

    @property
    def leads_to_a_million(self) -> bool:
        """Whether it grows to about a million positions."""
        return self.grows and MILLION[0] <= self.positions <= MILLION[1]

    def __str__(self) -> str:
        """As in the file."""
        return f"{self.ply}:{self.parents}>{self.positions}/{self.candidates}"


class RecordedGame(NamedTuple):
    """One game, as far as a side's belief is followed through it."""

    name: str
    side: int  # whose belief is followed; 0 = White
    fen: str  # where it starts
    moves: tuple[str, ...]  # UCI
    updates: tuple[RecordedUpdate, ...]  # those that are measured, in the order of play

    def __str__(self) -> str:
        """As in the file."""
        start = "startpos" if self.fen == chess.STARTING_FEN else self.fen
        fields = (self.name, SIDES[self.side], start, " ".join(self.moves))
        return SEPARATOR.join([*fields, " ".join(map(str, self.updates))])

    def with_updates(self, updates: Sequence[RecordedUpdate]) -> RecordedGame:
        """The game up to the last of these updates, which are the ones left to measure."""
        return self._replace(moves=self.moves[: updates[-1].ply + 1], updates=tuple(updates))


def parse_game(line: str) -> RecordedGame:
    """Read one line of the file. Raises ValueError, with what is wrong."""
    fields = [field.strip() for field in line.split(SEPARATOR)]
    if len(fields) != len(RecordedGame._fields):
        raise ValueError(f"a recorded game has 5 fields, not {len(fields)}: {line[:60]!r}")
    name, side, start, moves, updates = fields
    if side not in SIDES:
        raise ValueError(f"{name}: the side is white or black, not {side!r}")
    return RecordedGame(
        name,
        SIDES.index(side),
        chess.STARTING_FEN if start == "startpos" else start,
        tuple(moves.split()),
        tuple(_parse_update(name, text) for text in updates.split()),
    )


def _parse_update(name: str, text: str) -> RecordedUpdate:
    match = _UPDATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{name}: {text!r} is not ply:parents>positions/candidates")
    return RecordedUpdate(*map(int, match.groups()))


def read_games(path: Path = GAMES_FILE) -> list[RecordedGame]:
    """Read all games of a file. Raises OSError, and ValueError with what is wrong."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [parse_game(line) for line in lines if line and not line.startswith("#")]


def write_games(path: Path, games: Iterable[RecordedGame], heading: Iterable[str] = ()) -> None:
    """Write games as `read_games` reads them, below the lines of a comment."""
    lines = [f"# {text}".rstrip() for text in heading] + [str(game) for game in games]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def all_updates(games: Iterable[RecordedGame]) -> Iterator[RecordedUpdate]:
    """Yield every update that is measured."""
    for game in games:
        yield from game.updates


def quick_games(games: Sequence[RecordedGame]) -> list[RecordedGame]:
    """The part of the games that gives a rough answer within seconds.

    Small updates from the beginnings of those games that have most of them, and the update to a
    million with the fewest candidates on the way.
    """
    beginnings = []
    for game in games:
        totals = accumulate(update.candidates for update in game.updates)
        updates = [
            update
            for update, total in zip(game.updates, totals, strict=True)
            if total <= QUICK_CANDIDATES and update.parents <= QUICK_PARENTS
        ]
        if updates:
            beginnings.append(game.with_updates(updates))
    beginnings.sort(key=lambda game: -len(game.updates))
    ways = [
        (sum(before.candidates for before in game.updates[: number + 1]), game, update)
        for game in games
        for number, update in enumerate(game.updates)
        if update.leads_to_a_million
    ]
    to_a_million = [game.with_updates([update]) for _, game, update in sorted(ways)[:1]]
    return beginnings[:QUICK_GAMES] + to_a_million
