"""Both sides' beliefs along a recorded game, beside what the engine said when it played it."""

from __future__ import annotations

from pathlib import Path

import chess
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import read_game
from obscuro.viewer.make_document import read_remark
from obscuro.viewer.two_beliefs import replay
from tests.docs.pages import ROOT

GAME = ROOT / "docs" / "pictures" / "game.pgn"
SHOWN = ROOT / "docs" / "pictures" / "shown.pgn"


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
                assert known.belief.shares[piece, square] > 0
                if known.observation.seen >> square & 1:
                    assert known.belief.shares[piece, square] == 255


def test_a_belief_past_its_cap_is_a_sample_and_says_so() -> None:
    moves = list(read_game(GAME).mainline_moves())[:12]
    *_, last = replay(FogOfWarBoard(), moves, 50)
    for known in last.values():
        assert known.belief is not None
        assert not known.belief.exact
        assert known.belief.size <= 50


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
