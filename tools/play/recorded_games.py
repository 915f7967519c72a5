"""What the tools share that replay recorded games: their command line, a player, and a judge."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import chess
import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS, ChessGame
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation.factory import make_evaluator
from obscuro.matches.journal import JournalError
from obscuro.rules.layout import WORDS
from obscuro.rules.position import legal_moves, move_to_uci
from obscuro.viewer.game_file import GameFileError
from tools.common import (
    INTERRUPTED,
    add_options,
    engine_options,
    given,
    say,
    set_options,
    tool_parser,
)
from tools.play.filed_games import BOTH, FiledGame, load_games
from tools.play.followed_turns import FollowedTurn, follow

__all__ = [
    "BOTH",
    "FiledGame",
    "FollowedTurn",
    "Judge",
    "Limits",
    "Row",
    "Side",
    "by_time",
    "collect",
    "follow",
    "load_games",
    "prepared",
    "read_arguments",
    "replay_parser",
    "replay_words",
]

Words = npt.NDArray[np.uint64]
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
        none = np.zeros(0, dtype=np.uint64)
        game = ChessGame(self._evaluator)
        game.set_turn(int(words[-1]) & 1, none if known is None else known.repeated())
        states = np.zeros((1, STATE_WORDS), dtype=np.uint64)
        states[0, :WORDS] = words
        states[0, DRAW_WORD] = 0 if known is None else known.quiet_plies
        values = game.expand(states, np.zeros((1, 2), dtype=np.uint64)).values
        names = [move_to_uci(move) for move in legal_moves(words)]
        return dict(zip(names, values.tolist(), strict=True))

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


def collect(rows: Iterable[Row]) -> tuple[list[Row], int]:
    """Return the rows that come before Ctrl-C, and the tool's exit code."""
    found: list[Row] = []
    try:
        for row in rows:
            found.append(row)
    except KeyboardInterrupt:
        return found, INTERRUPTED
    return found, 0


def by_time(milliseconds: int) -> GoLimits:
    """Return the limits of a search that begins now."""
    return GoLimits(time.monotonic(), movetime=milliseconds)
