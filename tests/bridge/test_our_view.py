"""The bridge's referee: one side's account of a game that the server tells whole."""

from __future__ import annotations

import chess
import pytest

from obscuro.bridge.our_view import Referee, RefereeError
from obscuro.protocol.positions import PositionReader
from tests.protocol.games import FENS, look_alikes, random_moves, turns_of


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("side", chess.COLORS)
def test_it_tells_what_a_side_did_and_saw(side: chess.Color, fen: str) -> None:
    for seed in range(4):
        moves = random_moves(seed, 40, fen)
        referee = Referee(side, fen)
        for ply in range(len(moves) + 1):
            referee.follow(moves[:ply])
            turns = " ".join(turns_of(side, moves[:ply], fen))
            expected = f"position fog {chess.COLOR_NAMES[side]} fen {fen}"
            assert referee.position() == expected + (f" turns {turns}" if turns else "")
            history = PositionReader().read(referee.position().removeprefix("position "))
            assert set(history.moves) == set(referee.legal_moves())
            assert history.our_turn == referee.our_turn or referee.decided


def test_what_is_hidden_does_not_come_out() -> None:
    first, second = (Referee(chess.WHITE, None) for _ in range(2))
    for referee, moves in zip((first, second), look_alikes(6), strict=True):
        referee.follow(moves)
    assert first.moves != second.moves
    assert first.position() == second.position()
    assert first.legal_moves() == second.legal_moves()


def test_a_game_may_be_taken_back() -> None:
    referee = Referee(chess.BLACK, None)
    referee.follow(["e2e4", "e7e5", "g1f3"])
    referee.follow(["e2e4", "c7c5"])
    assert referee.position().split()[5:] == turns_of(chess.BLACK, ["e2e4", "c7c5"])


def test_castling_may_be_written_as_the_king_taking_its_rook() -> None:
    fen = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1"
    for text, meant in (("e1h1", "e1g1"), ("e1g1", "e1g1"), ("e1a1", "e1c1")):
        referee = Referee(chess.WHITE, fen)
        referee.follow([text])
        assert f" turns {meant} " in referee.position()


def test_the_kings_capture_decides_and_comes_first() -> None:
    referee = Referee(chess.WHITE, "4k3/8/8/8/8/8/8/4RK2 w - - 0 1")
    assert referee.legal_moves()[0] == "e1e8"
    referee.follow(["e1e8"])
    assert referee.decided and referee.won and not referee.our_turn
    assert referee.legal_moves() == ()


def test_a_side_without_a_move_has_lost() -> None:
    referee = Referee(chess.WHITE, "k7/8/8/8/1p6/pPp5/PRP5/KB6 w - - 0 1")
    assert referee.decided and not referee.won


def test_a_repeated_position_is_played_on() -> None:
    referee = Referee(chess.WHITE, None)
    referee.follow(["g1f3", "g8f6", "f3g1", "f6g8"] * 3)
    assert referee.our_turn and not referee.decided


@pytest.mark.parametrize("moves", [["e2e5"], ["e2e4", "e2e4"], ["hello"], ["0000"], [""]])
def test_bad_moves(moves: list[str]) -> None:
    with pytest.raises(RefereeError, match=f"move {len(moves)} of the game"):
        Referee(chess.WHITE, None).follow(moves)


def test_a_bad_start() -> None:
    with pytest.raises(RefereeError, match="bad FEN"):
        Referee(chess.WHITE, "8/8/8/8/8/8/8/8 w - - 0 1")
