"""Following a recorded game with a belief, ply by ply, as the engine does in play."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from obscuro.belief.belief import Belief
from obscuro.belief.buffers import Buffers
from obscuro.bench.common import BenchmarkError
from obscuro.bench.recorded import RecordedGame, RecordedUpdate
from obscuro.board.position import from_fen
from obscuro.engine.options import MOST_POSITIONS
from obscuro.fog.account import Account
from obscuro.fog.board import FogOfWarBoard
from obscuro.fog.observation import Observation


class Step(NamedTuple):
    """One ply of a recorded game, as the side that is followed gets to know it."""

    ply: int  # counted from 0
    move: str | None  # our own move; None for one of the other side
    observation: Observation  # what our side saw after it


def steps(game: RecordedGame) -> Iterator[Step]:
    """Yield the plies of a game. Raises BenchmarkError for a start or a move that is not legal."""
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
    """The belief of the side that is followed, before the first ply."""
    start = from_fen(game.fen)
    return Belief(start, game.side, MOST_POSITIONS, threads, buffers=buffers)


def take_in(belief: Belief, step: Step) -> None:
    """Let a belief see a ply."""
    if step.move is not None:
        belief.after_own_move(step.move, step.observation)
    else:
        belief.after_opponent_move(step.observation)


def check(game: RecordedGame, update: RecordedUpdate, belief: Belief) -> None:
    """See whether an update led to as many positions as it must. Raises BenchmarkError if not."""
    if len(belief) != update.positions or not belief.exact:
        raise BenchmarkError(
            f"{game.name}, ply {update.ply}: the belief has {len(belief):,} positions, "
            f"it must have {update.positions:,}"
        )
