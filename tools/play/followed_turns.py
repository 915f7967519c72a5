"""The engine as it follows one side of a recorded game again.

The engine is told what the side did and saw, and nothing else. It searches at the side's turns, and
the recorded move is played whatever it chose. So its tree is kept from turn to turn as in a match,
but the turns are those of the record. Who follows knows the true position, and can ask what the
search knew of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event

import chess
import numpy as np
import numpy.typing as npt

from obscuro.engine.player import Player
from obscuro.engine.report import Choice, Coverage, GoLimits, SearchInfo
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.play.filed_games import FiledGame

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
