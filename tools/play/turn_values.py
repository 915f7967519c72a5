"""The turns of recorded games as arrays: what the evaluator says, who sees what, how it ended.

A turn is a true position before a move. It has two values, both in the view of the side to move. Its
*leaf value* is what the search gives to a leaf there: the value of the played move among the children
of the position before. With `nnue` that is the value after all captures that pay. Its *best value* is
that of its best child, which is what the search gives to a new root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.evaluation.evaluator import Evaluator
from obscuro.evaluation.scale import EVALUATION_LIMIT, TAU
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, move_to_uci
from tools.play.curve_fit import Floats, Mask, Numbers
from tools.play.recorded_games import FiledGame

Words = npt.NDArray[np.uint64]

UNKNOWN = -1
"""|P|, where the file does not say it."""
_BATCH = 1024  # positions of one call of the evaluator


class Turns(NamedTuple):
    """Turns, the games one after the other. All is in the view of the side to move.

    Counts are of pieces and pawns, if nothing else is said. Attackers are those of the own king,
    before the move, and after it.
    """

    game: Numbers  # [turns] index of the game
    ply: Numbers  # [turns] plies of the game before it
    result: Numbers  # [turns] of the game: 1, 0 or -1
    pieces: Numbers  # [turns] knights, bishops, rooks and queens of both sides
    queens: Numbers  # [turns] of both sides
    hidden: Numbers  # [turns] the enemy's, that the side to move does not see
    covered: Numbers  # [turns] its own, that the enemy does not see
    seen_attackers: Numbers  # [turns] that it sees
    unseen_attackers: Numbers  # [turns] that it does not see
    seen_after: Numbers  # [turns] attackers after its move that it sees then
    unseen_after: Numbers  # [turns] attackers after its move that it does not see then
    attacked: Numbers  # [turns] own knights, bishops, rooks and queens that are attacked
    unseen_minor: Numbers  # [turns] own knights and bishops with an attacker that it does not see
    unseen_major: Numbers  # [turns] own rooks and queens with an attacker that it does not see
    takes_king: Numbers  # [turns] 1: it can capture the king at once
    loses_king: Numbers  # [turns] 1: the enemy captures its king at the next ply
    wins_king: Numbers  # [turns] 1: it captures the king with this move
    belief: Numbers  # [turns] |P|, or UNKNOWN
    leaf: Floats  # [turns] leaf value, [-1, 1]; NaN at the first turn of a game
    best: Floats  # [turns] value of the best child, [-1, 1]
    played: Floats  # [turns] value of the played move's child, [-1, 1]

    def where(self, chosen: Mask | Numbers) -> Turns:
        """Return the turns of a mask or of indices."""
        return Turns._make(column[chosen] for column in self)


_COUNTED = Turns._fields[:-3]


def pawns_of(values: Floats) -> Floats:
    """Return the pawns of values in [-1, 1] that were made of pawns with τ = 6.

    Mates and captured kings count as the largest evaluation, 29.7 pawns.
    """
    return np.asarray(TAU * np.arctanh(np.clip(values, -EVALUATION_LIMIT, EVALUATION_LIMIT)))


def is_decided(values: Floats) -> Mask:
    """Whether values are those of mates and captured kings, and not made of pawns."""
    return np.asarray(np.abs(values) > EVALUATION_LIMIT)


def read_turns(
    games: Sequence[FiledGame], evaluator: Evaluator, tell: Callable[[int], None]
) -> Turns:
    """Return the turns of all games that the rules ended.

    evaluator: with τ = 6. tell: is told how many games are done.
    """
    parts: list[Turns] = []
    waiting: list[_Turn] = []
    for number, game in enumerate(games):
        if game.regular:
            waiting += _turns_of(number, game)
        if len(waiting) >= _BATCH or number + 1 == len(games):
            parts.append(_valued(evaluator, waiting))
            waiting = []
        tell(number + 1)
    return Turns._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


class _Turn(NamedTuple):
    words: Words  # uint64[8]
    move: str
    counted: tuple[int, ...]  # see _COUNTED


def _turns_of(number: int, game: FiledGame) -> Iterator[_Turn]:
    """Yield the turns of a game with all that needs no evaluator."""
    board = game.start.copy()
    for ply, move in enumerate(game.moves):
        side = board.turn
        own, enemy = board.occupied_co[side], board.occupied_co[not side]
        minor, major = board.knights | board.bishops, board.rooks | board.queens
        sight = board.vision_mask(side)
        in_reach = (
            _attacks(board, side, own & minor, sight),
            _attacks(board, side, own & major, sight),
        )
        before = (
            *((minor | major).bit_count(), board.queens.bit_count(), (enemy & ~sight).bit_count()),
            (own & ~board.vision_mask(not side)).bit_count(),
            *_king_attackers(board, side),
        )
        attacked = in_reach[0][0] + in_reach[1][0], in_reach[0][1], in_reach[1][1]
        takes = _king_attackers(board, not side) != (0, 0)
        words = from_board(board)
        board.push(move)
        reply = game.moves[ply + 1] if ply + 1 < len(game.moves) else None
        belief = game.beliefs[ply]
        counted = (
            *(number, ply, game.result(side), *before, *_king_attackers(board, side), *attacked),
            *(takes, reply is not None and reply.to_square == board.king(side)),
            *(board.king(not side) is None, UNKNOWN if belief is None else belief),
        )
        yield _Turn(words, move.uci(), counted)


def _king_attackers(board: FogOfWarBoard, side: chess.Color) -> tuple[int, int]:
    """Count the attackers of a side's king that it sees, and those that it does not see."""
    king = board.king(side)
    attackers = 0 if king is None else board.attackers_mask(not side, king)
    if not attackers:
        return 0, 0
    seen = attackers & board.vision_mask(side)
    return seen.bit_count(), (attackers ^ seen).bit_count()


def _attacks(
    board: FogOfWarBoard, side: chess.Color, pieces: chess.Bitboard, sight: chess.Bitboard
) -> tuple[int, int]:
    """Count the pieces of a side that are attacked, and those with an attacker out of its sight."""
    attackers = [board.attackers_mask(not side, square) for square in chess.scan_forward(pieces)]
    return sum(map(bool, attackers)), sum(bool(mask & ~sight) for mask in attackers)


def _valued(evaluator: Evaluator, turns: Sequence[_Turn]) -> Turns:
    """Return turns of whole games with their values."""
    counted = np.array([turn.counted for turn in turns], dtype=np.int64)
    found: dict[str, Any] = dict(zip(_COUNTED, counted.reshape(-1, len(_COUNTED)).T, strict=True))
    best, played, leaf = np.empty((3, len(turns)))
    words = np.array([turn.words for turn in turns], dtype=np.uint64).reshape(-1, 8)
    children = evaluator.evaluate(words)
    for index, turn in enumerate(turns):
        of_it = slice(*children.offsets[index : index + 2].tolist())
        names = [move_to_uci(move) for move in children.moves[of_it].tolist()]
        best[index] = children.values[of_it].max()
        played[index] = children.values[of_it][names.index(turn.move)]
    leaf[1:] = -played[:-1]
    leaf[found["ply"] == 0] = np.nan
    return Turns(**found, leaf=leaf, best=best, played=played)
