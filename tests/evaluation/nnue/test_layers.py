"""The layers: each way of doing the first one, and the value against the naive and the real one."""

from __future__ import annotations

import os
import subprocess
import sys

import chess
import numpy as np
import pytest

from obscuro.evaluation.nnue import dense
from obscuro.evaluation.nnue.accumulator import refresh
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.layers import network_value, propagate, transform
from obscuro.evaluation.nnue.network import BUCKETS, FC0_OUTPUTS, arrange, make_workspace
from tests.evaluation.naive import STOCKFISH, game_boards
from tests.evaluation.nnue import made_up, naive
from tests.evaluation.nnue.stockfish_eval import evaluate, printed, random_boards, units_per_pawn


@pytest.fixture(params=[name for name in dense.AVAILABLE if name != "plain"])
def layer(request: pytest.FixtureRequest):  # type: ignore[no-untyped-def]
    """A kernel around one of the ways that this CPU has."""
    from numba import njit  # noqa: PLC0415 - beside its only use

    way = dense.LAYERS[request.param]

    @njit
    def kernel(inputs, weights, bucket, sums):  # type: ignore[no-untyped-def]
        way(inputs, weights, bucket, sums)

    return kernel


@pytest.mark.parametrize("half", [32, 64, 512, 1536])
def test_all_ways_of_the_first_layer_are_equal(layer, half: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(half)
    weights = rng.integers(-128, 128, (BUCKETS, FC0_OUTPUTS, 2, half), np.int8)
    for bucket in range(BUCKETS):
        inputs = rng.integers(0, 127, (2, half), np.uint8)
        bias = rng.integers(-10_000, 10_000, FC0_OUTPUTS, np.int32)
        expected = bias + np.tensordot(weights[bucket].astype(np.int64), inputs.astype(np.int64))
        found, plain = bias.copy(), bias.copy()
        layer(inputs, weights, bucket, found)
        dense.first_layer_plain(inputs, weights, bucket, plain)
        assert found.tolist() == plain.tolist() == expected.tolist()


def test_no_way_overflows_at_the_limits(layer) -> None:  # type: ignore[no-untyped-def]
    inputs = np.full((2, 512), 126, dtype=np.uint8)
    for weight in (-128, 127):
        weights = np.full((BUCKETS, FC0_OUTPUTS, 2, 512), weight, dtype=np.int8)
        sums = np.zeros(FC0_OUTPUTS, dtype=np.int32)
        layer(inputs, weights, 7, sums)
        assert sums.tolist() == [1024 * 126 * weight] * FC0_OUTPUTS


@pytest.mark.parametrize("asked", ["plain", "avx2", "no such thing"])
def test_the_environment_chooses_the_way(asked: str) -> None:
    code = "from obscuro.evaluation.nnue import dense; print(dense.CHOSEN)"
    environment = {**os.environ, "OBSCURO_SIMD": asked}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    expected = asked if asked in dense.AVAILABLE else dense.AVAILABLE[0]
    assert result.stdout.strip() == expected


def test_the_first_layers_inputs_are_those_of_the_naive_inference() -> None:
    work = made_up.workspace()
    for board in game_boards(seed=7, count=20):
        made_up.place(work, 2, board)
        own = 0 if board.turn == chess.WHITE else 1
        transform(work, 2, own, 0)
        transform(work, 2, 1 - own, 1)
        inputs = naive.transform(made_up.network(), board)
        assert work.inputs.reshape(-1).tolist() == inputs.tolist()
        for bucket in range(BUCKETS):
            expected = naive.propagate(made_up.network(), inputs, bucket)
            assert propagate(made_up.weights(), work, bucket) == expected


def test_the_value_is_that_of_the_naive_inference() -> None:
    work = made_up.workspace()
    for board in game_boards(seed=8, count=40):
        pos = made_up.place(work, 0, board)
        expected = naive.value(made_up.network(), board)
        assert network_value(made_up.weights(), work, 0, pos) == expected


def compare_with_stockfish(installed: InstalledNetwork, boards: list[chess.Board]) -> None:
    """Compare the network's value with what Stockfish's `eval` prints of it."""
    weights = arrange(installed.network)
    work = make_workspace(weights)
    for board, report in zip(boards, evaluate(STOCKFISH, boards), strict=True):
        per_pawn = units_per_pawn(installed.engine, board)
        if per_pawn is None or installed.engine == "Stockfish 17.1":  # it cuts before it adds
            pytest.skip(f"we don't know how {installed.engine} rounds")
        pos = tuple(made_up.words(board))
        for perspective in (0, 1):
            refresh(weights, work, 0, pos, perspective)
        value = network_value(weights, work, 0, pos)
        if abs(value) > 40 * per_pawn:  # where Stockfish overflows
            continue
        sign = 1 if board.turn == chess.WHITE else -1
        assert printed(sign * value, per_pawn) == report.network, board.fen()


def test_the_value_is_what_stockfish_prints(networks: list[InstalledNetwork]) -> None:
    compare_with_stockfish(networks[0], random_boards(400, seed=3))


@pytest.mark.slow
def test_the_value_is_what_stockfish_prints_of_many(networks: list[InstalledNetwork]) -> None:
    compare_with_stockfish(networks[0], random_boards(5000, seed=4))
