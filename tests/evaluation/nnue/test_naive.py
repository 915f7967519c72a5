"""The naive inference against Stockfish's own: equal to all that it prints."""

from __future__ import annotations

import chess
import pytest

from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.network import FEATURES, Network
from tests.evaluation.naive import STOCKFISH
from tests.evaluation.nnue import naive
from tests.evaluation.nnue.stockfish_eval import (
    evaluate,
    final_of_17,
    printed,
    random_boards,
    units_per_pawn,
)


def in_units(network: Network, board: chess.Board) -> tuple[list[int], list[int], int]:
    """psqt and positional values as Stockfish prints them, each cut to units; the bucket."""
    values = naive.evaluate(network, board, as_stockfish=True)
    psqt = [naive.toward_zero(value, 16) for value in values.psqt]
    return psqt, [naive.toward_zero(value, 16) for value in values.positional], values.bucket


def compare(installed: InstalledNetwork, boards: list[chess.Board]) -> None:
    """Compare the network that `eval` is about with what it says."""
    for board, report in zip(boards, evaluate(STOCKFISH, boards), strict=True):
        per_pawn = units_per_pawn(installed.engine, board)
        if per_pawn is None:
            pytest.skip(f"we don't know how {installed.engine} rounds")
        psqt, positional, bucket = in_units(installed.network, board)
        assert bucket == report.bucket, board.fen()
        assert [printed(units, per_pawn) for units in psqt] == report.psqt, board.fen()
        assert [printed(units, per_pawn) for units in positional] == report.positional, board.fen()
        totals = [sum(pair) for pair in zip(psqt, positional, strict=True)]
        assert [printed(units, per_pawn) for units in totals] == report.total, board.fen()
        # 15.1 adds psqt and layers before it cuts to units, 17.1 after.
        value = naive.value(installed.network, board, as_stockfish=True)
        if installed.engine == "Stockfish 17.1":
            value = totals[bucket]
        sign = 1 if board.turn == chess.WHITE else -1
        assert printed(sign * value, per_pawn) == report.network, board.fen()


def test_equals_what_stockfish_prints(networks: list[InstalledNetwork]) -> None:
    compare(networks[0], random_boards(250, seed=0))


@pytest.mark.slow
def test_equals_what_stockfish_prints_of_many(networks: list[InstalledNetwork]) -> None:
    compare(networks[0], random_boards(3000, seed=1))


def test_the_small_network_equals_what_stockfish_prints(networks: list[InstalledNetwork]) -> None:
    if len(networks) < 2 or networks[0].engine != "Stockfish 17.1":
        pytest.skip("only of Stockfish 17.1 do we know how it uses its small network")
    boards = random_boards(250, seed=2)
    judged_by_small = 0
    for board, report in zip(boards, evaluate(STOCKFISH, boards), strict=True):
        pairs = []
        for installed in networks:
            psqt, positional, bucket = in_units(installed.network, board)
            pairs.append((psqt[bucket], positional[bucket]))
        value, is_small = final_of_17(board, *pairs)
        per_pawn = units_per_pawn(networks[0].engine, board)
        assert per_pawn is not None
        sign = 1 if board.turn == chess.WHITE else -1
        assert printed(sign * value, per_pawn) == report.final, board.fen()
        judged_by_small += is_small
    assert judged_by_small > 50


def test_features_are_different_and_mirrored() -> None:
    board = chess.Board("r3k2r/pppq1ppp/2n2n2/3pp3/1b1PP3/2N2N2/PPP2PPP/R1BQKB1R w KQkq - 0 1")
    for color in chess.COLORS:
        on = naive.features(board, color)
        assert len(set(on)) == chess.popcount(board.occupied)
        assert all(0 <= index < FEATURES for index in on)
        assert sorted(on) == sorted(naive.features(board.mirror(), not color))
        flipped = board.transform(chess.flip_horizontal)
        assert sorted(on) == sorted(naive.features(flipped, color))
