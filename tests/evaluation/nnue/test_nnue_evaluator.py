"""The evaluator's contract, its values against the naive search, and against Stockfish's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import chess
import numpy as np
import pytest

from obscuro.cli.bench.eval_speed import agreement, bench_positions
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.nnue.capture_search import MATED
from obscuro.evaluation.nnue.install import InstalledNetwork
from obscuro.evaluation.nnue.nnue_evaluator import NnueEvaluator, value_of_units
from obscuro.evaluation.scale import value_of_mate, value_of_pawns
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from tests.evaluation.naive import (
    STOCKFISH,
    by_move,
    expect_children,
    game_boards,
    words_of,
)
from tests.evaluation.nnue import made_up
from tests.evaluation.nnue.naive_search import MATED as NAIVELY_MATED
from tests.evaluation.nnue.naive_search import CaptureSearch, static_value
from tests.evaluation.nnue.synthetic import random_network
from tests.sizes import quick_among


@functools.cache
def made_up_evaluator(searched: bool = True, tau: float = 6.0) -> NnueEvaluator:
    return NnueEvaluator(tau=tau, searched=searched, network=made_up.network())


def naive_value(units: int, tau: float = 6.0) -> float:
    """The value to the side whose move led to a position of `units`, and mates."""
    plies = NAIVELY_MATED - abs(units)  # from the position
    if plies < 100:
        return value_of_mate(plies // 2 + 1 if units > 0 else -((plies + 1) // 2))
    return value_of_pawns(units / 208, tau)


def expect(
    values: ChildValues,
    boards: Sequence[chess.Board],
    units_of: Callable[[chess.Board], int],
    tau: float = 6.0,
) -> None:
    """All children, each with its value: by the rules, or else from its units for who moved there."""
    expect_children(values, boards, lambda child: naive_value(units_of(child), tau))


@pytest.mark.parametrize("tau", quick_among([6.0, 2.5], lambda tau: tau == 6))
def test_values_are_those_of_the_naive_search(tau: float) -> None:
    boards = game_boards(seed=20, count=8)
    values = made_up_evaluator(tau=tau).evaluate(words_of(boards))
    expect(values, boards, lambda child: -CaptureSearch(made_up.network()).value(child), tau)


def test_without_a_search_children_are_valued_as_they_stand() -> None:
    boards = game_boards(seed=21, count=15)
    values = made_up_evaluator(searched=False).evaluate(words_of(boards))
    expect(values, boards, lambda child: -static_value(made_up.network(), child))


MIRROR = str.maketrans("12345678", "87654321")


@pytest.mark.parametrize("searched", [True, False])
def test_both_sides_see_the_same_value(searched: bool) -> None:
    boards = game_boards(seed=22, count=40)
    evaluator = made_up_evaluator(searched)
    values = evaluator.evaluate(words_of(boards))
    mirror_values = evaluator.evaluate(words_of([board.mirror() for board in boards]))
    for index in range(len(boards)):
        ours = by_move(values, index)
        theirs = by_move(mirror_values, index)
        assert {move.translate(MIRROR): value for move, value in ours.items()} == theirs


def test_a_batch_has_the_values_of_its_positions() -> None:
    boards = game_boards(seed=23, count=30)
    evaluator = made_up_evaluator()
    together = evaluator.evaluate(words_of(boards))
    assert together.values.dtype == np.float32
    for index, board in enumerate(boards):
        alone = evaluator.evaluate(words_of([board]))
        part = slice(together.offsets[index], together.offsets[index + 1])
        assert alone.moves.tolist() == together.moves[part].tolist()
        assert alone.values.tolist() == together.values[part].tolist()
        assert alone.terminal.tolist() == together.terminal[part].tolist()


def test_positions_without_a_king_and_none_at_all() -> None:
    evaluator = made_up_evaluator()
    assert evaluator.evaluate(np.empty((0, 8), dtype=np.uint64)).offsets.tolist() == [0]
    lost = chess.Board("8/8/8/3q4/8/8/8/4K3 w - - 0 1")
    values = evaluator.evaluate(words_of([lost, chess.Board("4k3/8/8/3q4/8/8/8/8 w - - 0 1")]))
    assert np.isfinite(values.values).all()


def test_positions_with_many_queens() -> None:
    crowded = chess.Board("QQQQkQQQ/8/8/8/8/8/qqqqqqqq/qqqqKqqq w - - 0 1")
    values = made_up_evaluator().evaluate(words_of([crowded]))
    assert np.isfinite(values.values).all()


def test_mates_have_the_values_of_mates() -> None:
    assert value_of_units(MATED, 6.0) == value_of_mate(1)
    assert value_of_units(1 - MATED, 6.0) == value_of_mate(-1)
    assert value_of_units(MATED - 2, 6.0) == value_of_mate(2)
    assert value_of_units(1248, 6.0) == pytest.approx(np.tanh(1.0))
    assert value_of_units(-20_000, 6.0) == value_of_pawns(-90.0, 6.0)


def test_closing_and_starting_again() -> None:
    evaluator = NnueEvaluator(network=made_up.network())
    evaluator.start()
    evaluator.start()
    evaluator.forget()
    evaluator.close()
    evaluator.close()
    assert len(evaluator.evaluate(words_of([chess.Board()])).values) == 20


@pytest.mark.slow
@pytest.mark.parametrize("width", [128, 1536])
def test_networks_of_other_widths(width: int) -> None:
    network = random_network(seed=2, width=width)
    boards = game_boards(seed=25, count=5)
    values = NnueEvaluator(network=network).evaluate(words_of(boards))
    expect(values, boards, lambda child: -CaptureSearch(network).value(child))


def test_it_ranks_children_as_stockfish_does(networks: list[InstalledNetwork]) -> None:
    positions = bench_positions()[::5]
    with StockfishEvaluator(STOCKFISH, reproducible=True) as stockfish:
        theirs = stockfish.evaluate(positions)
    ours = NnueEvaluator(STOCKFISH).evaluate(positions)
    assert ours.moves.tolist() == theirs.moves.tolist()
    assert ours.terminal.tolist() == theirs.terminal.tolist()
    found = agreement(positions, theirs, ours)
    assert found["rank_correlation"] > 0.92
    assert found["regret"] < 0.06
    if networks[0].engine == "Stockfish 15.1":  # what the scale was fitted to
        assert 0.95 < found["slope"] < 1.05
