"""Fixed mid-game positions, and searches from them on.

The engine plays both sides, each from its own observations. So the measured trees are those of real
turns: the beliefs have thousands of positions, and trees carry over from turn to turn. Only this
part of the benchmarks looks inside a player and its search.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Event
from typing import NamedTuple

import chess

from obscuro.cli.bench.common import BenchmarkError
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.rules.account import play_move
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from obscuro.search.search import Search

REPLY_NODES = 20_000  # nodes of the other side's searches, which are not measured
HASH_MIB = 1024


class StudyPosition(NamedTuple):
    """A position from which the side to move searches."""

    name: str
    moves: str  # UCI, from the starting position

    @property
    def side(self) -> int:
        """The side to move; 0 = White."""
        return len(self.moves.split()) % 2


POSITIONS = (
    StudyPosition("Queen's Gambit", "d2d4 d7d5 c2c4 e7e6 b1c3 g8f6 g1f3 c7c6 e2e3 b8d7 f1d3 f8d6"),
    StudyPosition("Sicilian", "e2e4 c7c5 g1f3 d7d6 d2d4 c5d4 f3d4 g8f6 b1c3 a7a6 f1e2 e7e5 d4b3"),
    StudyPosition(
        "self-play",
        "e2e3 d7d6 d1f3 c7c6 f1c4 g8f6 f3f4 b7b6 g1f3 g7g6 c4d3 c8d7 f4g4 d7g4 f3d4 f6e4 d3e4 "
        "e7e5 e4c6 b8c6 d4c6 d8c8 h2h3 c8c6 h3g4 f8g7",
    ),
)


class Follower:
    """Two players that have followed a position's moves. Our side is the side to move.

    threads, evaluator, seed, hash_mib: the settings of both players. With one thread and searches
    limited by nodes, every run gives the same result. Raises BenchmarkError if a move is illegal.
    """

    def __init__(
        self,
        position: StudyPosition,
        threads: int = 1,
        evaluator: str = "material",
        seed: int = 1,
        hash_mib: int = HASH_MIB,
    ) -> None:
        self.position = position
        self.board = FogOfWarBoard()
        options = {
            "Threads": str(threads),
            "Evaluator": evaluator,
            "Seed": str(seed),
            "Hash": str(hash_mib),
        }
        self._players = [new_player(options) for _ in chess.COLORS]
        for side, player in enumerate(self._players):
            player.prepare()
            player.new_game(side, from_board(self.board))
        try:
            for uci in position.moves.split():
                play_move(self.board, uci, self._players)
            for player in self._players:
                player.update()
        except ValueError as error:
            raise BenchmarkError(f"{position.name}: {error}") from None

    @property
    def player(self) -> Player:
        """The player of our side."""
        return self._players[self.position.side]

    @property
    def search(self) -> Search:
        """Our side's search with its tree."""
        return self.player.equipment.search

    @property
    def games(self) -> list[ChessGame]:
        """The games that expand the leaves of our search, one for each thread."""
        return self.player.equipment.games

    def think(self, nodes: int | None = None, movetime: int | None = None) -> SearchInfo:
        """Search for our side; return the last report. movetime: milliseconds.

        Raises BenchmarkError if there is no move to search.
        """
        info, self._move = self._choose(self.player, nodes, movetime)
        return info

    def play_on(self) -> bool:
        """Make the last `think`'s move and the other side's reply; return if the game goes on."""
        play_move(self.board, self._move, self._players)
        if self.board.outcome() is not None:
            return False
        other = self._players[1 - self.position.side]
        _, reply = self._choose(other, REPLY_NODES, None)
        play_move(self.board, reply, self._players)
        self.player.update()
        return self.board.outcome() is None

    @property
    def key(self) -> int:
        """Our side's current information key."""
        return self.player.knowledge.key

    @property
    def depth(self) -> int:
        """The number of plies since the root of our last search."""
        return self.player.knowledge.plies - self.player.searched_at

    def close(self) -> None:
        """Close both players."""
        for player in self._players:
            player.close()

    def _choose(
        self, player: Player, nodes: int | None, movetime: int | None
    ) -> tuple[SearchInfo, str]:
        limits = GoLimits(time.monotonic(), nodes=nodes, movetime=movetime)
        choice = player.search(limits, Event())
        if choice.move is None or choice.info is None:
            raise BenchmarkError(f"{self.position.name}: nothing to search, {self.board.epd()}")
        return choice.info, choice.move


def new_player(options: Mapping[str, str]) -> Player:
    """Make a player that is not ready yet. options: the engine's, by name."""
    chosen = Options()
    for name, value in options.items():
        chosen.set(name, value)
    return Player(chosen, lambda text: None)
