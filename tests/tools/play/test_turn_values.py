"""The turns of recorded games as arrays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.material import MaterialEvaluator
from obscuro.evaluation.scale import EVALUATION_LIMIT, value_of_mate, value_of_pawns
from tests.tools.play.filed_games import filed
from tests.tools.play.lost_games import QUEEN, SHORT
from tools.play.recorded_games import FiledGame, load_games
from tools.play.turn_values import UNKNOWN, Turns, is_decided, pawns_of, read_turns


def turns_of(games: list[FiledGame]) -> Turns:
    told: list[int] = []
    turns = read_turns(games, MaterialEvaluator(), told.append)
    assert told == list(range(1, len(games) + 1))
    return turns


@pytest.fixture
def turns(file: Path) -> Turns:
    return turns_of(load_games(file))


def test_the_leaf_value_is_that_of_the_move_before(turns: Turns) -> None:
    assert turns.game.tolist() == [0] * len(SHORT) + [1] * len(QUEEN)
    assert turns.ply.tolist() == [*range(len(SHORT)), *range(len(QUEEN))]
    first = turns.ply == 0
    assert np.isnan(turns.leaf[first]).all()
    assert (turns.leaf[~first] == -turns.played[np.flatnonzero(~first) - 1]).all()
    assert (turns.best >= turns.played).all()


def test_results_are_those_of_the_side_to_move(turns: Turns) -> None:
    assert turns.result[turns.game == 0].tolist() == [1, -1, 1, -1, 1]
    assert turns.result[turns.game == 1].tolist() == [-1, 1] * (len(QUEEN) // 2)


def test_a_king_in_danger_is_counted_by_who_sees_it(turns: Turns) -> None:
    # Black's king does not see the queen on h5: none of its pieces can go there.
    short = turns.where(turns.game == 0)
    assert short.unseen_attackers.tolist() == [0, 0, 0, 1, 0]
    assert short.seen_attackers.tolist() == [0] * 5
    assert short.unseen_after.tolist() == [0, 0, 0, 1, 0]
    assert short.takes_king.tolist() == [0, 0, 0, 0, 1]
    assert short.wins_king.tolist() == [0, 0, 0, 0, 1]
    assert short.loses_king.tolist() == [0, 0, 0, 1, 0]
    assert short.played[3] == -1 and short.leaf[4] == 1


def test_an_attacker_beside_the_king_is_seen() -> None:
    turns = turns_of([filed(("e2e4", "e7e5", "d1h5", "b8c6", "h5f7", "e8f7"), chess.BLACK)])
    assert turns.seen_attackers.tolist() == [0, 0, 0, 0, 0, 1]
    assert turns.unseen_attackers.tolist() == [0] * 6


def test_pieces_are_counted_by_who_sees_them(turns: Turns) -> None:
    short = turns.where(turns.game == 0)
    assert short.pieces.tolist() == [14] * 5
    assert short.queens.tolist() == [2] * 5
    assert short.hidden.tolist()[:3] == [16, 16, 16]
    # White sees the king and the pawn on h7 from h5, and the one on a6 from f1.
    assert short.hidden[4] == 16 - 3
    assert short.covered.tolist()[:3] == [16, 16, 16]


def test_a_piece_attacked_from_the_fog_is_counted() -> None:
    beliefs = (None, None, 7, None, None, None)
    moves = ("e2e4", "e7e5", "d1h5", "g8f6", "a2a3", "f6h5")
    turns = turns_of([filed(moves, chess.BLACK, beliefs)])
    assert turns.attacked.tolist() == [0, 0, 0, 0, 1, 0]  # the knight attacks the queen
    assert turns.unseen_major.tolist() == [0, 0, 0, 0, 1, 0]
    assert turns.unseen_minor.tolist() == [0] * 6
    assert turns.belief.tolist() == [UNKNOWN, UNKNOWN, 7, UNKNOWN, UNKNOWN, UNKNOWN]


def test_games_that_the_rules_did_not_end_are_left_out(file: Path) -> None:
    first, second = load_games(file)
    turns = turns_of([replace(first, regular=False), second])
    assert set(turns.game) == {1}


def test_pawns_are_the_evaluators_pawns() -> None:
    pawns = np.array([-9.0, 0.0, 0.3, 25.0])
    values = np.array([value_of_pawns(each, 6.0) for each in pawns])
    assert pawns_of(values) == pytest.approx(pawns)
    assert not is_decided(values).any()
    assert is_decided(np.array([value_of_mate(1), value_of_mate(-40), 1.0])).all()
    assert not is_decided(np.array([EVALUATION_LIMIT], dtype=np.float32)).any()
