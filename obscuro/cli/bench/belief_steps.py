"""Follow a recorded game with a belief, ply by ply, as the engine does in play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from obscuro.belief.belief import Belief
from obscuro.belief.buffers import Buffers
from obscuro.cli.bench.common import BenchmarkError
from obscuro.cli.bench.recorded import RecordedGame, RecordedUpdate
from obscuro.engine.options import MOST_POSITIONS
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen


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


def new_belief(game: RecordedGame, threads: int = 1, buffers: Buffers | None = None) -> Belief:
    """Make the followed side's belief before the first ply."""
    start = from_fen(game.fen)
    return Belief(start, game.side, MOST_POSITIONS, threads, buffers=buffers)


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
