"""The text of an observation: one grammar, one error for each fault, and nothing lost both ways."""

from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from tests import reference
from tests.uci.games import FENS, random_moves

SQUARES = st.integers(0, 63)
ROWS = st.one_of(
    st.sampled_from(["8", "********", "????????", "PPPPPPPP", "4K3", "**k**3*", "44", "1*1*1*1*"]),
    st.text("pnbrqkPNBRQK*?12345678", max_size=9),
)
EN_PASSANT = st.sampled_from(["", "", ",", ",-", ",e3", ",a6", ",z9", ",e3,e4"])
NEARLY = st.tuples(st.lists(ROWS, min_size=7, max_size=9).map("/".join), EN_PASSANT).map("".join)
EMPTY = "8/8/8/8/8/8/8/8"


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    """Any pieces that a board can show, with any squares seen around them."""
    pieces = draw(st.dictionaries(SQUARES, st.sampled_from("nbrqNBRQ"), max_size=12))
    pieces |= draw(st.dictionaries(st.integers(8, 55), st.sampled_from("pP"), max_size=4))
    pieces |= zip(draw(st.lists(SQUARES, unique=True, max_size=2)), "kK", strict=False)
    board = chess.BaseBoard.empty()
    for square, symbol in pieces.items():
        board.set_piece_at(square, chess.Piece.from_symbol(symbol))
    seen = board.occupied | draw(st.integers(0, chess.BB_ALL))
    return Observation.on(board, seen, draw(st.none() | SQUARES))


@given(observations())
def test_what_is_written_is_read_back(observation: Observation) -> None:
    assert Observation.parse(observation.text()) == observation


@given(observations())
def test_the_placement_is_a_fen_where_all_is_seen(observation: Observation) -> None:
    everything = Observation(chess.BB_ALL, observation.boards)
    assert everything.text() == observation.board().board_fen()


@given(st.one_of(st.text(max_size=90), NEARLY))
def test_any_text_gives_an_observation_or_a_value_error_of_one_line(text: str) -> None:
    try:
        observation = Observation.parse(text)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    placement, _, square = text.partition(",")
    written, _, written_square = observation.text().partition(",")
    assert cells(written) == cells(placement)
    assert written_square == square.removeprefix("-")


def cells(placement: str) -> str:
    """The 64 cells of a placement, written out."""
    for digit in "12345678":
        placement = placement.replace(digit, "." * int(digit))
    return placement.replace("?", "*").replace("/", "")


@pytest.mark.parametrize("fen", FENS)
def test_reads_what_the_reference_writes(fen: str) -> None:
    board = FogOfWarBoard(fen)
    for move in random_moves(3, 40, fen):
        board.push_uci(move)
        plain = chess.Board(board.fen(en_passant="fen"))
        for side in chess.COLORS:
            text = reference.observation_text(plain, side)
            observation = Observation.parse(text)
            assert observation.text() == text
            assert observation.seen == board.vision_mask(side)
            assert observation.en_passant == board.ep_target(side)
            assert observation.board() == board.fogged(side)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "8 ranks, this has 1"),
        ("/", "8 ranks, this has 2"),
        ("8/8/8/8/8/8/8", "8 ranks, this has 7"),
        ("8/8/8/8/8/8/8/9", "rank 1 has '9', which no observation has"),
        ("8/8/8/8/8/8/8/x7", "rank 1 has 'x', which no observation has"),
        ("7/8/8/8/8/8/8/8", "rank 8 has 7 squares, not 8"),
        ("8/8/8/8/8/8/8/*******", "rank 1 has 7 squares, not 8"),
        ("44/8/8/8/8/8/8/8k", "rank 1 has 9 squares, not 8"),
        (f"{EMPTY},e9", "no such en passant square: 'e9'"),
        ("P7/8/8/8/8/8/8/8", "there is a pawn on a back rank"),
        ("KK6/8/8/8/8/8/8/8", "white has more than one king"),
        ("8/nnnnnnnn/nnnnnnnn/n7/8/8/8/8", "black has more than 16 pieces"),
    ],
)
def test_says_what_is_wrong(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        Observation.parse(text)


def test_both_signs_for_unseen_squares_are_read() -> None:
    text = "****????/8/8/8/8/8/8/4K3"
    assert Observation.parse(text) == Observation.parse(text.replace("?", "*"))


@pytest.mark.parametrize("suffix", ["", ",", ",-"])
def test_no_en_passant_square_may_be_written_in_three_ways(suffix: str) -> None:
    assert Observation.parse(EMPTY + suffix) == Observation(chess.BB_ALL, (0, 0, 0, 0, 0, 0, 0))


def test_symbols_tell_unseen_empty_and_pieces_apart() -> None:
    symbols = Observation.parse("*******k/8/8/8/8/8/8/R*******").symbols()
    assert (symbols[chess.A1], symbols[chess.B1], symbols[chess.A2]) == ("R", "*", ".")
    assert (symbols[chess.H8], len(symbols)) == ("k", 64)
