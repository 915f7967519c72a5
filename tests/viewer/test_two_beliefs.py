"""Both sides' beliefs along a recorded game, beside what the engine said when it played it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import chess
import numpy as np
import pytest

from obscuro.belief.marginals import piece_counts
from obscuro.matches.openings import draft_openings
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from obscuro.viewer.game_file import read_game
from obscuro.viewer.make_document import read_remark
from obscuro.viewer.two_beliefs import SideKnowledge, TwoBeliefs, heat_maps, levels
from tests.belief.test_marginals import LINE, belief_after, board_after, naive_counts
from tests.docs.pages import ROOT

GAME = ROOT / "docs" / "pictures" / "game.pgn"
SHOWN = ROOT / "docs" / "pictures" / "shown.pgn"


def replay(
    board: FogOfWarBoard, moves: list[chess.Move], max_positions: int
) -> Iterator[dict[chess.Color, SideKnowledge]]:
    """Yield what both sides know at the start and after each move, which is made on the board."""
    beliefs = TwoBeliefs(board, max_positions)
    try:
        yield beliefs.known(board)
        for move in moves:
            board.push(move)
            yield beliefs.after_ply(board)
    finally:
        beliefs.close()


@pytest.mark.parametrize("file", [GAME, SHOWN], ids=["game", "shown"])
def test_sizes_are_those_that_the_engine_reported(file: Path) -> None:
    game = read_game(file)
    board = game.board()
    assert isinstance(board, FogOfWarBoard)
    nodes = list(game.mainline())[:40]
    compared = 0
    known = replay(board, [node.move for node in nodes], 1_000_000)
    for node, sides in zip(nodes, known, strict=False):
        belief = sides[not node.turn()].belief
        report = read_remark(node).report
        if report.exact:
            assert belief is not None and belief.exact
            assert belief.size == report.belief
            compared += 1
    assert compared > 30


def test_the_true_pieces_are_among_the_possible_ones() -> None:
    game = read_game(GAME)
    board = game.board()
    assert isinstance(board, FogOfWarBoard)
    for sides in replay(board, list(game.mainline_moves())[:30], 1_000_000):
        for color, known in sides.items():
            assert known.belief is not None
            for square in chess.SquareSet(board.occupied_co[not color]):
                piece = board.piece_type_at(square)
                assert piece is not None
                assert known.belief.even.shares[piece, square] > 0
                if known.belief.weighted is not None:
                    assert known.belief.weighted.shares[piece, square] > 0
                if known.observation.seen >> square & 1:
                    assert known.belief.even.shares[piece, square] == 255


def test_a_belief_past_its_cap_is_a_sample_and_says_so() -> None:
    moves = list(read_game(GAME).mainline_moves())[:12]
    *_, last = replay(FogOfWarBoard(), moves, 50)
    for known in last.values():
        assert known.belief is not None
        assert not known.belief.exact
        assert known.belief.size <= 50


def test_a_belief_that_is_too_large_has_no_weights_and_a_sample_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moves = list(read_game(GAME).mainline_moves())[:12]
    for most, weighted, expected in ((1_000_000, 2_000_000, True), (50, 50, True), (50, 5, False)):
        monkeypatch.setattr("obscuro.belief.posterior.MOST_WEIGHTED", weighted)
        *_, last = replay(FogOfWarBoard(), moves, most)
        belief = last[chess.BLACK].belief
        assert belief is not None and belief.size > 1
        assert (belief.weighted is not None) == expected


@pytest.mark.parametrize(("move", "over"), [("e7e8", True), ("e7e6", False)])
def test_there_is_no_belief_once_the_game_is_over(move: str, over: bool) -> None:
    board = FogOfWarBoard("4k3/4Q3/8/8/8/8/8/4K3 w - - 0 1")
    *_, last = replay(board, [chess.Move.from_uci(move)], 1000)
    for color, known in last.items():
        assert known.observation == board.observation(color)
        assert (known.belief is None) == over


def test_a_draw_by_repetition_ends_no_belief() -> None:
    moves = [chess.Move.from_uci(uci) for uci in ("g1f3", "g8f6", "f3g1", "f6g8") * 2]
    board = FogOfWarBoard()
    *_, last = replay(board, moves, 1000)
    assert board.outcome() is not None
    assert all(known.belief is not None for known in last.values())


# -- the shares of pieces -------------------------------------------------------------------


@pytest.mark.parametrize("side", chess.COLORS)
def test_weights_count_as_in_a_look_at_every_piece(side: chess.Color) -> None:
    board, belief = board_after(LINE), belief_after(LINE, side)
    assert belief.weights is not None
    weights = belief.weights.tolist()
    assert max(weights) > 2 * min(weights)
    expected = naive_counts(belief.positions, not side, weights)
    assert np.allclose(piece_counts(belief.records, belief.weights), expected)
    even, weighted = heat_maps(belief, board)
    assert weighted is not None
    near = np.abs(weighted.shares / 255 - expected / sum(weights)) <= 1 / 255
    assert near.all()
    assert not np.array_equal(even.shares, weighted.shares)
    truth = [bool((words == from_board(board)).all()) for words in belief.positions].index(True)
    assert even.truth == 1 / len(belief)
    assert math.isclose(weighted.truth, weights[truth] / len(belief), rel_tol=1e-4)


def test_a_position_that_is_not_in_the_belief_has_no_share() -> None:
    even, weighted = heat_maps(belief_after("e4 d5", chess.BLACK), board_after("d4 d5"))
    assert weighted is not None
    assert (even.truth, weighted.truth) == (0.0, 0.0)


def test_levels_are_near_the_shares_and_keep_what_is_certain_apart() -> None:
    positions = 100_000
    counts = np.array([0.0, 1, 50_000, 99_999, 100_000])
    assert levels(counts, counts, positions).tolist() == [0, 1, 128, 254, 255]
    for count in range(0, positions, 997):
        one = np.array([float(count)])
        level = int(levels(one, one, positions)[0])
        assert abs(Fraction(level, 255) - Fraction(count, positions)) <= Fraction(1, 255)


def test_no_weight_makes_the_possible_impossible_or_certain() -> None:
    counts = np.array([0.0, 1, 99, 100])
    weights = np.array([0.0, 1e-9, 100 - 1e-9, 100.00001])
    assert levels(weights, counts, 100).tolist() == [0, 1, 254, 255]


def test_an_empty_belief_has_no_shares() -> None:
    with pytest.raises(ValueError, match="without positions"):
        levels(np.zeros(1), np.zeros(1), 0)


def test_after_a_draft_the_truth_is_among_the_possible_starts() -> None:
    board = draft_openings()[17].start()
    moves = [chess.Move.from_uci(uci) for uci in ("a2a3", "h7h6", "a3a4", "h6h5")]
    sizes = []
    for known in replay(board, moves, 1_000_000):
        for side in known.values():
            assert side.belief is not None and side.belief.even.truth > 0
            assert side.belief.exact
        sizes.append(known[chess.WHITE].belief)
    assert [each.size for each in sizes if each is not None][:2] == [960, 960]
