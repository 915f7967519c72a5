"""Values by Stockfish: against a naive client, and through its failures."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.evaluation.children import expand
from obscuro.evaluation.evaluator import ChildValues, EvaluatorFailed
from obscuro.evaluation.scale import value_of_mate
from obscuro.evaluation.stockfish.requests import stockfish_can_take
from obscuro.evaluation.stockfish.stockfish_evaluator import STARTS, StockfishEvaluator
from obscuro.rules.position import from_board
from obscuro.rules.tables import TABLES
from tests.evaluation.fakes import QUICK, fake_search, is_gone, starts_of
from tests.evaluation.naive import (
    STOCKFISH,
    NaiveStockfish,
    by_move,
    game_boards,
    king_hangs,
    needs_stockfish,
    words_of,
)

# Fog positions with something special: a king to capture, castling out of and through check,
# no legal move of chess (mate, stalemate), en passant beside a check that stood before, and pinned.
SPECIAL = [
    "rnbqkbnr/ppp2ppp/3p4/1B2p3/4P3/8/PPPP1PPP/RNBQK1NR w KQkq - 0 1",
    "r3k2r/8/8/8/8/5r2/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/8/4r3/8/R3K2R w KQkq - 0 1",
    "r3k2r/8/8/8/1b6/8/8/R3K2R w KQkq - 0 1",
    "1r2k3/8/8/8/8/8/8/R3K3 w Q - 0 1",
    "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 0 1",
    "7k/5Q2/5K2/8/8/8/8/8 b - - 0 1",
    "k7/8/1Q6/8/8/8/8/7K b - - 0 1",
    "4k3/8/8/3pP3/8/3n4/8/4K3 w - d6 0 1",
    "4k2b/8/8/2PpP3/8/8/1K6/8 w - d6 0 1",
    "4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 1",
    "8/P6k/8/8/8/8/8/K7 w - - 0 1",
    "k7/8/8/8/8/8/8/K7 w - - 0 1",
]


@pytest.fixture(scope="module")
def naive() -> Iterator[NaiveStockfish]:
    oracle = NaiveStockfish()
    yield oracle
    oracle.close()


@pytest.fixture(scope="module")
def evaluator() -> Iterator[StockfishEvaluator]:
    with StockfishEvaluator(STOCKFISH) as evaluator:
        evaluator.start()
        yield evaluator


@pytest.fixture
def quick() -> Iterator[StockfishEvaluator]:
    """One that gives up soon, with a process of its own to mistreat."""
    with StockfishEvaluator(STOCKFISH, limits=QUICK, reproducible=True) as evaluator:
        evaluator.start()
        yield evaluator


def boards_to_compare() -> list[chess.Board]:
    return game_boards(seed=7, count=40) + [chess.Board(fen) for fen in SPECIAL]


def assert_same(found: ChildValues, expected: ChildValues) -> None:
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


@needs_stockfish
@pytest.mark.parametrize("depth", [1, 4])
def test_values_are_those_of_a_naive_client(depth: int) -> None:
    # Both have Stockfish forget what it searched before; then a depth is reproducible, and all that
    # is left is the rounding of a value to float32.
    boards = boards_to_compare()
    with StockfishEvaluator(STOCKFISH, reproducible=True) as evaluator:
        evaluator.go = f"depth {depth}"
        values = evaluator.evaluate(words_of(boards))
    with contextlib.closing(NaiveStockfish(depth=depth)) as naive:
        for index, board in enumerate(boards):
            found = by_move(values, index)
            expected = naive.values(board)
            assert found.keys() == expected.keys()
            for move, (value, terminal) in expected.items():
                wanted = pytest.approx(value, abs=1e-6), terminal
                assert found[move] == wanted, (board.fen(), move)


@needs_stockfish
def test_what_stockfish_has_learnt_changes_little(
    naive: NaiveStockfish, evaluator: StockfishEvaluator
) -> None:
    # The default lets its hash table and its histories live on. A few values then differ, some by
    # a lot (a search of depth 1 that finds a tactic or does not); the mean must not.
    boards = boards_to_compare()
    values = evaluator.evaluate(words_of(boards))
    differences = [
        abs(by_move(values, index)[move][0] - value)
        for index, board in enumerate(boards)
        for move, (value, _) in naive.values(board).items()
    ]
    assert float(np.median(differences)) < 1e-6
    assert float(np.mean(differences)) < 0.03


@needs_stockfish
def test_decided_children_keep_their_values(evaluator: StockfishEvaluator) -> None:
    positions = words_of(game_boards(seed=8, count=100))
    decided = expand(positions, find_mates=True)
    found = evaluator.evaluate(positions)
    known = ~np.isnan(decided.values)
    np.testing.assert_array_equal(found.values[known], decided.values[known])
    np.testing.assert_array_equal(found.terminal, decided.terminal)
    np.testing.assert_array_equal(found.moves, decided.moves)
    assert (np.abs(found.values[~known]) < 1).all()


@needs_stockfish
def test_stockfish_survives_whatever_the_fog_brings(evaluator: StockfishEvaluator) -> None:
    boards = game_boards(seed=9, count=700)
    assert sum(king_hangs(board, not board.turn) for board in boards) > 50
    pid = evaluator.pid
    values = evaluator.evaluate(words_of(boards))
    assert np.isfinite(values.values).all()
    assert evaluator.pid == pid


@needs_stockfish
def test_stockfish_survives_positions_that_no_game_leads_to(evaluator: StockfishEvaluator) -> None:
    rng = random.Random(10)
    positions = []
    while len(positions) < 400:
        board = chess.Board(None)
        squares = rng.sample(chess.SQUARES, 64)
        for color in chess.COLORS:
            board.set_piece_at(squares.pop(), chess.Piece(chess.KING, color))
            for _ in range(rng.randint(0, 15)):
                piece, square = chess.Piece(rng.randint(1, 5), color), squares.pop()
                if piece.piece_type != chess.PAWN or 0 < chess.square_rank(square) < 7:
                    board.set_piece_at(square, piece)
        board.turn = rng.random() < 0.5
        board.castling_rights = chess.BB_CORNERS  # what does not fit is left out
        board.ep_square = rng.choice(list(chess.SquareSet(chess.BB_RANK_6 | chess.BB_RANK_3)))
        words = from_board(board)
        if stockfish_can_take(TABLES, tuple(words)):
            positions.append(words)
    pid = evaluator.pid
    assert np.isfinite(evaluator.evaluate(np.array(positions)).values).all()
    assert evaluator.pid == pid


@needs_stockfish
@pytest.mark.parametrize("size", [0, 1, 2, 15, 64, 500])
def test_batches_of_any_size(evaluator: StockfishEvaluator, size: int) -> None:
    positions = words_of(game_boards(seed=10, count=25))
    batch = positions[np.arange(size) % len(positions)]
    values = evaluator.evaluate(batch)
    assert len(values.offsets) == size + 1
    assert len(values.values) == values.offsets[-1]
    assert np.isfinite(values.values).all()


@needs_stockfish
def test_positions_that_are_none_get_values_too(evaluator: StockfishEvaluator) -> None:
    pid = evaluator.pid
    positions = words_of(
        [
            chess.Board("kk6/8/8/8/8/8/8/K7 w - - 0 1"),
            chess.Board("P6k/8/8/8/8/8/8/K7 b - - 0 1"),
            chess.Board("8/8/8/8/8/8/8/K7 w - - 0 1"),
        ]
    )
    assert np.isfinite(evaluator.evaluate(positions).values).all()
    assert np.isfinite(evaluator.evaluate(np.zeros((2, 8), dtype=np.uint64)).values).all()
    assert evaluator.pid == pid


@needs_stockfish
def test_fog_castling_is_valued(evaluator: StockfishEvaluator) -> None:
    boards = [chess.Board(fen) for fen in SPECIAL[1:4]]
    values = evaluator.evaluate(words_of(boards))
    through = by_move(values, 0)  # a rook looks at f1
    assert -1 < through["e1c1"][0] < 0
    assert -1 < through["e1g1"][0] < 0
    out_of = by_move(values, 1)  # a rook gives check on the e-file
    assert -1 < out_of["e1c1"][0] < 1
    assert out_of["a1a2"][0] == -1


@needs_stockfish
def test_beside_a_king_to_capture_others_are_searched_if_wanted(
    evaluator: StockfishEvaluator,
) -> None:
    positions = words_of([chess.Board(SPECIAL[0])])
    with StockfishEvaluator(STOCKFISH, search_dominated=False) as frugal:
        cheap = by_move(frugal.evaluate(positions), 0)
    full = by_move(evaluator.evaluate(positions), 0)
    assert cheap["b5e8"] == full["b5e8"] == (1.0, True)
    assert cheap.keys() == full.keys()
    assert all(abs(value) < 1 for move, (value, _) in cheap.items() if move != "b5e8")
    assert len({value for value, _ in full.values()}) > len({value for value, _ in cheap.values()})


@needs_stockfish
def test_tau_sets_the_scale() -> None:
    positions = words_of([chess.Board()])
    with (
        StockfishEvaluator(STOCKFISH, tau=6.0, reproducible=True) as usual,
        StockfishEvaluator(STOCKFISH, tau=3.0, reproducible=True) as steep,
    ):
        np.testing.assert_allclose(
            np.arctanh(steep.evaluate(positions).values),
            2 * np.arctanh(usual.evaluate(positions).values),
            rtol=1e-4,
        )


@needs_stockfish
def test_a_mate_is_short_of_certainty(evaluator: StockfishEvaluator) -> None:
    found = by_move(evaluator.evaluate(words_of([chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")])), 0)
    assert found["a1a8"] == (np.float32(value_of_mate(1)), False)


@needs_stockfish
def test_submit_and_collect_are_evaluate_in_two(quick: StockfishEvaluator) -> None:
    positions = words_of(game_boards(seed=11, count=20))
    whole = quick.evaluate(positions)
    quick.submit(positions)
    with pytest.raises(RuntimeError, match="not collected"):
        quick.submit(positions)
    assert_same(quick.collect(), whole)
    with pytest.raises(RuntimeError, match="no batch"):
        quick.collect()


@needs_stockfish
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV])
def test_a_process_lost_in_mid_batch_is_replaced(
    quick: StockfishEvaluator, blow: signal.Signals
) -> None:
    positions = words_of(game_boards(seed=12, count=30))
    whole = quick.evaluate(positions)
    victim = quick.pid
    assert victim is not None
    quick.submit(positions)
    os.kill(victim, blow)
    assert_same(quick.collect(), whole)
    assert quick.pid != victim
    assert is_gone(victim)


@needs_stockfish
def test_a_process_lost_between_batches_is_replaced(quick: StockfishEvaluator) -> None:
    positions = words_of(game_boards(seed=13, count=5))
    whole = quick.evaluate(positions)
    for _ in range(2):
        assert quick.pid is not None
        os.kill(quick.pid, signal.SIGKILL)
        assert_same(quick.evaluate(positions), whole)


@needs_stockfish
def test_after_close_nothing_is_left_and_nothing_starts(quick: StockfishEvaluator) -> None:
    pid = quick.pid
    assert pid is not None
    quick.submit(words_of([chess.Board()]))
    quick.close()
    assert is_gone(pid)
    with pytest.raises(EvaluatorFailed, match="closed"):
        quick.collect()
    with pytest.raises(EvaluatorFailed, match="closed"):
        quick.evaluate(words_of([chess.Board()]))
    quick.close()


@needs_stockfish
def test_close_interrupts_a_batch_in_another_thread() -> None:
    evaluator = StockfishEvaluator(STOCKFISH, limits=QUICK._replace(silence=60.0, starved=60.0))
    evaluator.start()
    assert evaluator.pid is not None
    os.kill(evaluator.pid, signal.SIGSTOP)
    outcome: list[BaseException] = []

    def work() -> None:
        try:
            evaluator.evaluate(words_of([chess.Board()]))
        except EvaluatorFailed as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    evaluator.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(outcome) == 1
    assert evaluator.pid is None


@pytest.mark.parametrize(
    "body",
    [
        "say('garbage\\n' * 10)",
        "sys.exit(1)",
        "say('bestmove e2e4\\n')",  # without any score
        "say('info depth 1 multipv 1 score cp 1 pv a5a6\\nbestmove e2e4\\n')",
        "say('info depth 1 multipv 1 score cp 1 pv e2e4\\nbestmove a5a6\\n')",
        "say('\\x00\\xff' * 50 + '\\nbestmove e2e4\\n')",
    ],
)
def test_nonsense_again_and_again_is_a_failure(tmp_path: Path, body: str) -> None:
    path = fake_search(tmp_path, body)
    with StockfishEvaluator(path, limits=QUICK) as evaluator:
        for _ in range(2):
            with pytest.raises(EvaluatorFailed, match="failed, and again") as failure:
                evaluator.evaluate(words_of([chess.Board()]))
            assert failure.value.for_good
        assert starts_of(path) == STARTS
        with pytest.raises(EvaluatorFailed, match="failed, and again"):
            evaluator.start()
    assert starts_of(path) == 2 * STARTS


def test_what_does_not_start_is_a_failure_at_once(tmp_path: Path) -> None:
    path = fake_search(tmp_path, "pass")
    Path(path).write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(EvaluatorFailed, match="does not start"):
        StockfishEvaluator(path).start()
    with pytest.raises(EvaluatorFailed, match="there is no program"):
        StockfishEvaluator(str(tmp_path / "none")).start()


@needs_stockfish
def test_after_forgetting_the_same_batches_get_the_same_values_again(
    evaluator: StockfishEvaluator,
) -> None:
    batches = [words_of(game_boards(seed, 20)) for seed in (1, 2)]

    def play() -> list[bytes]:
        evaluator.forget()
        return [evaluator.evaluate(batch).values.tobytes() for batch in batches]

    assert play() == play() == play()
