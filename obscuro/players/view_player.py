"""Players without a belief: they choose by what their side sees at the moment.

`random` plays every move with the same probability. `greedy` captures the king if it sees it. Else
a move is worth the material that it takes, by value, less what an enemy in sight could take then
(`gain`, `risk`). Of the moves that are worth most it plays the cheapest capturer's, and else the
move that develops most (`development`). It promotes to a queen. Ties are broken at random. A piece
out of sight neither attacks nor blocks.

No compiled code is loaded.
"""

import hashlib
import random
import time
from collections.abc import Callable, Mapping
from threading import Event

import chess

from obscuro.engine.options import Options
from obscuro.engine.report import Choice, Comparison, Coverage, GoLimits, SearchInfo
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.side_view import SideView
from obscuro.rules.starts import board_of, is_hidden, possible_starts

Rule = Callable[[SideView, random.Random], str | None]
"""Chooses one of the view's moves, on this side's turn; None if there is none."""


class ViewPlayer:
    """Plays by a rule that knows what its side sees now, and nothing else.

    Its random numbers in a turn depend on the seed and on what the side has done and seen so far.
    """

    evaluator = ""
    belief_size = None
    belief_exact = False

    def __init__(self, options: Options, rule: Rule) -> None:
        self.seed = 1
        self._options = options
        self._rule = rule
        self._view = SideView(chess.WHITE, FogOfWarBoard())
        self._trail = b""  # a hash of what the side has done and seen

    def prepare(self, progress: Callable[[str], None] | None = None) -> None:
        """Do nothing: the player is ready."""

    def set_options(self, options: Options) -> None:
        """Take over options; the seed holds from the next game on."""
        self._options = options

    def new_game_from_fen(self, side: int, fen: str) -> None:
        """Start a game as `side` (0 = White) from a position known to both, without counters."""
        self.seed = self._options.integer("Seed") or time.time_ns() & 0x7FFFFFFF or 1
        start = possible_starts(fen, side == 0)[0] if is_hidden(fen) else fen
        self._view = SideView(side == 0, board_of(start))
        self._trail = b""
        self._note(f"{side} {fen}")

    def own_move(self, uci: str, observation: Observation | None) -> None:
        """Take the own move `uci` and what was seen after it (None: not told)."""
        self._view.push(uci)
        self._view.see_own_move(observation)
        self._note(f"{uci} {self._view.observation.text()}")

    def opponent_move(self, observation: Observation) -> None:
        """Take what was seen after a move of the other side."""
        self._view.see_other_move(observation)
        self._note(observation.text())

    def search(self, limits: GoLimits, stop: Event, report: Callable[[SearchInfo], None]) -> Choice:
        """Choose a move at once. There is nothing to report."""
        return Choice(self._rule(self._view, random.Random(self._trail + str(self.seed).encode())))

    def update(self) -> None:
        """Do nothing: there is no belief."""

    def belief_fens(self, count: int) -> Mapping[str, float | None]:
        """Return nothing: there is no belief."""
        return {}

    def coverage_of_fen(self, fen: str) -> Coverage | None:
        """Return None: there is no belief."""
        return None

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        """Return None: there is no tree."""
        return None

    def marginals(self) -> None:
        """Return None: there is no belief."""

    def ponder(self, stop: Event) -> None:
        """Do nothing: there is nothing to think about."""

    def close(self) -> None:
        """Do nothing: the player holds no resources."""

    def _note(self, what: str) -> None:
        self._trail = hashlib.blake2b(self._trail + what.encode(), digest_size=16).digest()


def random_move(view: SideView, chance: random.Random) -> str | None:
    """Choose every move with the same probability."""
    moves = sorted(view.moves())
    return chance.choice(moves) if moves else None


VALUES = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 100,
}
"""What each piece is worth, in pawns. A king is worth more than all others together."""

_CENTRE_FILES = range(2, 6)  # c to f
_MIDDLE_FILES = (3, 4)  # d and e


def greedy_move(view: SideView, chance: random.Random) -> str | None:
    """Choose a move by the rule of this module; None if there is none."""
    moves = [chess.Move.from_uci(uci) for uci in sorted(view.moves())]
    if not moves:
        return None
    board = view.board
    ranked = [(_worth(board, move), move) for move in moves]
    best = max(worth for worth, _ in ranked)
    return chance.choice([move for worth, move in ranked if worth == best]).uci()


def gain(board: chess.Board, move: chess.Move) -> int:
    """Return the material that a move takes, in pawns; a promotion takes the difference."""
    promoted = VALUES[move.promotion] - VALUES[chess.PAWN] if move.promotion else 0
    if board.is_en_passant(move):
        return VALUES[chess.PAWN]
    return promoted + (_value_at(board, move.to_square) if board.is_capture(move) else 0)


def risk(board: chess.Board, side: chess.Color) -> int:
    """Return the most that one capture on this board can win from a side, in pawns.

    An unprotected piece is lost as a whole, a protected one for its cheapest attacker.
    """
    worst = 0
    for square in chess.scan_forward(board.occupied_co[side]):
        attackers = board.attackers(not side, square)
        if attackers:
            loss = _value_at(board, square)
            if loss < VALUES[chess.KING] and board.is_attacked_by(side, square):
                loss -= min(_value_at(board, attacker) for attacker in attackers)
            worst = max(worst, loss)
    return worst


def development(board: chess.Board, move: chess.Move) -> int:
    """Return how much a quiet move is wanted, larger is better. Only the order counts.

    First come the centre pawns, knights, castling and bishops, then rooks to files without own
    pawns, then pawns, the furthest first. The rest of the pieces go forward rather than back. Pawns
    in front of the king stay as long as anything else can move, and so does the king.
    """
    side = board.turn
    piece = board.piece_type_at(move.from_square)
    file = chess.square_file(move.to_square)
    rank = _relative_rank(move.to_square, side)
    before = _relative_rank(move.from_square, side)
    if board.is_castling(move):
        return 85
    if piece == chess.PAWN:
        if before == 1 and file in _MIDDLE_FILES and _undeveloped(board):
            return 95 if rank == 3 else 75
        return 3 if _shields_king(board, move.from_square) else 30 + rank
    if piece == chess.KNIGHT and before == 0:
        return 90 if file in _CENTRE_FILES else 60
    if piece == chess.BISHOP and before == 0:
        return 80
    if piece == chess.ROOK and _is_open(board, file) and not _is_open(board, move.from_square & 7):
        return 50
    if piece == chess.KING:
        return 1
    if piece == chess.QUEEN and _undeveloped(board):
        return 2
    return 20 if rank > before else 10


def _worth(board: chess.Board, move: chess.Move) -> tuple[int, int, int]:
    """Return how good a move is, as numbers of which the first that differ decide."""
    taken = gain(board, move)
    if taken >= VALUES[chess.KING]:
        return taken, 0, 0
    then = board.copy(stack=False)
    then.push(move)
    cost = _value_at(board, move.from_square) if taken else 0
    return taken - risk(then, board.turn), -cost, development(board, move)


def _value_at(board: chess.Board, square: chess.Square) -> int:
    piece = board.piece_type_at(square)
    return 0 if piece is None else VALUES[piece]


def _relative_rank(square: chess.Square, side: chess.Color) -> int:
    """Return the rank of a square from the side's own back rank, which is 0."""
    rank = chess.square_rank(square)
    return rank if side == chess.WHITE else 7 - rank


def _undeveloped(board: chess.Board) -> bool:
    """Return whether the side to move has two or more minor pieces on its back rank."""
    minor = (board.knights | board.bishops) & board.occupied_co[board.turn]
    back = chess.BB_RANK_1 if board.turn == chess.WHITE else chess.BB_RANK_8
    return chess.popcount(minor & back) >= 2


def _shields_king(board: chess.Board, square: chess.Square) -> bool:
    """Return whether a pawn stands on its first square beside or before the king's file."""
    king = board.king(board.turn)
    if king is None or _relative_rank(square, board.turn) != 1:
        return False
    near = abs(chess.square_file(king) - chess.square_file(square)) <= 1
    return near and _relative_rank(king, board.turn) == 0


def _is_open(board: chess.Board, file: int) -> bool:
    """Return whether a file holds no own pawn."""
    return not board.pawns & board.occupied_co[board.turn] & chess.BB_FILES[file]
