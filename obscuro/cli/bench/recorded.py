"""The recorded games of the belief benchmark, and following one with a belief as the engine does.

The games are a text file in the package with one game a line.

A line has five fields, separated by ` | `:

    name | side | start | moves | updates

name: the game's source. side: the side whose belief the benchmark follows, `white` or `black`.
start: `startpos` or a FEN. moves: both sides' moves in UCI, to the last measured update. updates:
the belief's sizes at the measured plies, which all follow a move of the other side, each as
`ply:parents>positions/candidates`. Lines that begin with `#` are comments.
`tools/record/record_belief_games.py` writes the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import chess

from obscuro.belief import Belief
from obscuro.belief.buffers import Buffers
from obscuro.cli.bench.common import BenchmarkError
from obscuro.engine.options import MOST_POSITIONS
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen

GAMES_FILE = Path(__file__).with_name("belief_games.txt")

SMALLEST, LARGEST = 1_000, 2_000_000  # |P| before a measured update
MILLION = 900_000, 1_600_000  # positions after an update that leads "to a million"

# The limits of `quick_games`.
QUICK_PARENTS = 100_000
QUICK_CANDIDATES = 8_000_000  # in all of a game's updates
QUICK_GAMES = 6

SIDES = ("white", "black")
SEPARATOR = " | "
_UPDATE = re.compile(r"(\d+):(\d+)>(\d+)/(\d+)")


class RecordedUpdate(NamedTuple):
    """One update of the belief after a move of the other side, with the sizes it must have."""

    ply: int  # index of the other side's move among the game's moves
    parents: int  # |P| before
    positions: int  # |P| after
    candidates: int  # pseudo-legal moves of the other side in all the parents together

    @property
    def grows(self) -> bool:
        """Whether P has more positions after the update than before."""
        return self.positions > self.parents

    @property
    def leads_to_a_million(self) -> bool:
        """Whether P grows to about a million positions."""
        return self.grows and MILLION[0] <= self.positions <= MILLION[1]

    def __str__(self) -> str:
        """Format as in the file."""
        return f"{self.ply}:{self.parents}>{self.positions}/{self.candidates}"


class RecordedGame(NamedTuple):
    """One game up to the last measured update of one side's belief."""

    name: str
    side: int  # the side whose belief the benchmark follows; 0 = White
    fen: str  # the starting position
    moves: tuple[str, ...]  # UCI
    updates: tuple[RecordedUpdate, ...]  # the measured updates, in the order of play

    def __str__(self) -> str:
        """Format as in the file."""
        start = "startpos" if self.fen == chess.STARTING_FEN else self.fen
        fields = (self.name, SIDES[self.side], start, " ".join(self.moves))
        return SEPARATOR.join([*fields, " ".join(map(str, self.updates))])

    def with_updates(self, updates: Sequence[RecordedUpdate]) -> RecordedGame:
        """Return the game up to the last of `updates`, with only these to measure."""
        return self._replace(moves=self.moves[: updates[-1].ply + 1], updates=tuple(updates))


def parse_game(line: str) -> RecordedGame:
    """Parse one line of the file. Raises ValueError; its text names the fault."""
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
    """Read all games of a file. Raises OSError, or ValueError whose text names the fault."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [parse_game(line) for line in lines if line and not line.startswith("#")]


def write_games(path: Path, games: Iterable[RecordedGame], heading: Iterable[str] = ()) -> None:
    """Write games in the format of `read_games`, below comment lines with the heading."""
    lines = [f"# {text}".rstrip() for text in heading] + [str(game) for game in games]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def all_updates(games: Iterable[RecordedGame]) -> Iterator[RecordedUpdate]:
    """Yield every measured update."""
    for game in games:
        yield from game.updates


def quick_games(games: Sequence[RecordedGame]) -> list[RecordedGame]:
    """Select the part of the games that gives a rough answer within seconds.

    It has small updates from the beginnings of the games with the most such updates, and the update
    to a million that takes the fewest candidates to reach.
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


class Step(NamedTuple):
    """One ply of a recorded game in the view of the followed side."""

    ply: int  # counted from 0
    move: str | None  # our own move; None for a move of the other side
    observation: Observation  # our side's observation after it


def steps(game: RecordedGame) -> Iterator[Step]:
    """Yield the plies of a game. Raises BenchmarkError if the start or a move is illegal."""
    try:
        board = FogOfWarBoard(game.fen)
        account = Account(board, game.side == 0)
        for number, uci in enumerate(game.moves):
            board.push(board.parse_uci(uci))
            ply = account.append(board)
            yield Step(number, ply.move, account.observation)
    except ValueError as error:
        raise BenchmarkError(f"{game.name}: {error}") from None


def new_belief(
    game: RecordedGame,
    threads: int = 1,
    buffers: Buffers | None = None,
    *,
    weighted: bool = False,
) -> Belief:
    """Make the followed side's belief before the first ply."""
    start = from_fen(game.fen)
    return Belief(start, game.side, MOST_POSITIONS, threads, buffers=buffers, weighted=weighted)


def take_in(belief: Belief, step: Step) -> None:
    """Update a belief by a ply."""
    if step.move is not None:
        belief.after_own_move(step.move, step.observation)
    else:
        belief.after_opponent_move(step.observation)


def check(game: RecordedGame, update: RecordedUpdate, belief: Belief) -> None:
    """Raise BenchmarkError unless the belief is exact and has the recorded number of positions."""
    if len(belief) != update.positions or not belief.exact:
        raise BenchmarkError(
            f"{game.name}, ply {update.ply}: the belief has {len(belief):,} positions, "
            f"it must have {update.positions:,}"
        )
