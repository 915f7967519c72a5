"""The belief where the referee does not tell of all captures en passant, as on pychess.

It is compared with an enumeration in plain Python: every move in every position, on python-chess's
boards.
"""

from __future__ import annotations

import random
from collections import Counter

import chess
import pytest

from obscuro.belief.belief import Belief
from obscuro.rules.account import Account
from obscuro.rules.board import PychessBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, to_board

PAWNS_AND_KINGS = "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1"
WITH_PIECES = "4k1b1/p1p1p1pp/8/1P1P1P2/1p1p1p2/8/P1P1P1PP/2B1K3 w - - 0 1"
FAR_PAWNS = "4k3/pppp4/8/P1P1P3/1p1p4/8/2P1P2P/R3K3 w - - 0 1"


class Enumeration:
    """All positions that explain what one side saw, as boards by their EPD."""

    def __init__(self, board: PychessBoard, side: chess.Color) -> None:
        self.side = side
        self.boards = [board.copy(stack=False)]

    def own_move(self, uci: str, observation: Observation) -> None:
        self._keep(
            [self._after(board, chess.Move.from_uci(uci)) for board in self.boards], observation
        )

    def other_move(self, observation: Observation) -> None:
        children = [self._after(board, move) for board in self.boards for move in board.legal_moves]
        self._keep(children, observation)

    def _after(self, board: PychessBoard, move: chess.Move) -> PychessBoard:
        child = board.copy(stack=False)
        child.push(move)
        return child

    def _keep(self, children: list[PychessBoard], observation: Observation) -> None:
        fitting = (child for child in children if child.observation(self.side) == observation)
        self.boards = list({placement(child): child for child in fitting}.values())

    def positions(self) -> set[str]:
        return {placement(board) for board in self.boards}


def placement(board: chess.Board) -> str:
    """Return a position without what is ours: a capture that we are not told of is none."""
    return f"{board.board_fen()} {board.castling_xfen()}"


def follow(start: str, side: chess.Color, seed: int, plies: int, kinds: Counter[str]) -> None:
    """Compare along a random game in which pawns move often."""
    rng, board = random.Random(seed), PychessBoard(start)
    naive, belief = Enumeration(board, side), Belief(from_board(board), 0 if side else 1)
    account = Account(board, side)
    for _ in range(plies):
        told = account.observation.en_passant if board.turn == side else None
        moves = [
            move
            for move in board.legal_moves
            if not (board.is_en_passant(move) and board.turn == side and move.to_square != told)
        ]
        if not moves or len(naive.boards) > 1500:
            return
        pawns = [move for move in moves if board.piece_type_at(move.from_square) == chess.PAWN]
        board.push(rng.choice(pawns if pawns and rng.random() < 0.8 else moves))
        if board.is_variant_end():
            return
        ply = account.append(board)
        assert ply.observation is not None
        if ply.move is None:
            naive.other_move(ply.observation)
            belief.after_opponent_move(ply.observation)
            if board.ep_target(side) is not None:
                lit = (
                    not PychessBoard.__mro__[1].vision_mask(_without(board), side)
                    >> board.ep_square
                    & 1
                )
                shown = ply.observation.en_passant is not None
                kinds["shown" if shown else "lit" if lit else "unknown"] += 1
        else:
            naive.own_move(ply.move, ply.observation)
            belief.after_own_move(ply.move, ply.observation)
        found = [to_board(words) for words in belief.positions]
        assert {placement(each) for each in found} == naive.positions(), board.fen()
        assert len(found) == len(naive.boards) and belief.exact
        if ply.move is None and ply.observation.en_passant is None:
            assert not any(each.has_pseudo_legal_en_passant() for each in found)


def _without(board: PychessBoard) -> PychessBoard:
    bare = board.copy(stack=False)
    bare.ep_square = None
    return bare


def followed(seeds: range) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for seed in seeds:
        for start in (PAWNS_AND_KINGS, WITH_PIECES, FAR_PAWNS):
            follow(start, seed % 2 == 0, seed, 16, kinds)
    return kinds


def test_the_belief_is_all_that_explains_what_pychess_shows() -> None:
    kinds = followed(range(8))
    assert kinds["shown"] and kinds["lit"]


@pytest.mark.slow
def test_the_belief_is_exact_in_many_games() -> None:
    kinds = followed(range(8, 60))
    assert all(kinds[kind] > 10 for kind in ("shown", "lit", "unknown")), kinds


def believed(start: str, moves: list[str], side: chess.Color) -> tuple[PychessBoard, Belief]:
    board = PychessBoard(start)
    belief = Belief(from_board(board), 0 if side else 1)
    account = Account(board, side)
    for move in moves:
        board.push_uci(move)
        ply = account.append(board)
        if ply.move is None:
            assert ply.observation is not None
            belief.after_opponent_move(ply.observation)
        else:
            belief.after_own_move(ply.move, ply.observation)
    return board, belief


def test_a_square_that_only_a_capture_can_show_tells_of_the_pawn() -> None:
    board, belief = believed("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", ["d7d5"], chess.WHITE)
    observation = board.observation(chess.WHITE)
    assert observation.text().endswith(",?") and not observation.seen >> chess.D5 & 1
    assert observation.seen >> chess.D6 & 1
    assert [to_board(words).piece_at(chess.D5) for words in belief.positions] == [
        chess.Piece(chess.PAWN, chess.BLACK)
    ]
    assert belief.exact
    assert not to_board(belief.positions[0]).has_pseudo_legal_en_passant()  # and yet no capture


def test_a_square_that_is_seen_anyway_tells_nothing() -> None:
    """The bishop sees c6; c7-c5 and a7-a6 then look the same on pychess, and differ by our rules."""
    start = "4k3/ppp5/8/1P6/4B3/8/8/4K3 b - - 0 1"
    _, belief = believed(start, ["c7c5"], chess.WHITE)
    names = {
        chess.square_name(s)
        for w in belief.positions
        for s in to_board(w).pieces(chess.PAWN, chess.BLACK)
    }
    assert belief.exact and len(belief) > 1 and "c5" in names


def test_a_pawn_that_is_seen_can_be_taken() -> None:
    board, _ = believed("4k3/3p4/8/4P3/8/1B6/8/4K3 b - - 0 1", ["d7d5"], chess.WHITE)
    assert board.observation(chess.WHITE).text().endswith(",d6")
