"""The fit of the model of moves."""

import chess
import numpy as np
import pytest

from obscuro.belief.move_model import EVEN_SHARE, FEATURES, make_model
from obscuro.rules.board import FogOfWarBoard
from tests.belief.test_move_model import NO_SQUARES, scores
from tools.play.recorded_games import FiledGame
from tools.record.move_model import (
    NO_SQUARE,
    Decisions,
    decisions_of,
    fit,
    gain,
    joined,
    scores_of,
    shares_of,
)


def random_decisions(count, parameters, random):
    """Decisions by a player who plays by the model."""
    sizes = random.integers(2, 30, count)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    moves = sizes.sum()
    data = Decisions(
        first,
        first,
        random.normal(size=(moves, len(FEATURES))).astype(np.float32),
        random.integers(0, NO_SQUARE + 1, moves),
        random.integers(0, NO_SQUARE + 1, moves),
    )
    shares = (1 - EVEN_SHARE) * shares_of(data, scores_of(data, parameters))
    shares += np.repeat(EVEN_SHARE / sizes, sizes)
    chosen = [
        start
        + random.choice(size, p=shares[start : start + size] / shares[start : start + size].sum())
        for start, size in zip(first, sizes, strict=True)
    ]
    return data._replace(chosen=np.array(chosen))


def test_the_fit_finds_the_model_that_played():
    random = np.random.default_rng(1)
    true = np.concatenate((random.normal(size=len(FEATURES)), np.zeros(NO_SQUARE)))
    data = random_decisions(6000, true, random)
    found = fit(data, np.ones(6000), 1.0)
    assert found[: len(FEATURES)] == pytest.approx(true[: len(FEATURES)], abs=0.15)
    assert abs(found[len(FEATURES) :]).mean() < 0.3
    assert gain(data, found).mean() > gain(data, 0.5 * true).mean() > 0


def test_a_model_without_scores_gains_nothing():
    data = random_decisions(50, np.zeros(len(FEATURES) + NO_SQUARE), np.random.default_rng(2))
    assert gain(data, np.zeros(len(FEATURES) + NO_SQUARE)) == pytest.approx(0, abs=1e-9)


def filed_game(moves):
    board = FogOfWarBoard()
    return FiledGame(
        1, {chess.WHITE: "one", chess.BLACK: "two"}, board,
        tuple(chess.Move.from_uci(uci) for uci in moves.split()), None, True, (), (), "",
    )  # fmt: skip


def test_scores_of_decisions_are_those_of_the_kernel():
    game = filed_game("e2e4 d7d5 e4d5 d8d5 b1c3 d5d8 g1f3 c8g4")
    random = np.random.default_rng(3)
    parameters = random.normal(size=len(FEATURES) + NO_SQUARE)
    model = make_model(
        dict(zip(FEATURES, parameters[: len(FEATURES)], strict=True)),
        parameters[len(FEATURES) :].reshape(NO_SQUARES.shape),
    )
    data = decisions_of([game], "two")
    assert len(data.first) == 4
    board, recapture, found = chess.Board(), 0, []
    for move in game.moves:
        if board.turn == chess.BLACK:
            found.append(scores(board, model, recapture))
        recapture = chess.BB_SQUARES[move.to_square] if board.is_capture(move) else 0
        board.push(move)
    wanted = np.concatenate([list(each.values()) for each in found])
    assert scores_of(data, parameters) == pytest.approx(wanted, abs=1e-4)
    played = [
        list(each).index(uci)
        for each, uci in zip(found, ("d7d5", "d8d5", "d5d8", "c8g4"), strict=True)
    ]
    assert (data.chosen - data.first).tolist() == played


def test_joined_decisions_are_those_of_the_parts():
    parameters = np.random.default_rng(4).normal(size=len(FEATURES) + NO_SQUARE)
    games = [filed_game("e2e4 d7d5 e4d5 d8d5"), filed_game("d2d4 d7d5 c2c4 d5c4 e2e3")]
    parts = [decisions_of([game], "one") for game in games]
    both = gain(joined(parts), parameters)
    assert both == pytest.approx(np.concatenate([gain(part, parameters) for part in parts]))
