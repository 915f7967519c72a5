"""The small network: its inputs, and that it learns what sight decides."""

from __future__ import annotations

import chess
import numpy as np

from obscuro.learn.held_out import explained
from obscuro.learn.problem import SEARCH, make_problem
from obscuro.learn.sight_network import PLANES, sight_planes, train
from tests.evaluation.naive import game_boards, words_of
from tests.learn.made_samples import samples
from tests.reference import vision


def test_planes_are_pieces_by_owner_and_sight_from_the_side_to_move() -> None:
    boards = game_boards(seed=8, count=12)
    planes = sight_planes(words_of(boards)).reshape(len(boards), 2, 6, 2, 64)
    assert {board.turn for board in boards} == {True, False}
    for board, found in zip(boards, planes, strict=True):
        expected = np.zeros_like(found)
        for square, piece in board.piece_map().items():
            seen = square in vision(board, not piece.color)
            place = square if board.turn else chess.square_mirror(square)
            expected[int(piece.color != board.turn), piece.piece_type - 1, int(seen), place] = 1
        assert (found == expected).all()


def test_the_network_learns_that_unseen_pieces_are_worth_more() -> None:
    data = samples()
    planes = sight_planes(data.states)
    by_sight = planes.reshape(len(planes), 2, 6, 2, 64).sum(axis=(2, 4))
    more = 0.6 * (by_sight[:, 0, 0].astype(float) - by_sight[:, 1, 0])
    leaf = 6 * np.arctanh(data.leaf.astype(float))
    data = data._replace(solved=np.tanh((leaf + more.clip(-1.5, 1.5)) / 6).astype(np.float32))
    problem = make_problem(data, SEARCH)
    network = train(problem, planes)
    added = network.pawns(planes, problem.pawns)
    assert planes.shape == (400, PLANES) and np.abs(added).max() <= 2
    assert explained(problem, added)["less"][0] > 0
    assert (network.pawns(planes, problem.pawns) == added).all()
    again = train(problem, planes)
    assert (again.first == network.first).all()
