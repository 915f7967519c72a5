from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.fog.board import FogOfWarBoard
from obscuro.fog.observation import Observation
from obscuro.protocol.protocol_error import ProtocolError
from obscuro.protocol.sight import parse_sight
from tests.protocol.games import FENS, random_moves

ROWS = st.one_of(
    st.sampled_from(["8", "********", "????????", "PPPPPPPP", "4K3", "**k**3*", "44", "1*1*1*1*"]),
    st.text("pnbrqkPNBRQK*?12345678", max_size=9),
)
EP = st.sampled_from(["", "", ",", ",-", ",e3", ",a6", ",z9", ",e3,e4"])
TEXTS = st.one_of(
    st.text(),
    st.tuples(st.lists(ROWS, min_size=7, max_size=9).map("/".join), EP).map("".join),
)


def as_observation(text: str) -> Observation | None:
    try:
        return Observation.parse(text)
    except ValueError:
        return None


@given(TEXTS)
def test_reads_what_the_engine_reads(text: str) -> None:
    expected = as_observation(text)
    try:
        sight = parse_sight(text)
    except ProtocolError as error:
        possible = str(error).startswith(("there is", "white has", "black has"))
        assert expected is None or possible
        return
    assert expected is not None
    assert sight.text() == expected.text()
    assert sight.seen == expected.seen
    assert sight.ep == expected.en_passant


@pytest.mark.parametrize("fen", FENS)
def test_reads_back_what_boards_show(fen: str) -> None:
    board = FogOfWarBoard(fen)
    for move in random_moves(3, 40, fen):
        board.push_uci(move)
        for side in chess.COLORS:
            sight = parse_sight(board.fog_fen(side))
            assert sight.text() == board.fog_fen(side)
            assert sight.seen == board.vision_mask(side)
            assert sight.ep == board.ep_target(side)
            assert sight.board == board.fogged(side)


@pytest.mark.parametrize(
    "text",
    [
        "/",
        "8/8/8/8/8/8/8",
        "8/8/8/8/8/8/8/9",
        "8/8/8/8/8/8/8/7",
        "8/8/8/8/8/8/8/*******",
        "8/8/8/8/8/8/8/x7",
        "8/8/8/8/8/8/8/8,e9",
        "P7/8/8/8/8/8/8/8",
        "KK6/8/8/8/8/8/8/8",
        "8/nnnnnnnn/nnnnnnnn/n7/8/8/8/8",
    ],
)
def test_refuses_what_is_on_no_board(text: str) -> None:
    with pytest.raises(ProtocolError):
        parse_sight(text)
