"""What is kept of a game that the engine follows again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.evaluation.nnue.leaf_values import LeafValuer
from obscuro.learn.collecting import (
    BEFORE,
    Searches,
    seen_samples,
    side_of,
    solved_samples,
    spread,
)
from obscuro.learn.filed_games import FiledGame, load_games
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tests.evaluation.nnue import made_up
from tests.tools.play.lost_games import SMALL, write_games

NODES = 400


@pytest.fixture(scope="module")
def player() -> Iterator[Player]:
    options = Options()
    for text in SMALL:
        options.set(*text.split("="))
    made = Player(options, print)
    yield made
    made.close()


@pytest.fixture(scope="module")
def leaf_values() -> LeafValuer:
    return LeafValuer(made_up.network())


@pytest.fixture
def games(tmp_path: Path) -> list[FiledGame]:
    return load_games(write_games(tmp_path / "games.pgn"))


def test_solved_turns_hold_the_true_position_beside_others(
    player: Player, leaf_values: LeafValuer, games: list[FiledGame]
) -> None:
    game, side = games[1], side_of(games[1])
    found = solved_samples(player, leaf_values, game, Searches(1, nodes=NODES))
    found.check()
    own = [ply for ply in range(len(game.moves)) if (ply % 2 == 0) == side]
    assert len(set(found.ply.tolist()) & set(own)) >= len(own) - 1
    board = FogOfWarBoard()
    for ply, move in enumerate(game.moves):
        of_turn = found.where(found.ply == ply)
        true = of_turn.states[of_turn.true]
        assert (true == from_board(board)).all()
        assert of_turn.weight.sum() <= 1 + 1e-5
        assert ((of_turn.states[:, 7] & np.uint64(1)) == int(board.turn == chess.BLACK)).all()
        assert set(of_turn.result.tolist()) <= {game.result(board.turn)}
        if len(of_turn.leaf) and ply in own:
            assert len(true)
        board.push(move)
    assert (~found.true).any()
    assert (found.leaf == leaf_values(found.states)).all()
    assert not np.isnan(found.solved).any() and found.solved.std() > 0.01
    assert set(found.game.tolist()) == {game.key}


def test_the_other_side_s_positions_have_values_in_its_view(
    player: Player, leaf_values: LeafValuer, games: list[FiledGame]
) -> None:
    game = games[1]
    queen_lost = game.moves.index(chess.Move.from_uci("h8h7")) + 2
    found = solved_samples(player, leaf_values, game, Searches(1, nodes=5 * NODES))
    late = found.where(found.ply >= queen_lost)
    white_to_move = late.ply % 2 == 0
    assert white_to_move.any() and not white_to_move.all()
    assert late.solved[white_to_move].mean() < -0.2 < 0.2 < late.solved[~white_to_move].mean()


def test_the_same_command_gives_the_same_samples(
    player: Player, leaf_values: LeafValuer, games: list[FiledGame]
) -> None:
    searches = Searches(2, nodes=NODES)
    first, second = (solved_samples(player, leaf_values, games[1], searches) for _ in range(2))
    assert len(first.leaf)
    for mine, theirs in zip(first, second, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_one_turn_of_several_is_solved_and_the_one_before_gets_a_tree() -> None:
    searches = Searches(4, nodes=600)
    assert [searches.at(turn, 2) for turn in range(8)] == [
        *(None, BEFORE, 1, None),
        *(None, BEFORE, 1, None),
    ]
    assert searches.limits(1).nodes == 600 and searches.limits(BEFORE).nodes == 100
    assert Searches(1, movetime=3).limits(BEFORE).movetime == 1
    assert [Searches(1, nodes=5).at(turn, 0) for turn in range(3)] == [1, 1, 1]


def test_without_a_search_every_true_position_is_there(
    leaf_values: LeafValuer, games: list[FiledGame]
) -> None:
    found = seen_samples(leaf_values, games[1])
    found.check()
    assert len(found.leaf) == len(games[1].moves) and found.true.all()
    assert np.isnan(found.solved).all()
    assert found.result.tolist() == [-1, 1] * (len(games[1].moves) // 2)
    assert (found.states[0] == from_board(FogOfWarBoard())).all()


def test_games_are_spread_evenly_and_each_comes_once(games: list[FiledGame]) -> None:
    assert [game.number for game in spread(games * 3, None)] == [1, 2]
    assert [game.number for game in spread(games, 1)] == [1]
    assert games[0].key != games[1].key
