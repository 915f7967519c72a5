"""Children and their values said as directly as can be, by python-chess: the oracle of the tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import chess
import chess.engine
import numpy as np
import pytest

from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.scale import value_of_mate, value_of_pawns
from obscuro.evaluation.stockfish_program import pawns_per_centipawn, scale_of, stockfish_path
from obscuro.rules.position import Words, from_board, move_to_uci
from tests.reference import fog_moves, goes_on, has_moves, random_game

STOCKFISH = stockfish_path() or ""
needs_stockfish = pytest.mark.skipif(not STOCKFISH, reason="Stockfish is not installed")


PAWNS = {
    chess.PAWN: 1,
    chess.KNIGHT: 3,
    chess.BISHOP: 3,
    chess.ROOK: 5,
    chess.QUEEN: 9,
    chess.KING: 0,
}


class Child(NamedTuple):
    """One child: its board, its value if it is decided, and whether the game is over."""

    board: chess.Board
    value: float | None
    terminal: bool


def after(board: chess.Board, move: chess.Move) -> chess.Board:
    """The board after a move, without the way there."""
    child = board.copy(stack=False)
    child.push(move)
    return without_clock(child)


def without_clock(board: chess.Board) -> chess.Board:
    """The position alone; Stockfish minds how long ago the last capture or pawn move was."""
    placed = board.copy(stack=False)
    placed.halfmove_clock, placed.fullmove_number = 0, 1
    return placed


def king_hangs(board: chess.Board, color: chess.Color) -> bool:
    """Whether the king of that colour could be captured if the other side were to move."""
    king = board.king(color)
    return king is not None and board.is_attacked_by(not color, king)


def naive_children(board: chess.Board, find_mates: bool) -> dict[str, Child]:
    """All children by their move in UCI."""
    mover = board.turn
    children = {}
    for move in fog_moves(board):
        child = after(board, move)
        value: float | None = None
        terminal = child.king(not mover) is None or not has_moves(child)
        if terminal:
            value = 1.0
        elif king_hangs(child, mover):
            value = -1.0
        elif find_mates and all(
            king_hangs(after(child, reply), not mover) for reply in fog_moves(child)
        ):
            value = value_of_mate(1)
        children[move.uci()] = Child(child, value, terminal)
    return children


def by_move(values: ChildValues, index: int) -> dict[str, tuple[float, bool]]:
    """The value and `terminal` of each child of one position of a batch, by its move in UCI."""
    children = range(values.offsets[index], values.offsets[index + 1])
    return {
        move_to_uci(values.moves[k]): (float(values.values[k]), bool(values.terminal[k]))
        for k in children
    }


class NaiveStockfish:
    """Stockfish asked one position after the other, having forgotten all the others."""

    def __init__(self, tau: float = 6.0, depth: int = 1) -> None:
        self.depth = depth  # of the lists of moves
        self.engine = chess.engine.SimpleEngine.popen_uci(STOCKFISH)
        self.engine.configure({"Threads": 1, "Hash": 1})
        self.scale = scale_of(str(self.engine.id["name"]))
        self.tau = tau

    def _value(self, board: chess.Board, score: chess.engine.PovScore) -> float:
        mate = score.relative.mate()
        if mate is not None:
            return value_of_mate(mate)
        centipawns = score.relative.score()
        assert centipawns is not None
        material = sum(PAWNS[piece.piece_type] for piece in board.piece_map().values())
        worth = pawns_per_centipawn(self.scale, material)
        return value_of_pawns(centipawns * worth, self.tau)

    def search(self, board: chess.Board, moves: int, depth: int = 1) -> list[chess.engine.InfoDict]:
        board = board.copy(stack=False)
        if not board.has_legal_en_passant():
            # In check from a knight, Stockfish 15.1 takes en passant all the same, and this client
            # waits forever for a better answer.
            board.ep_square = None
        limit = chess.engine.Limit(depth=depth, time=5)  # the time is for the client: not to hang
        return self.engine.analyse(board, limit, multipv=moves, game=object())

    def values(self, board: chess.Board) -> dict[str, tuple[float, bool]]:
        """What `StockfishEvaluator` should say of a board."""
        children = naive_children(board, find_mates=True)
        listed: dict[str, float] = {}
        undecided = [move for move, child in children.items() if child.value is None]
        if undecided and not king_hangs(board, not board.turn):
            for info in self.search(board, 500, self.depth):
                if "pv" in info:
                    listed[info["pv"][0].uci()] = self._value(board, info["score"])
        result = {}
        for move, child in children.items():
            value = child.value
            if value is None:
                value = listed.get(move)
            if value is None:
                value = -self._value(child.board, self.search(child.board, 1)[0]["score"])
            result[move] = (value, child.terminal)
        return result

    def close(self) -> None:
        self.engine.close()


def game_boards(seed: int, count: int) -> list[chess.Board]:
    """Boards of random games in which no player minds check; the game goes on in each of them."""
    rng = random.Random(seed)
    boards: list[chess.Board] = []
    while len(boards) < count:
        for board in random_game(rng):
            if goes_on(board) and rng.random() < 0.2:
                boards.append(without_clock(board))
    return boards[:count]


def words_of(boards: list[chess.Board]) -> Words:
    """Positions as uint64[n, 8]."""
    return np.array([from_board(board) for board in boards], dtype=np.uint64).reshape(-1, 8)


def expect_children(
    values: ChildValues,
    boards: Sequence[chess.Board],
    value_of: Callable[[chess.Board], float],
    *,
    find_mates: bool = True,
) -> int:
    """Hold all children against the naive ones; return how many the rules do not decide.

    value_of: what a child's board is worth to the side that moved there, where the rules do not say.
    """
    undecided = 0
    for index, board in enumerate(boards):
        found = by_move(values, index)
        expected = naive_children(board, find_mates=find_mates)
        assert found.keys() == expected.keys()
        for move, child in expected.items():
            value = child.value
            if value is None:
                value = value_of(child.board)
                undecided += 1
            assert found[move] == (pytest.approx(value, abs=1e-6), child.terminal), board.fen()
    return undecided
