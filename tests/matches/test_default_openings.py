"""The openings that come with the package are legal, safe for both kings, and all different."""

from __future__ import annotations

import chess
import pytest

from obscuro.matches.openings import Opening, default_openings
from obscuro.rules.board import FogOfWarBoard
from tools.record.choose_openings import largest_gain

OPENINGS = default_openings()


def lines() -> list[object]:
    return [pytest.param(opening, id=opening.name) for opening in OPENINGS]


def test_there_are_enough_openings_for_a_long_match() -> None:
    assert 60 <= len(OPENINGS) <= 100


def test_names_and_positions_differ() -> None:
    positions = {opening.start().epd(en_passant="legal") for opening in OPENINGS}
    assert len(positions) == len(OPENINGS)
    assert len({opening.name for opening in OPENINGS}) == len(OPENINGS)


@pytest.mark.parametrize("opening", lines())
def test_a_line_is_short_and_legal(opening: Opening) -> None:
    assert 2 <= len(opening.moves) <= 6
    board = FogOfWarBoard()
    for text in opening.moves:
        assert chess.Move.from_uci(text) in board.legal_moves
        board.push_uci(text)
    assert not board.is_game_over()


@pytest.mark.parametrize("opening", lines())
def test_both_sides_have_all_pieces_and_no_king_is_attacked(opening: Opening) -> None:
    board = opening.start()
    for color in chess.COLORS:
        own = chess.popcount(board.occupied_co[color])
        assert own >= 15  # a pawn may be gone
        king = board.king(color)
        assert king is not None and not board.is_attacked_by(not color, king)


@pytest.mark.parametrize("opening", lines())
def test_no_side_can_win_more_than_a_pawn_at_once(opening: Opening) -> None:
    assert largest_gain(opening.start()) <= 1
