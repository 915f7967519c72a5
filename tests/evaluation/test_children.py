"""Which children there are, and which are decided without an evaluation."""

import chess
import numpy as np
import pytest

from obscuro.evaluation.children import expand
from obscuro.evaluation.scale import value_of_mate
from obscuro.rules.position import legal_moves
from tests.evaluation.naive import by_move, game_boards, naive_children, words_of


def children_of(fen: str) -> dict[str, tuple[float, bool]]:
    return by_move(expand(words_of([chess.Board(fen)]), find_mates=True), 0)


@pytest.mark.parametrize("find_mates", [False, True])
def test_children_are_those_of_the_naive_expansion(find_mates: bool) -> None:
    boards = game_boards(seed=1, count=120)
    found = expand(words_of(boards), find_mates)
    for index, board in enumerate(boards):
        expected = naive_children(board, find_mates)
        children = by_move(found, index)
        assert children.keys() == expected.keys()
        for move, (value, terminal) in children.items():
            assert terminal == expected[move].terminal
            if expected[move].value is None:
                assert np.isnan(value)
            else:
                assert value == np.float32(expected[move].value)


def test_children_stand_in_the_generators_order() -> None:
    positions = words_of(game_boards(seed=2, count=20))
    found = expand(positions, find_mates=False)
    for index, position in enumerate(positions):
        moves = found.moves[found.offsets[index] : found.offsets[index + 1]]
        assert np.array_equal(moves, legal_moves(position))


def test_capturing_the_king_wins_and_ends_the_game() -> None:
    children = children_of("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1")
    assert children["e2e8"] == (1.0, True)
    assert np.isnan(children["e2e7"][0])


def test_leaving_the_own_king_loses_but_does_not_end_the_game() -> None:
    children = children_of("4k3/8/8/8/8/4r3/8/4K2R w - - 0 1")
    assert children["h1h2"] == (-1.0, False)
    assert np.isnan(children["e1f1"][0])


def test_leaving_the_enemy_no_move_at_all_wins_and_ends_the_game() -> None:
    children = children_of("5nrk/3p1prp/3PpPp1/4P1PP/8/8/8/K7 w - - 0 1")
    assert children["h5h6"] == (1.0, True)
    assert [move for move, (_, terminal) in children.items() if terminal] == ["h5h6"]


def test_stalemate_of_ordinary_chess_is_a_mate() -> None:
    children = children_of("7k/8/5KQ1/8/8/8/8/8 w - - 0 1")
    assert children["f6f7"] == (np.float32(value_of_mate(1)), False)
    assert children["g6g7"] == (np.float32(value_of_mate(1)), False)


def test_no_positions_have_no_children() -> None:
    found = expand(np.empty((0, 8), dtype=np.uint64), find_mates=True)
    assert found.offsets.tolist() == [0]
    assert len(found.moves) == len(found.values) == len(found.terminal) == 0


def test_a_missing_king_has_lost() -> None:
    positions = words_of([chess.Board("8/8/8/8/8/8/4R3/4K3 w - - 0 1")])
    assert (expand(positions, find_mates=True).values == 1).all()
    positions = words_of([chess.Board("4k3/8/8/8/8/8/4R3/8 w - - 0 1")])
    assert (expand(positions, find_mates=True).values == -1).all()
