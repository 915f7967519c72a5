"""Moves as people type them."""

import pytest

from obscuro.cli.typed_moves import read_move
from obscuro.rules.board import FogOfWarBoard

START = FogOfWarBoard.starting_fen
PROMOTION = "8/P6k/8/8/8/8/8/K7 w - - 0 1"
KNIGHTS = "4k3/8/8/8/8/8/8/KN3N2 w - - 0 1"
CASTLING = "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1"
CAPTURES = "4k3/8/8/3p4/4P3/3B4/8/4K3 w - - 0 1"
BLOCKED = "4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "text", "uci"),
    [
        (START, "e2e4", "e2e4"),
        (START, " E2-E4 ", "e2e4"),
        (START, "e4", "e2e4"),
        (START, "E4", "e2e4"),
        (START, "Nf3", "g1f3"),
        (START, "nf3", "g1f3"),
        (START, "NF3!?", "g1f3"),
        (PROMOTION, "a8=Q", "a7a8q"),
        (PROMOTION, "a8n", "a7a8n"),
        (PROMOTION, "a7a8R", "a7a8r"),
        (PROMOTION, "a7a8=q", "a7a8q"),
        (KNIGHTS, "Nbd2", "b1d2"),
        (CASTLING, "O-O", "e1g1"),
        (CASTLING, "0-0-0", "e1c1"),
        (CASTLING, "oo", "e1g1"),
        (CASTLING, "e1c1", "e1c1"),
        (CAPTURES, "exd5", "e4d5"),
        (CAPTURES, "Bc4", "d3c4"),
    ],
)
def test_reads(fen: str, text: str, uci: str) -> None:
    assert read_move(FogOfWarBoard(fen), text).uci() == uci


@pytest.mark.parametrize(
    ("fen", "text", "message"),
    [
        (START, "hello", "'hello' is not a move; try e2e4 or Nf3, or help"),
        (START, "", "'' is not a move; try e2e4 or Nf3, or help"),
        (START, "0000", "'0000' is not a move; try e2e4 or Nf3, or help"),
        (START, "--", "'--' is not a move; try e2e4 or Nf3, or help"),
        (START, "e2e5", "e2e5 is not possible"),
        (START, "e5", "e5 is not possible"),
        (START, "O-O", "O-O is not possible"),
        (CAPTURES, "bc4", "bc4 is not possible"),
        (KNIGHTS, "Nd2", "Nd2 is ambiguous: more than one of your pieces can go there"),
        (PROMOTION, "a8", "say what the pawn becomes: a8q or a8n, for example"),
        (PROMOTION, "a7a8", "say what the pawn becomes: a7a8q or a7a8n, for example"),
        # What blocks a pawn is not seen, and not told.
        (BLOCKED, "e4", "e4 is not possible"),
    ],
)
def test_says_what_is_wrong_and_nothing_hidden(fen: str, text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_move(FogOfWarBoard(fen), text)
    assert str(caught.value) == message
