"""Positions of which the paper says how to play them (Obscuro, E.2 and E.8); both sides know them."""

from __future__ import annotations

import time
from threading import Event

import pytest

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.rules.position import from_fen
from tests.sizes import quick_among


def searched(fen: str, evaluator: str, nodes: int) -> tuple[SearchInfo, dict[str, float]]:
    """A search from a position that both sides know, and its strategy by move."""
    options = Options()
    for name, value in {
        "Threads": 1,
        "Evaluator": evaluator,
        "Hash": 256,
        "Seed": 1,
        "Max Positions": 10**5,
    }.items():
        options.set(name, str(value))
    player = Player(options, pytest.fail)
    try:
        player.prepare()
        player.new_game(0, from_fen(fen))
        info = player.search(GoLimits(time.monotonic(), nodes=nodes), Event()).info
    finally:
        player.close()
    assert info is not None
    return info, dict(info.policy)


CORNERED = [("c6", ("c6b6", "c6c7")), ("b6", ("b6a6", "b6c7")), ("c7", ("c7b6", "c7c8"))]


@pytest.mark.parametrize(("king", "moves"), quick_among(CORNERED, lambda case: False))
def test_a_cornered_king_loses_more_than_half_against_a_mixed_move(king, moves):
    rank = {"b6": "8/1K6", "c6": "8/2K5", "c7": "2K5/8"}[king]
    info, policy = searched(f"k7/{rank}/8/8/8/8/8 w - - 0 1", "material", 25_000)
    assert 0.5 < info.value < 0.6
    assert all(policy[move] > 0.3 for move in moves)


def test_kings_in_the_open_draw():
    info, _ = searched("8/8/3k4/8/8/3K4/8/8 w - - 0 1", "material", 25_000)
    assert abs(info.value) < 0.05


@pytest.mark.parametrize(
    ("evaluator", "nodes"),
    quick_among([("stockfish", 150_000), ("nnue", 400_000)], lambda case: False),
)
def test_after_c4_d5_white_mixes_a_rare_check_with_quiet_moves(evaluator, nodes):
    # 2.Qa4 wins the king where Black does not cover a4-e8, and against 2...c6 the pawn falls.
    fen = "rnbqkbnr/ppp1pppp/8/3p4/2P5/8/PP1PPPPP/RNBQKBNR w KQkq - 0 2"
    info, policy = searched(fen, evaluator, nodes)
    assert info.value > 0.2  # 2.cxd5 alone: 0.17
    assert 0.05 < policy["d1a4"] < 0.4
    assert sum(policy.get(move, 0) for move in ("b1c3", "g1f3", "e2e3", "g2g3")) > 0.4
    assert policy.get("c4d5", 0) < 0.3
