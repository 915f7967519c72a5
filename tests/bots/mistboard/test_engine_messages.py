"""What a server sends is read, and what is wrong with it is one line."""

from __future__ import annotations

import json
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.bots.mistboard.engine_messages import (
    MessageError,
    TurnDetails,
    WireMove,
    read_details,
    read_json,
    read_push,
    read_sighting,
    read_turn,
)
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import observation, played, push, turn

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
TURN = turn(FogOfWarBoard())
PUSH = push(played("e2e4"))


def test_a_turn_is_read() -> None:
    board = played("e2e4 e7e5")
    clock = {"remaining_ms": 60_000.4, "increment_ms": 2000}
    request = read_turn(turn(board, clock=clock, aFieldOfTheFuture=[1]))
    assert (request.game, request.session) == ("g", "g-white")
    assert len(request.moves) == board.legal_moves.count()
    assert request.transcript is not None and len(request.transcript) == 3
    assert read_details(request) == TurnDetails(chess.WHITE, 2, 60_000, 2000)
    assert read_details(read_turn(turn(board))).remaining is None


@pytest.mark.parametrize("side", chess.COLORS)
def test_an_observation_is_ours_but_for_en_passant(side: chess.Color) -> None:
    board = played("e2e4 a7a6 e4e5 d7d5")
    sighting = read_sighting(observation(board, side))
    ours = board.observation(side)
    assert (sighting.observation.seen, sighting.observation.boards) == (ours.seen, ours.boards)
    assert sighting.observation.en_passant is None
    assert sighting.landing == (chess.D5 if side == chess.WHITE else None)


def test_a_push_is_read() -> None:
    told = read_push(push(played("e2e4")))
    assert told.session == "g-white"
    assert told.sighting.own_move == WireMove(chess.E2, chess.E4)


@pytest.mark.parametrize(
    ("moves", "move", "uci"),
    [
        ("g1f3 a7a6 g2g3 a6a5 f1g2 a5a4", WireMove(chess.E1, chess.H1), "e1g1"),
        ("d2d4 a7a6 c1f4 a6a5 d1d2 a5a4 b1c3 b7b6", WireMove(chess.E1, chess.A1), "e1c1"),
        ("e2e4 e7e5", WireMove(chess.E1, chess.E2), "e1e2"),
        ("e2e4 e7e5", WireMove(chess.A7, chess.A8, "n"), "a7a8n"),
    ],
)
def test_moves_in_uci(moves: str, move: WireMove, uci: str) -> None:
    assert move.uci(played(moves).observation(chess.WHITE)) == uci


def test_a_move_goes_back_as_it_came() -> None:
    assert WireMove(chess.E1, chess.H1).json() == {"from": "e1", "to": "h1"}
    assert WireMove(chess.A7, chess.A8, "q").json() == {
        "from": "a7",
        "to": "a8",
        "promotion": "queen",
    }


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"protocolVersion": "2"}, "protocolVersion '2'"),
        ({"gameSpecId": "dark-xiangqi"}, "this engine plays dark-chess"),
        ({"gameId": 3}, "gameId is 3"),
        ({"sessionId": ""}, "sessionId"),
        ({"legalMoves": []}, "legalMoves is empty"),
        ({"legalMoves": {}}, "legalMoves is no list"),
        ({"legalMoves": [{"from": "e2", "to": "e9"}]}, "a move is"),
        ({"legalMoves": [{"from": "e7", "to": "e8", "promotion": "king"}]}, "a move is"),
        ({"legalMoves": [{"from": ["e2"], "to": "e4"}]}, "a move is"),
    ],
)
def test_a_bad_turn(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(MessageError, match=said):
        read_turn(turn(FogOfWarBoard()) | wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "glance"}, "kind"),
        ({"own_move": {"from": "e2", "to": "e4"}}, "own_move"),
        ({"kind": "own_move"}, "own_move None"),
        ({"visibility_mask": 5}, "visibility_mask 5"),
        ({"visibility_mask": "0x1ffffffffffffffff"}, "visibility_mask"),
        ({"visibility_mask": "-0x1"}, "visibility_mask"),
        ({"visibility_mask": "fog"}, "visibility_mask"),
        ({"visible_pieces": None}, "visible_pieces is no list"),
        ({"visible_pieces": [7]}, "visible_pieces has 7"),
        ({"visible_pieces": [[0, {"type": "C", "color": "white"}]]}, "a visible piece is 'C'"),
        ({"visible_pieces": [[64, {"type": "R", "color": "white"}]]}, "a square is 64"),
        ({"visible_pieces": [[63, {"type": "R", "color": "white"}]]}, "is not visible"),
        ({"own_capture_square": "e4"}, "a square is 'e4'"),
        ({"ply": None}, "ply is None"),
    ],
)
def test_a_bad_observation(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(MessageError, match=said):
        read_sighting(observation(FogOfWarBoard(), chess.WHITE) | wrong)


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"1", b"[" * 100_000, b"9" * 10_000])
def test_a_body_that_is_no_object(body: bytes) -> None:
    with pytest.raises(MessageError):
        read_json(body)


@given(st.dictionaries(st.sampled_from(sorted(TURN)), ANY_JSON))
def test_any_turn_is_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        read_details(read_turn(read_json(json.dumps(TURN | fields).encode())))
    except MessageError as error:
        assert str(error) and "\n" not in str(error)


@given(st.dictionaries(st.sampled_from(sorted(PUSH["observation"])), ANY_JSON))
def test_any_push_is_read_or_refused(fields: dict[str, Any]) -> None:
    told = PUSH | {"observation": PUSH["observation"] | fields}
    try:
        read_push(read_json(json.dumps(told).encode()))
    except MessageError as error:
        assert str(error) and "\n" not in str(error)
