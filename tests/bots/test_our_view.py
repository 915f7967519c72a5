"""The bridge's view: one side's account of a game that the server tells whole."""

from __future__ import annotations

import chess
import pytest

from obscuro.bots.our_view import OurView, ViewError
from obscuro.rules.board import PychessBoard
from obscuro.uci.positions import PositionReader
from tests.sizes import quick_among
from tests.uci.games import FENS, look_alikes, random_moves, turns_of


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("side", chess.COLORS)
@pytest.mark.parametrize("seed", quick_among(range(4), lambda seed: seed == 0))
def test_it_tells_what_a_side_did_and_saw(seed: int, side: chess.Color, fen: str) -> None:
    moves = random_moves(seed, 40, fen)
    view = OurView(side, fen)
    for ply in range(len(moves) + 1):
        view.follow(moves[:ply])
        turns = " ".join(turns_of(side, moves[:ply], fen))
        start = "startpos" if fen == chess.STARTING_FEN else f"fen {fen}"
        expected = f"position fog {chess.COLOR_NAMES[side]} {start}"
        assert view.position() == f"{expected} turns {turns}".rstrip()
        history = PositionReader().read(view.position().removeprefix("position "))
        assert set(history.moves) == set(view.legal_moves())
        assert history.our_turn == view.our_turn or view.decided


def test_what_is_hidden_does_not_come_out() -> None:
    first, second = (OurView(chess.WHITE, None) for _ in range(2))
    for view, moves in zip((first, second), look_alikes(6), strict=True):
        view.follow(moves)
    assert first.moves != second.moves
    assert first.position() == second.position()
    assert first.legal_moves() == second.legal_moves()


def test_a_game_may_be_taken_back() -> None:
    view = OurView(chess.BLACK, None)
    view.follow(["e2e4", "e7e5", "g1f3"])
    view.follow(["e2e4", "c7c5"])
    assert view.position().split()[5:] == turns_of(chess.BLACK, ["e2e4", "c7c5"])


def test_castling_may_be_written_as_the_king_taking_its_rook() -> None:
    fen = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
    for text, meant in (("e1h1", "e1g1"), ("e1g1", "e1g1"), ("e1a1", "e1c1")):
        view = OurView(chess.WHITE, fen)
        view.follow([text])
        assert f" turns {meant} " in view.position()


def test_the_kings_capture_decides_and_comes_first() -> None:
    view = OurView(chess.WHITE, "4k3/8/8/8/8/8/8/4RK2 w - - 0 1")
    assert view.legal_moves()[0] == "e1e8"
    view.follow(["e1e8"])
    assert view.decided and view.won and not view.our_turn
    assert view.legal_moves() == ()


def test_a_side_without_a_move_has_lost() -> None:
    view = OurView(chess.WHITE, "k7/8/8/8/1p6/pPp5/PRP5/KB6 w - - 0 1")
    assert view.decided and not view.won


def test_a_repeated_position_is_played_on() -> None:
    view = OurView(chess.WHITE, None)
    view.follow(["g1f3", "g8f6", "f3g1", "f6g8"] * 3)
    assert view.our_turn and not view.decided


@pytest.mark.parametrize("moves", [["e2e5"], ["e2e4", "e2e4"], ["hello"], ["0000"], [""]])
def test_bad_moves(moves: list[str]) -> None:
    with pytest.raises(ViewError, match=f"move {len(moves)} of the game"):
        OurView(chess.WHITE, None).follow(moves)


def test_a_bad_start() -> None:
    with pytest.raises(ViewError, match="bad FEN"):
        OurView(chess.WHITE, "8/8/8/8/8/8/8/8 w - - 0 1")


def test_on_pychess_a_pawn_may_be_hidden_that_could_be_captured() -> None:
    """The server takes the capture all the same, so the other side may make it."""
    start = "4k3/3p4/8/4P3/1p6/8/2P5/4K3 b - - 0 1"
    view = OurView(chess.WHITE, start, PychessBoard)
    view.follow(["d7d5"])
    assert view.position().endswith(",?")
    assert "e5d6" not in view.legal_moves()
    usual = OurView(chess.WHITE, start)
    usual.follow(["d7d5"])
    assert usual.position().endswith(",d6") and "e5d6" in usual.legal_moves()
    view.follow(["d7d5", "c2c4", "b4c3"])  # en passant
    assert "b4c3" in view.moves


def test_on_pychess_a_pawn_that_we_see_can_be_captured() -> None:
    view = OurView(chess.WHITE, "4k3/3p4/8/4P3/8/1B6/8/4K3 b - - 0 1", PychessBoard)
    view.follow(["d7d5"])
    assert view.position().endswith(",d6") and "e5d6" in view.legal_moves()


BESIDE = "rk2r3/8/8/8/8/8/8/RK2R3 w KQkq - 0 1"


def test_a_game_of_chess960_is_known_by_its_rights() -> None:
    for start in (BESIDE, BESIDE.replace("KQkq", "EAea")):
        view = OurView(chess.WHITE, start)
        assert {"b1e1", "b1a1"} <= set(view.legal_moves())
        view.follow(["b1e1", "b8a8"])
        assert "h1" not in view.position() and "b1e1" in view.position()
    usual = OurView(chess.WHITE, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", chess960=True)
    assert {"e1h1", "e1a1"} <= set(usual.legal_moves())


def test_castling_that_a_side_could_not_use_with_its_eyes_is_given_up() -> None:
    view = OurView(chess.WHITE, BESIDE, PychessBoard)
    assert "b1e1" in view.legal_moves() and "b1a1" not in view.legal_moves()
    black = OurView(chess.BLACK, BESIDE, PychessBoard)
    black.follow(["b1a1"])  # the other side may
    assert "b8a8" not in black.legal_moves()
