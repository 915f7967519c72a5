"""What a query must be, and what is said to one that is not."""

from __future__ import annotations

import json
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.client.analysis_messages import AnalysisQuery, TerminateAction
from obscuro.client.limit import Limit
from obscuro.engine.options import Options
from obscuro.queries.query_reader import (
    NODES_MOVETIME,
    CheckedQuery,
    QueryError,
    check_query,
    read_request,
)
from obscuro.rules.account import Account
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.positions import account_position
from tests.sizes import examples

OPENING = ["e2e4", "d7d5", "e4d5", "g8f6"]
MATED = ["e2e4", "f7f6", "d1h5", "a7a6", "h5e8"]


def game(**fields: Any) -> dict[str, Any]:
    return {"id": "a", "moves": OPENING, "nodes": 10, **fields}


def read(fields: dict[str, Any], base: Options | None = None) -> CheckedQuery:
    request, _ = read_request(json.dumps(fields))
    assert isinstance(request, AnalysisQuery)
    return check_query(request, base or Options())


def numbers(checked: CheckedQuery) -> dict[str, tuple[int, ...]]:
    return {chess.COLOR_NAMES[view.side]: view.numbers for view in checked.views}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, {"white": (0, 2, 4), "black": (1, 3)}),
        ({"side": "both", "plies": [4, 1, 4]}, {"white": (4,), "black": (1,)}),
        ({"side": "white"}, {"white": (0, 2, 4)}),
        ({"side": "black"}, {"black": (1, 3)}),
        ({"side": "black", "plies": [0, 3, 4]}, {"black": (0, 3, 4)}),
        ({"plies": []}, {}),
        ({"moves": []}, {"white": (0,)}),
        ({"moves": MATED}, {"white": (0, 2, 4), "black": (1, 3)}),
        ({"moves": [], "start": "4k3/8/8/8/8/8/8/4K3 b - - 0 1"}, {"black": (0,)}),
    ],
)
def test_the_turns_of_a_game(fields: dict[str, Any], expected: dict[str, tuple[int, ...]]) -> None:
    assert numbers(read(game(**fields))) == expected


DRAFT = "????????/pppppppp/8/8/8/8/PPPPPPPP/RKBNQBNR w KQkq - 0 1"


def test_a_side_may_not_know_how_the_other_one_began() -> None:
    seen = "********/********/********/********/8/P7/1PPPPPPP/RKBNQBNR"
    turns = {"id": "a", "turns": ["a2a3", seen, seen], "side": "white", "start": DRAFT, "nodes": 1}
    (view,) = read(turns).views
    assert view.position(2) == f"position fog white fen {DRAFT} turns a2a3 {seen} {seen}"
    for wrong in ({"side": "black"}, {"turns": None, "moves": []}, {"start": "?" + DRAFT}):
        with pytest.raises(QueryError, match="bad FEN") as failed:
            read({**turns, **wrong})
        assert failed.value.field == "start"


@pytest.mark.parametrize("side", ["white", "black"])
@pytest.mark.parametrize("start", ["startpos", "r3k3/8/8/8/8/8/8/4K2R b Kq - 0 1"])
def test_observations_and_moves_tell_an_engine_the_same(side: str, start: str) -> None:
    moves = OPENING if start == "startpos" else ["a8a1", "e1e2", "a1h1"]
    board = FogOfWarBoard() if start == "startpos" else FogOfWarBoard(start)
    account = Account(board, side == "white")
    texts = [account_position(account)]
    for move in moves:
        board.push_uci(move)
        account.append(board)
        texts.append(account_position(account))
    plies = list(range(len(moves) + 1))
    (whole,) = read(game(moves=moves, start=start, side=side, plies=plies)).views
    _, _, turns = texts[-1].partition(" turns ")
    fields = {"turns": turns.split(), "start": start, "side": side, "plies": plies}
    (alone,) = read({"id": "a", "nodes": 1, **fields}).views
    for number, text in enumerate(texts):
        assert whole.position(number) == alone.position(number) == text
        assert whole.is_own_turn(number) == alone.is_own_turn(number)
        assert whole.played(number) == alone.played(number)
        assert alone.board(number) is None
    last = whole.board(len(moves))
    assert last is not None and last.fen() == board.fen()


@pytest.mark.parametrize(
    ("line", "field", "text"),
    [
        ("", None, "no JSON"),
        ("{", None, "no JSON"),
        ("[]", None, "one JSON object"),
        ("5", None, "one JSON object"),
        ('{"a": ' + "[" * 100_000, None, "no JSON"),
        ('{"id": "a", "nodes": ' + "9" * 10_000 + "}", None, "no JSON"),
        ('{"id": "a", "nodes": 1e400}', None, "no JSON"),
        ('{"id": "a", "nodes": NaN}', None, "no JSON"),
        ('{"id": "\\ud800"}', None, "no JSON"),
        ('{"nodes": 1}', "id", "missing"),
        ('{"id": 5}', "id", "got `int`"),
        ('{"id": ""}', "id", "length >= 1"),
        (json.dumps({"id": "x" * 201}), "id", "length <= 200"),
        ('{"id": "a", "action": "dance"}', "action", "dance"),
        ('{"id": "a", "action": 1}', "action", "got `int`"),
        ('{"id": "a", "action": "terminate"}', "terminate_id", "missing"),
        (json.dumps(game(nodes=10**30)), "nodes", "<= 10000000"),
        (json.dumps(game(nodes=-1)), "nodes", ">= 1"),
        (json.dumps(game(nodes="1")), "nodes", "got `str`"),
        (json.dumps(game(nodes=1.5)), "nodes", "got `float`"),
        (json.dumps(game(movetime=10**9)), "movetime", "<= 3600000"),
        (json.dumps(game(plies=[0, -1])), "plies[1]", ">= 0"),
        (json.dumps(game(plies=[0] * 10_001)), "plies", "length <= 10000"),
        (json.dumps(game(moves=[1])), "moves[0]", "got `int`"),
        (json.dumps(game(side="red")), "side", "red"),
        (json.dumps(game(positions=1001)), "positions", "<= 1000"),
        (json.dumps(game(options={"Hash": []})), "options[...]", "got `array`"),
    ],
)
def test_a_line_that_is_no_message(line: str, field: str | None, text: str) -> None:
    with pytest.raises(QueryError) as raised:
        read_request(line)
    assert text in str(raised.value)
    assert raised.value.field == field
    assert len(str(raised.value)) < 400 and str(raised.value).isprintable()


@pytest.mark.parametrize(
    ("fields", "field", "text"),
    [
        ({"moves": None}, "moves", "needs moves or turns"),
        ({"turns": []}, "moves", "needs moves or turns"),
        ({"nodes": None}, "nodes", "needs nodes, movetime or both"),
        ({"moves": ["e2e4", "e2e4"]}, "moves[1]", "illegal move 'e2e4' at ply 1"),
        ({"moves": ["x" * 1000]}, "moves[0]", "illegal move"),
        ({"moves": ["e2e4\n"]}, "moves[0]", "illegal move"),
        ({"moves": [*MATED, "a6a5"]}, "moves[5]", "illegal move"),
        ({"start": "8/8/8/8/8/8/8/K7 w - - 0 1"}, "start", "no king"),
        ({"start": "x"}, "start", "bad FEN"),
        ({"plies": [5]}, "plies[0]", "the game has 4 plies"),
        ({"moves": MATED, "plies": [0, 5]}, "plies[1]", "over at ply 5"),
        ({"moves": None, "turns": []}, "side", "white or black"),
        ({"moves": None, "turns": [], "side": "both"}, "side", "white or black"),
        ({"moves": None, "turns": ["e2e4"], "side": "white"}, "turns[0]", "missing"),
        ({"moves": None, "turns": ["e2e4", "8/8"], "side": "white"}, "turns[1]", "rank"),
        ({"options": {"Thread": 1}}, "options.Thread", "did you mean Threads"),
        ({"options": {"Threads": 2}}, "options.Threads", "command line only"),
        ({"options": {"Stockfish": "/bin/sh"}}, "options.Stockfish", "command line only"),
        ({"options": {"Hash": 16}}, "options.Hash", "command line only"),
        ({"options": {"Search": "eval_cache=33"}}, "options", "eval_cache can be at most 32"),
        ({"options": {"Search": "a=1"}}, "options.Search", "no key"),
        ({"options": {"Seed": 1.5}}, "options.Seed", "whole number"),
    ],
)
def test_a_query_that_cannot_be_carried_out(fields: dict[str, Any], field: str, text: str) -> None:
    with pytest.raises(QueryError) as raised:
        read({name: value for name, value in game(**fields).items() if value is not None})
    assert text in str(raised.value)
    assert (raised.value.field, raised.value.id) == (field, "a")


def test_a_query_can_make_the_memory_smaller_only() -> None:
    base = Options()
    base.set("Max Positions", "5000")
    assert read(game(options={"Max Positions": 1000}), base).options["Max Positions"] == "1000"
    with pytest.raises(QueryError, match="Max Positions can be at most 5000"):
        read(game(options={"max positions": 5001}), base)


def test_options_are_those_of_the_service_and_of_the_query() -> None:
    base = Options()
    base.set("Search", "tau=3,posterior_draw=0.25")
    checked = read(game(options={"Stalemate": "draw", "UCI_LimitStrength": True}), base)
    assert checked.options["Stalemate"] == "draw"
    assert checked.options["UCI_LimitStrength"] == "true"
    assert checked.options["Search"] == "tau=3.0,posterior_draw=0.25"
    assert checked.tau == 3
    assert base.text("Stalemate") == "loss"


def test_a_search_by_nodes_ends_some_time() -> None:
    assert read(game()).limit == Limit(NODES_MOVETIME, 10)
    assert read(game(movetime=50)).limit == Limit(50, 10)
    assert read({"id": "a", "moves": [], "movetime": 50}).limit == Limit(50)


def test_unknown_fields_are_warned_of_once() -> None:
    request, warning = read_request(json.dumps(game(node=3)))
    assert isinstance(request, AnalysisQuery)
    assert warning is not None and (warning.field, warning.id) == ("node", "a")
    assert "node; did you mean nodes?" in warning.warning
    many = {f"f{number}": 1 for number in range(1000)}
    _, warning = read_request(json.dumps(game(**many)))
    assert warning is not None and "and 990 more" in warning.warning


def test_an_action_may_lack_an_id() -> None:
    request, warning = read_request('{"action": "terminate", "terminate_id": "a"}')
    assert request == TerminateAction(terminate_id="a")
    assert warning is None


@examples(1)
@given(st.text(max_size=200) | st.builds(json.dumps, st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["id", "moves", "turns", "plies", "options", "action", "nodes", "start"])
        | st.text(), inner),
)))  # fmt: skip
def test_any_line_is_a_query_or_one_line_of_error(line: str) -> None:
    try:
        request, _ = read_request(line)
        if isinstance(request, AnalysisQuery):
            check_query(request, Options())
    except QueryError as error:
        assert str(error).isprintable()
