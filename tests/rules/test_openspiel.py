"""The rules against OpenSpiel's ``dark_chess``; ``tools/proofs/compare_openspiel.py`` runs longer."""

from __future__ import annotations

import random

import chess
import pytest

pytest.importorskip("pyspiel")

from obscuro.rules.board import FogOfWarBoard
from tools.proofs.compare_openspiel import (
    OWN_DOUBLE_PUSH,
    OpenSpielMoves,
    Tally,
    compare_game,
    openspiel_slip,
)
from tools.proofs.random_games import ALMOST_STUCK, OPENINGS, random_mover, replay


def test_a_side_without_a_move_draws_in_openspiel_as_on_the_board_with_that_rule() -> None:
    tally, rng = Tally(), random.Random(1)
    while not tally.stalemates:
        compare_game(ALMOST_STUCK, random_mover(rng), tally, OpenSpielMoves(), kernels=False)
    assert not tally.errors, tally.report()


@pytest.mark.parametrize("seed", range(4))
def test_random_games_agree_with_openspiel(seed: int) -> None:
    tally, moves, rng = Tally(), OpenSpielMoves(), random.Random(seed)
    while tally.positions < 600:
        compare_game(rng.choice(OPENINGS), random_mover(rng), tally, moves, kernels=True)
    assert not tally.errors, tally.report()


def test_the_known_slip_needs_an_own_double_push_and_an_own_pawn_beside_it() -> None:
    board = FogOfWarBoard("4k3/8/8/8/2p5/4P3/3P4/4K3 w - - 0 1")
    board.push_uci("d2d4")
    assert openspiel_slip(board, chess.WHITE) is None
    board = FogOfWarBoard("4k3/8/8/8/2p5/8/2PP4/4K3 w - - 0 1")
    board.push_uci("d2d4")
    slip = openspiel_slip(board, chess.WHITE)
    assert slip is not None
    assert slip[0] == OWN_DOUBLE_PUSH
    assert openspiel_slip(board, chess.BLACK) is None


def test_a_played_game_is_compared_to_its_end() -> None:
    sans = ["e4", "d5", "e5", "f5", "exf6", "Kd7", "Bb5+", "c6", "Qg4+", "cxb5", "Qxd7"]
    board = FogOfWarBoard()
    for san in sans:
        board.push_san(san)
    tally = Tally()
    compare_game(
        board.starting_fen, replay(board.move_stack), tally, OpenSpielMoves(), kernels=True
    )
    assert tally.positions == len(sans) + 1
    assert not tally.errors, tally.report()
