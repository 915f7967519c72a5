from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.rules.position import from_board, is_well_formed
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import start_board
from tests.uci.games import FENS


@pytest.mark.parametrize("fen", FENS)
def test_takes_positions_as_they_are(fen: str) -> None:
    assert start_board(fen).fen(en_passant="fen") == fen


def test_none_is_the_usual_start() -> None:
    assert start_board(None).fen() == chess.STARTING_FEN


def test_fields_may_be_missing_from_the_end() -> None:
    assert start_board("k7/8/2K5/8/8/8/8/8 b").fen() == "k7/8/2K5/8/8/8/8/8 b - - 0 1"
    assert start_board("k7/8/2K5/8/8/8/8/8 w - - 7").halfmove_clock == 7


def test_a_king_may_stand_to_be_captured() -> None:
    fen = "4k3/8/8/8/8/8/8/4RK2 w - - 0 1"
    assert start_board(fen).fen() == fen


@pytest.mark.parametrize(
    ("fen", "wrong"),
    [
        ("", "needed"),
        ("nonsense", "needed"),
        ("8/8 w", "8 rows"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "no king"),
        ("4k3/8/8/8/8/8/8/8 w - - 0 1", "white has no king"),
        ("kkkkkkkk/kk6/8/8/8/8/8/4K3 w - - 0 1", "black has 10 kings"),
        ("4k3/8/8/8/8/8/8/3KK3 b - - 0 1", "white has 2 kings"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "pawn on a back rank"),
        ("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", "pawn on a back rank"),
        ("4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", "promotions"),
        ("4k3/8/8/8/8/QQ6/PPPPPPPP/4K3 w - - 0 1", "promotions"),
        ("qqqqkqqq/qqqqqqqq/8/8/8/8/8/4K3 w - - 0 1", "promotions"),
        ("4k3/8/8/8/8/8/8/4K4 w - - 0 1", "8 columns"),
        ("4k3/8/8/8/8/8/4K3 w - - 0 1", "8 rows"),
        ("4k3/8/8/8/8/8/8/4X3 w - - 0 1", "invalid character"),
        ("4k3/8/8/8/8/8/8/4\u212a3 w - - 0 1", "character"),
        ("4k3/8/8/8/8/8/8/Q~3K3 w - - 0 1", "character"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "turn"),
        ("4k3/8/8/8/8/8/8/4K3 w Z - 0 1", "castling"),
        ("4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "en passant"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "half-move"),
        ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", "half-move"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 " + "9" * 5000, "fullmove"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 more", "more parts"),
    ],
)
def test_says_what_is_wrong(fen: str, wrong: str) -> None:
    with pytest.raises(ProtocolError, match=wrong):
        start_board(fen)


@pytest.mark.parametrize(
    ("fen", "cleaned"),
    [
        ("4k3/8/8/8/8/8/8/R3K3 w KQkq - 0 1", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        ("r4k2/8/8/8/8/8/8/4K2R b KQkq - 0 1", "r4k2/8/8/8/8/8/8/4K2R b K - 0 1"),
        ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1"),
        ("4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4Pp2/8/8/4K3 b - e3 0 1"),
        ("4k3/8/8/8/4Pp2/8/4N3/4K3 b - e3 0 1", "4k3/8/8/8/4Pp2/8/4N3/4K3 b - - 0 1"),
        ("4k3/8/8/8/4Pp2/8/8/4K3 b - a8 0 1", "4k3/8/8/8/4Pp2/8/8/4K3 b - - 0 1"),
    ],
)
def test_leaves_out_rights_that_do_not_fit(fen: str, cleaned: str) -> None:
    assert start_board(fen).fen(en_passant="fen") == cleaned


PLACEMENTS = st.lists(st.text("pnbrqkPNBRQK12345678", max_size=9), min_size=7, max_size=9).map(
    "/".join
)


@given(
    st.one_of(
        st.text(),
        st.tuples(
            PLACEMENTS,
            st.sampled_from("wb-"),
            st.sampled_from(["-", "KQkq", "HAha", "x"]),
            st.sampled_from(["-", "e3", "d6", "a1"]),
        ).map(" ".join),
    )
)
def test_whatever_comes_is_well_formed_or_refused(fen: str) -> None:
    try:
        board = start_board(fen)
    except ProtocolError:
        return
    assert is_well_formed(from_board(board))


@given(st.permutations(list("rnbqkbnrRNBQKBNR" + "." * 32)), st.sampled_from("wb"))
def test_any_full_sets_off_the_back_ranks_will_do(cells: list[str], turn: str) -> None:
    rows = ["8", *("".join(cells[8 * i : 8 * i + 8]) for i in range(6)), "8"]
    for width in range(8, 0, -1):
        rows = [row.replace("." * width, str(width)) for row in rows]
    board = start_board(f"{'/'.join(rows)} {turn} KQkq - 0 1")
    assert is_well_formed(from_board(board))
