"""What the tools share that replay recorded games: their command line, a player, and a judge."""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any, TypeAlias

import chess
import chess.pgn
import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief
from obscuro.client.move_report import Report
from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS, ChessGame
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.options import OptionError, Options
from obscuro.engine.player import Player
from obscuro.engine.report import Choice, Coverage, GoLimits, SearchInfo
from obscuro.evaluation.factory import make_evaluator
from obscuro.matches.journal import JournalError, read_journal
from obscuro.matches.pgn import read_comment, time_headers
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.layout import WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, legal_moves, move_to_uci
from obscuro.search.game import Expansion
from obscuro.viewer.game_file import GameFileError, all_games
from tools.common import (
    INTERRUPTED,
    add_options,
    engine_options,
    given,
    say,
    set_options,
    tool_parser,
)

BOTH = "both"
_JOURNAL = ".jsonl"


@dataclass(frozen=True)
class FiledGame:
    """One game of a file.

    number: its place in the file, from 1. winner: None for a draw. regular: whether the rules ended
    it; False after a forfeit, or at the limit of moves. coverages: what the mover's search knew of
    the true position at each ply, and reports: what it reported; None: the file does not say.
    time: of both players, such as `200 ms`; empty if it is not the same, or not told.
    """

    number: int
    names: Mapping[chess.Color, str]
    start: FogOfWarBoard
    moves: tuple[chess.Move, ...]
    winner: chess.Color | None
    regular: bool
    coverages: tuple[Coverage | None, ...]
    reports: tuple[Report | None, ...]
    time: str

    def result(self, side: chess.Color) -> int:
        """The result for one side: 1, 0 or -1."""
        return 0 if self.winner is None else 1 if self.winner == side else -1

    def sides(self, wanted: str) -> list[chess.Color]:
        """The sides that `--side` names: a colour, `both`, or a player's name."""
        if wanted == BOTH:
            return [chess.WHITE, chess.BLACK]
        if wanted in chess.COLOR_NAMES:
            return [wanted == chess.COLOR_NAMES[chess.WHITE]]
        return [color for color in (chess.WHITE, chess.BLACK) if self.names[color] == wanted]

    @cached_property
    def key(self) -> int:
        """A hash of the start and the moves, 64 bits: the same in whatever file the game is."""
        text = " ".join([self.start.fen(), *(move.uci() for move in self.moves)])
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def load_games(path: Path) -> list[FiledGame]:
    """Read all games of a PGN file, or of a journal (`.jsonl`).

    Raises GameFileError or JournalError, with one line for the user.
    """
    if path.suffix != _JOURNAL:
        return [_from_pgn(game, path, number) for number, game in enumerate(all_games(path), 1)]
    records = sorted(read_journal(path).games.items())
    return [
        FiledGame(
            number + 1,
            {chess.WHITE: record.white, chess.BLACK: record.black},
            record.board.root(),
            tuple(record.board.move_stack),
            record.winner,
            record.board.is_game_over(),
            tuple(ply.turn.coverage for ply in record.plies),
            tuple(ply.turn.report for ply in record.plies),
            _time(time_headers(record)),
        )
        for number, record in records
    ]


def drawn_sides(
    sources: Sequence[str], games: int, seed: int
) -> Iterator[tuple[dict[str, Any], FiledGame, chess.Color]]:
    """Draw games of each file, and yield the sides that played against PLAYER, with what names them.

    sources: `FILE[:PLAYER]`; PLAYER is the beginning of a name, without it both sides come.
    """
    for source in sources:
        path, _, player = source.partition(":")
        filed = load_games(Path(path))
        drawn = np.random.default_rng(seed).permutation(len(filed))[:games]
        for number, index in enumerate(drawn):
            game = filed[index]
            for side in (chess.WHITE, chess.BLACK):
                if game.names[not side].startswith(player):
                    named = {"file": Path(path).name, "player": player or BOTH, "game": int(index)}
                    yield named | {"side": chess.COLOR_NAMES[side]}, game, side
            say(f"{source}: {number + 1} of {len(drawn)} games")


def opponent_moves(
    game: FiledGame, side: chess.Color, beliefs: Sequence[Belief]
) -> Iterator[tuple[FogOfWarBoard, Observation]]:
    """Follow a game as one side saw it; yield the board after each move of the other one.

    beliefs: of the side. They take in its own moves here, and the observation that comes with the
    board by the caller. Ends before the game does.
    """
    board = game.start.root()
    for move in game.moves:
        board.push(move)
        if board.is_game_over():
            return
        ply = last_ply(board, side)
        if ply.move is not None:
            for belief in beliefs:
                belief.after_own_move(ply.move, ply.observation)
        else:
            assert ply.observation is not None
            yield board, ply.observation


def _from_pgn(game: chess.pgn.Game, path: Path, number: int) -> FiledGame:
    headers, end = game.headers, game.end().board()
    winners = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None}
    if headers["Result"] not in winners:
        raise GameFileError(f"game {number} of {path} has no result")
    moves = tuple(node.move for node in game.mainline())
    notes = [read_comment(node.comment, not node.turn()) for node in game.mainline()]
    if headers.get("PlyCount", str(len(moves))) != str(len(moves)):
        raise GameFileError(
            f"game {number} of {path} is torn: it has {len(moves)} of {headers['PlyCount']} plies"
        )
    start = game.board()
    assert isinstance(start, FogOfWarBoard)
    return FiledGame(
        number,
        {chess.WHITE: headers["White"], chess.BLACK: headers["Black"]},
        start,
        moves,
        winners[headers["Result"]],
        end.is_game_over(),
        tuple(note.coverage for note in notes),
        tuple(note.report for note in notes),
        _time(headers),
    )


def _time(headers: Mapping[str, str]) -> str:
    return headers.get("MoveTime", headers.get("TimeControl", ""))


Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class FollowedTurn:
    """One turn of a side in a game, after the search.

    ply: plies of the game before it. board: the true position, before the recorded move. choice:
    what the search chose.
    """

    ply: int
    board: FogOfWarBoard
    move: chess.Move
    choice: Choice
    coverage: Coverage

    @property
    def words(self) -> Words:
        """The true position, uint64[8]."""
        return from_board(self.board)

    @property
    def info(self) -> SearchInfo:
        """The last report of the search."""
        assert self.choice.info is not None
        return self.choice.info


def follow(
    player: Player,
    game: FiledGame,
    side: chess.Color,
    limits: Callable[[int], GoLimits | None],
    *,
    until: int | None = None,
) -> Iterator[FollowedTurn]:
    """Yield turns of one side, each after the player's search in it; then play the recorded move.

    The belief is brought up to date before the clock of the search begins, so P does not depend on
    how busy the machine is.

    limits: makes the limits of the search that begins now, from the plies before it; None: there is
    no search at this turn, and it is not yielded. until: the last turn is the one after so many
    plies; None: the last one of the game.
    """
    board = game.start.copy()
    player.new_game(0 if side == chess.WHITE else 1, from_board(board))
    for ply, move in enumerate(game.moves):
        if until is not None and ply > until:
            return
        if board.turn == side:
            player.update()
            limit = limits(ply)
            if limit is not None:
                choice = player.search(limit, Event())
                coverage = player.coverage(from_board(board))
                yield FollowedTurn(ply, board.copy(), move, choice, coverage)
        board.push(move)
        if not board.is_game_over():
            last_ply(board, side).tell(player)


Row = dict[str, Any]
"""Figures by their names."""
Limits = Callable[[], GoLimits]
"""Makes the limits of a search that begins now."""

_STORE = ("--json", "--raw")


Side: TypeAlias = tuple[FiledGame, chess.Color]
"""One side of a game."""


class Judge:
    """Values true positions with the engine's evaluator, outside the search and its cache."""

    def __init__(self, options: Options, warn: Callable[[str], None]) -> None:
        self._evaluator = make_evaluator(
            options.text("Evaluator"),
            stockfish=options.text("Stockfish") or None,
            tau=options.number("tau"),
            on_warning=warn,
        )
        self._evaluator.start()

    def moves(self, words: Words, known: Knowledge | None = None) -> dict[str, float]:
        """Return the values of all children of a position uint64[8] by the moves in UCI.

        Values are in the view of the side to move, [-1, 1], as the search values leaves. known:
        what that side knows; with it, moves that may draw are worth at most 0, as in the search.
        """
        values = self.expand(words.reshape(1, WORDS), known).values
        names = [move_to_uci(move) for move in legal_moves(words)]
        return dict(zip(names, values.tolist(), strict=True))

    def expand(self, positions: Words, known: Knowledge | None = None) -> Expansion:
        """Return all children of positions uint64[n, 8] with the same side to move; see `moves`."""
        none = np.zeros(0, dtype=np.uint64)
        game = ChessGame(self._evaluator)
        game.set_turn(int(positions[0, -1]) & 1, none if known is None else known.repeated())
        states = np.zeros((len(positions), STATE_WORDS), dtype=np.uint64)
        states[:, :WORDS] = positions
        states[:, DRAW_WORD] = 0 if known is None else known.quiet_plies
        return game.expand(states, np.zeros((len(positions), 2), dtype=np.uint64))

    def value(self, words: Words, known: Knowledge | None = None) -> float:
        """Return the value of a position's best child; see `moves`."""
        return max(self.moves(words, known).values())

    def close(self) -> None:
        """End the evaluator's processes."""
        self._evaluator.close()


# -- the command line -------------------------------------------------------------------------


def replay_parser(module: str, doc: str | None, movetime: int) -> argparse.ArgumentParser:
    """Return a parser of a tool that replays games: the file, the time and the engine's options."""
    parser = tool_parser(module, doc, stores=False)
    parser.add_argument("file", type=Path, metavar="GAMES", help="a PGN file, or a journal .jsonl")
    parser.add_argument(
        "--movetime", type=int, default=movetime, metavar="MS", help="milliseconds a search"
    )
    parser.add_argument("--games", type=int, metavar="N", help="only the first N games of the file")
    parser.add_argument(
        *_STORE, dest="raw", type=Path, metavar="FILE", help="store all figures: .json, or .json.gz"
    )
    add_options(parser)
    return parser


def replay_words(words: Sequence[str] | None) -> list[str]:
    """Return the words of the command line with `--raw` for `--json`, as `publish` knows it."""
    return [_STORE[1] if word == _STORE[0] else word for word in given(words)]


def read_arguments(
    parser: argparse.ArgumentParser, words: Sequence[str], flag: str
) -> tuple[argparse.Namespace, list[Side], Options]:
    """Return what was said, the games with the sides that are followed, and the engine's options.

    flag: without dashes, the parser's argument that says whose sides; see `FiledGame.sides`. Leaves
    the program with the parser's error if a file, a side or an option is wrong.
    """
    told = parser.parse_args(words)
    options = engine_options()
    set_options(parser, options, told.option)
    if told.movetime <= 0:
        parser.error("--movetime: must be above 0")
    try:
        games = load_games(told.file)
    except (GameFileError, JournalError) as error:
        parser.error(str(error))
    whose = getattr(told, flag)
    sides = [(game, side) for game in games[: told.games] for side in game.sides(whose)]
    if not sides:
        parser.error(f"--{flag}: nobody called {whose!r} plays in {told.file}")
    return told, sides, options


@contextmanager
def prepared(options: Options) -> Iterator[tuple[Player, Judge]]:
    """A player and a judge with these options, closed at the end."""
    with closing(Player(options, say)) as player, closing(Judge(options, say)) as judge:
        player.prepare()
        yield player, judge


@contextmanager
def one_thread(seed: str, keys: str = "") -> Iterator[Player]:
    """A player that repeats itself, closed at the end. keys: of the option `Search`."""
    options = engine_options()
    for option, value in (("Threads", "1"), ("Seed", seed), ("Search", keys)):
        options.set(option, value)
    with closing(Player(options, say)) as player:
        player.prepare()
        yield player


def collect(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """Return the rows that come before Ctrl-C, and the tool's exit code."""
    found: list[Row] = []
    try:
        for row in rows:
            found.append(row)
    except KeyboardInterrupt:
        return found, INTERRUPTED
    return found, 0


def add_variants(parser: argparse.ArgumentParser) -> None:
    """Add --variant; see `read_variants`."""
    parser.add_argument(
        "--variant", action="append", default=[], metavar="NAME=KEYS", help="may be given again"
    )


def read_variants(parser: argparse.ArgumentParser, told: argparse.Namespace) -> dict[str, str]:
    """Return the keys of `Search` of each --variant, by its name. A bad key is an error."""
    variants = {
        name: keys for name, _, keys in (variant.partition("=") for variant in told.variant)
    }
    try:
        for keys in variants.values():
            engine_options().set("Search", keys)
    except OptionError as error:
        parser.error(f"--variant: {error}")
    return variants


def by_nodes(nodes: int) -> GoLimits:
    """Return the limits of a search of so many nodes: it does not depend on the machine's speed."""
    return GoLimits(time.monotonic(), nodes=nodes)


def by_time(milliseconds: int) -> GoLimits:
    """Return the limits of a search that begins now."""
    return GoLimits(time.monotonic(), movetime=milliseconds)
