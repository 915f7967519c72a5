"""Starting positions that one side wins by chess theory, drawn by lot.

The kinds are `KQK`, `KRK`, `KPK` and `two_up`. The strong side has either colour in turn, and either
side is to move by lot. No position has a king that can be captured or a side without a safe move. In
the bare endings the weak side can't take the piece or the pawn at once.

`two_up` draws positions of recorded games. One side is two minor pieces ahead or more, and the
evaluator agrees for whoever is to move, captures played out.
"""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import chess
import numpy as np
import numpy.typing as npt

from obscuro.evaluation.scale import TAU
from obscuro.matches.openings import Opening
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import Words, from_board
from tools.play.recorded_games import FiledGame

PAWNS = tuple(square for square in range(8, 56) if chess.square_file(square) < 4)
"""The pawn's squares that the table knows, a2 to d7."""
_NEAR = np.array(
    [[chess.square_distance(one, other) <= 1 for other in range(64)] for one in range(64)]
)
_STEPS = [[s for s in range(64) if chess.square_distance(s, square) == 1] for square in range(64)]

Table = npt.NDArray[np.bool_]


@functools.cache
def won_positions() -> tuple[Table, Table]:
    """Return what White wins with White to move and with Black to move.

    Both are bool[64, 64, 64], by the squares of the pawn, White's king and Black's king. Illegal
    positions are False, and so are pawns on the files e to h.
    """
    to_white = np.zeros((64, 64, 64), dtype=np.bool_)
    to_black = np.zeros((64, 64, 64), dtype=np.bool_)
    for pawn in reversed(PAWNS):  # a pawn only goes ahead, so the ranks can be done one by one
        white, black = to_white[pawn], to_black[pawn]
        ahead = _after_push(pawn, to_black)
        legal = _legal(pawn)
        safe = _safe_squares(pawn)
        while True:
            before = int(white.sum()) + int(black.sum())
            black[:] = legal & _black_is_lost(white, safe)
            attacked = list(chess.SquareSet(chess.BB_PAWN_ATTACKS[True][pawn]))
            white[:] = ahead
            for king in range(64):
                white[king] |= black[_STEPS[king]].any(axis=0)
            white &= legal
            white[:, attacked] = False  # Black's king could be captured
            if int(white.sum()) + int(black.sum()) == before:
                break
    return to_white, to_black


def is_won(board: chess.Board) -> bool:
    """Return whether the side with the pawn wins this position of two kings and a pawn.

    Raises ValueError if there are other pieces.
    """
    pawns = board.pieces(chess.PAWN, chess.WHITE) | board.pieces(chess.PAWN, chess.BLACK)
    if len(pawns) != 1 or chess.popcount(board.occupied) != 3:
        raise ValueError(f"{board.fen()} is not an ending of two kings and a pawn")
    pawn = pawns.pop()
    strong = board.color_at(pawn)
    assert strong is not None
    kings = [board.king(color) for color in (strong, not strong)]
    squares = [square for square in (pawn, *kings) if square is not None]
    if strong == chess.BLACK:
        squares = [chess.square_mirror(square) for square in squares]
    if chess.square_file(squares[0]) > 3:
        squares = [square ^ 7 for square in squares]
    table = won_positions()[board.turn != strong]
    return bool(table[squares[0], squares[1], squares[2]])


def _legal(pawn: int) -> Table:
    """Return where the kings may stand, bool[64, 64], whoever is to move."""
    legal = ~_NEAR
    legal[pawn] = False
    legal[:, pawn] = False
    return legal


def _safe_squares(pawn: int) -> Table:
    """Return where Black's king may go, bool[64, 64], by White's king and the target square."""
    safe = ~_NEAR
    safe[:, list(chess.SquareSet(chess.BB_PAWN_ATTACKS[True][pawn]))] = False
    return safe


def _after_push(pawn: int, to_black: Table) -> Table:
    """Return where pushing the pawn wins, bool[64, 64] by the kings."""
    ahead = pawn + 8
    wins: Table
    if ahead >= 56:
        guarded = _NEAR[:, ahead][:, None]
        wins = np.broadcast_to(guarded | ~_NEAR[ahead][None, :], (64, 64)).copy()
    else:
        wins = to_black[ahead].copy()
        if pawn < 16:
            wins |= to_black[ahead + 8]
    wins[ahead] = False
    wins[:, ahead] = False
    return wins


def _black_is_lost(white: Table, safe: Table) -> Table:
    """Return where Black has a move and each one loses, bool[64, 64] by the kings.

    A captured pawn leaves a draw: the pawn's square is never won for White in `white`.
    """
    lost = np.zeros((64, 64), dtype=np.bool_)
    for king in range(64):
        steps = _STEPS[king]
        may = safe[:, steps]
        lost[:, king] = may.any(axis=1) & (white[:, steps] | ~may).all(axis=1)
    return lost


TWO_UP = "two_up"
KINDS = ("KQK", "KRK", "KPK", TWO_UP)
_PIECES = {"KQK": chess.QUEEN, "KRK": chess.ROOK, "KPK": chess.PAWN}
_WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
AHEAD = 6
"""`two_up` needs so many pawns of material, and as much by the evaluator."""
EARLIEST = 20
"""`two_up` takes no position before so many plies of a game."""


class Valuer(Protocol):
    """Values true positions, as `recorded_games.Judge` does."""

    def value(self, words: Words) -> float:
        """Return the value of a position uint64[8] for the side to move, [-1, 1]."""


class WonStart(NamedTuple):
    """A starting position, and the side that ought to win it."""

    kind: str
    board: FogOfWarBoard
    strong: chess.Color

    def opening(self, number: int) -> Opening:
        """Return the start as an opening of the arena. number: its place among its kind, from 1."""
        name = f"{self.kind} {number}, {chess.COLOR_NAMES[self.strong]} is ahead"
        return Opening(name, self.board.fen(), ())


def bare_starts(kind: str, count: int, seed: int) -> list[WonStart]:
    """Draw so many starts of `KQK`, `KRK` or `KPK`. The same arguments give the same starts."""
    chance = random.Random(f"{kind} {seed}")
    strong = itertools.cycle((chess.WHITE, chess.BLACK))
    return [_bare(kind, next(strong), chance) for _ in range(count)]


def rich_starts(count: int, seed: int, games: Sequence[FiledGame], judge: Valuer) -> list[WonStart]:
    """Draw so many starts of `two_up`. The same arguments give the same starts.

    games: where the positions come from, at most one of each. Raises ValueError if there are fewer.
    """
    chance = random.Random(f"{TWO_UP} {seed}")
    found = list(itertools.islice(_from_games(games, chance, judge), count))
    if len(found) < count:
        raise ValueError(f"the games have {len(found)} positions two pieces up, not {count}")
    return found


# -- kings and one piece ------------------------------------------------------------------------


def _bare(kind: str, strong: chess.Color, chance: random.Random) -> WonStart:
    while True:
        piece, own, other = chance.sample(chess.SQUARES, 3)
        board = FogOfWarBoard(None)
        board.turn = chance.choice(chess.COLORS)
        for square, kind_of_piece, color in (
            (piece, _PIECES[kind], strong),
            (own, chess.KING, strong),
            (other, chess.KING, not strong),
        ):
            board.set_piece_at(square, chess.Piece(kind_of_piece, color))
        if not _is_quiet(board) or _is_taken(board, piece, strong):
            continue
        if kind == "KPK" and not is_won(board):
            continue
        return WonStart(kind, board, strong)


def _is_quiet(board: FogOfWarBoard) -> bool:
    """Whether a position is one of chess, without a check, and the mover has a legal move there."""
    plain = chess.Board(board.fen())
    return plain.is_valid() and not plain.is_check() and any(plain.legal_moves)


def _is_taken(board: FogOfWarBoard, piece: chess.Square, strong: chess.Color) -> bool:
    """Whether the weak side, to move, can capture the piece and keep its king."""
    if board.turn == strong:
        return False
    return any(move.to_square == piece for move in chess.Board(board.fen()).legal_moves)


# -- two pieces more ----------------------------------------------------------------------------


def material(board: chess.Board, color: chess.Color) -> int:
    """Return the material of a side in pawns."""
    return sum(worth * len(board.pieces(piece, color)) for piece, worth in _WORTH.items())


def _from_games(
    games: Sequence[FiledGame], chance: random.Random, judge: Valuer
) -> Iterator[WonStart]:
    """Yield at most one position of each game, in a random order of the games."""
    colors = itertools.cycle((chess.WHITE, chess.BLACK))
    strong = next(colors)
    for game in chance.sample(games, len(games)):
        boards = [board for board in _boards(game) if _is_ahead(board, strong)]
        chance.shuffle(boards)
        for board in boards:
            if _is_quiet(board) and _is_worth_it(board, strong, judge):
                yield WonStart(TWO_UP, board, strong)
                strong = next(colors)
                break


def _boards(game: FiledGame) -> Iterator[FogOfWarBoard]:
    board = game.start.copy()
    for ply, move in enumerate(game.moves):
        if ply >= EARLIEST:
            start = FogOfWarBoard(board.fen())
            start.halfmove_clock = 0
            yield start
        board.push(move)


def _is_ahead(board: FogOfWarBoard, strong: chess.Color) -> bool:
    return material(board, strong) - material(board, not strong) >= AHEAD


def _is_worth_it(board: FogOfWarBoard, strong: chess.Color, judge: Valuer) -> bool:
    value = judge.value(from_board(board))
    return (value if board.turn == strong else -value) >= math.tanh(AHEAD / TAU)
