"""The weight of the true position by its last reply, against python-chess and plain sums."""

from __future__ import annotations

import math
from contextlib import closing

import chess
import numpy as np
import pytest

from obscuro.belief.belief import Belief
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, to_board
from tests.tools.play.filed_games import filed
from tools.common import engine_options, say
from tools.play.last_reply import AT_RANDOM, TEMPERATURES, nats_of_truth
from tools.play.recorded_games import Judge, opponent_moves

OPENING = ("e2e4", "e7e5", "g1f3", "b8c6", "f3e5", "c6e5")


def key(board: chess.Board) -> bytes:
    return from_board(board).tobytes()


def naive(judge: Judge, before: list[chess.Board], temperature: float) -> dict[bytes, float]:
    """What the replies to each q add up to, by the position that they lead to."""
    weights: dict[bytes, float] = {}
    for board in before:
        values = judge.moves(from_board(board))
        best = max(values.values())
        shares = {uci: math.exp((value - best) / temperature) for uci, value in values.items()}
        total = sum(shares.values())
        for uci, share in shares.items():
            after = board.copy(stack=False)
            after.push_uci(uci)
            played = (1 - AT_RANDOM) * share / total + AT_RANDOM / len(shares)
            weights[key(after)] = weights.get(key(after), 0.0) + played
    return weights


def test_the_truth_weighs_what_the_replies_that_lead_to_it_add_up_to() -> None:
    belief = Belief(from_board(FogOfWarBoard()), 0, 100_000, weighted=True)
    compared = 0
    with closing(Judge(engine_options(evaluator="material"), say)) as judge, closing(belief):
        for board, observation in opponent_moves(filed(OPENING, None), chess.WHITE, [belief]):
            before = belief.positions
            belief.after_opponent_move(observation)
            truth, every = from_board(board), np.arange(len(before))
            found = nats_of_truth(judge, before, np.ones(len(before)), belief, truth, every)
            boards = [to_board(words) for words in before]
            for temperature in TEMPERATURES:
                weights = naive(judge, boards, temperature)
                possible = [weights[words.tobytes()] for words in belief.positions]
                wanted = math.log(weights[truth.tobytes()] / np.mean(possible))
                assert found[f"even {temperature}"] == pytest.approx(wanted, abs=1e-5)
                assert found[f"weighed {temperature}"] == found[f"even {temperature}"]
                compared += len(belief) > 1 and abs(wanted) > 0.01
    assert compared
