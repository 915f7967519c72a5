from __future__ import annotations

import chess
import pytest

from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import PositionReader
from tests.uci.games import random_moves, turns_of

MOVES = random_moves(7, 30)


def whole(moves: list[str]) -> str:
    return "startpos moves " + " ".join(moves)


def fog(side: chess.Color, moves: list[str]) -> str:
    turns = " ".join(turns_of(side, moves))
    return f"fog {chess.COLOR_NAMES[side]} startpos turns {turns}"


@pytest.mark.parametrize("form", [whole, lambda moves: fog(chess.WHITE, moves)])
def test_going_on_gives_the_same_as_reading_it_all(form) -> None:  # type: ignore[no-untyped-def]
    reader = PositionReader()
    for plies in (0, 2, 4, 4, 10, 6, 30, 1, 29):
        text = form(MOVES[:plies])
        assert reader.read(text) == PositionReader().read(text)


def test_a_game_with_more_plies_continues_and_nothing_else_does() -> None:
    reader = PositionReader()
    four, six = reader.read(whole(MOVES[:4])), reader.read(whole(MOVES[:6]))
    assert six.continues(four)
    assert not four.continues(six)
    assert not six.continues(six)
    assert not reader.read(whole(MOVES[:5])).continues(four)  # the other side's game
    assert not reader.read("startpos moves a2a3 a7a6 b2b3 b7b6 c2c3 c7c6").continues(four)
    moved = "fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1 moves "
    assert not reader.read(moved + "a2a3 a7a6 b2b3 b7b6 c2c3 c7c6").continues(four)


def test_both_forms_are_the_same_game() -> None:
    reader = PositionReader()
    four = reader.read(whole(MOVES[:4]))
    assert reader.read(fog(chess.WHITE, MOVES[:6])).continues(four)


def test_a_turn_left_in_its_middle_can_be_finished() -> None:
    reader = PositionReader()
    tokens = turns_of(chess.WHITE, ["e2e4", "d7d5"])
    with pytest.raises(ProtocolError):
        reader.read("fog white startpos turns " + tokens[0])
    assert len(reader.read("fog white startpos turns " + " ".join(tokens)).plies) == 2


def test_goes_on_rightly_after_an_error() -> None:
    reader = PositionReader()
    before = reader.read(whole(MOVES[:6]))
    for bad in ([*MOVES[:8], "e1e8"], ["e2e5"], [*MOVES[:6], "xx", *MOVES[6:8]]):
        with pytest.raises(ProtocolError):
            reader.read(whole(bad))
    with pytest.raises(ProtocolError):
        reader.read("fen 8/8/8/8/8/8/8/8 w - - 0 1")
    after = reader.read(whole(MOVES[:8]))
    assert after == PositionReader().read(whole(MOVES[:8]))
    assert after.continues(before)


def test_our_king_is_in_what_we_see_after_our_move() -> None:
    """An account without it has no position at all, so nothing could be rebuilt."""
    reader = PositionReader()
    before = "fog white fen 4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1 turns e2e4"
    gone = "********/********/********/**1*1***/***1P***/********/***1*1**/***2***"
    kept = "********/********/********/****1***/****P***/********/***3**/***1K1**"
    with pytest.raises(ProtocolError, match="white's king is not in what was seen after e2e4"):
        reader.read(f"{before} {gone}")
    assert reader.read(f"{before} {kept}").over is None
