"""What a browser may wish for: good wishes are read, others are one line."""

from __future__ import annotations

import json
import random
from typing import Any

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.web.play.game_setup import GameSetup, read_game, read_match
from obscuro.web.web_limits import WebError

LEVELS = (1, 2, 3)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)


def game(**wish: Any) -> GameSetup:
    return read_game(json.dumps(wish).encode(), LEVELS, random.Random(0))


def test_an_empty_wish_is_a_game_with_white_against_the_whole_engine() -> None:
    setup = game()
    assert (setup.human, setup.start) == (chess.WHITE, chess.STARTING_FEN)
    assert setup.levels[chess.BLACK] is None
    assert setup.control.movetime == 1000


def test_everything_can_be_chosen() -> None:
    setup = game(
        color="black",
        time={"base": 300, "increment": 2.5},
        level=2,
        fen="4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        takebacks=True,
        stalemate="draw",
    )
    assert setup.human == chess.BLACK
    assert (setup.control.base, setup.control.increment) == (300_000, 2_500)
    assert setup.levels == {chess.WHITE: 2, chess.BLACK: None}
    assert (setup.takebacks, setup.stalemate) == (True, "draw")
    assert setup.board().stalemate == "draw"


def test_the_colour_may_be_left_to_chance() -> None:
    colors = {
        read_game(b'{"color": "random"}', LEVELS, random.Random(seed)).human for seed in range(9)
    }
    assert colors == set(chess.COLORS)


@pytest.mark.parametrize(
    "wish",
    [
        {"color": "red"},
        {"color": []},
        {"time": {"base": 1, "increment": 0}},
        {"time": {"base": 1e9, "increment": 0}},
        {"time": {"base": float("nan"), "increment": 0}},
        {"time": {"base": True, "increment": 0}},
        {"time": {"move": 0}},
        {"time": {"move": 1, "base": 60}},
        {"time": 5},
        {"level": 9},
        {"level": True},
        {"level": "1"},
        {"fen": "x" * 101},
        {"fen": "8/8/8/8/8/8/8/8 w - - 0 1"},
        {"fen": "4k3/8/8/8/8/8/8/4K3"},
        {"fen": 7},
        {"fen": "QQQQQQQQ/QQQQQQQ1/8/8/8/7k/8/K7 w - - 0 1"},  # 15 queens
        {"fen": f"4k3/8/8/8/8/8/4P3/4K3 w - - 0 {'9' * 32}"},
        {"fen": f"4k3/8/8/8/8/8/4P3/4K3 w - - {'9' * 32} 1"},
        {"fen": "8/8/8/8/8/p1p5/ppPp4/kn1K4 b - - 0 1"},  # the game is over there
        {"takebacks": 1},
        {"stalemate": "win"},
        {"stalemate": []},
        {"Stockfish": "/bin/sh"},
        {"options": {}},
    ],
)
def test_a_bad_wish_is_one_line(wish: dict[str, Any]) -> None:
    with pytest.raises(WebError) as caught:
        game(**wish)
    assert caught.value.status == 400
    assert "\n" not in str(caught.value)


@given(ANYTHING)
def test_nothing_else_than_an_error_comes_of_anything(wish: object) -> None:
    text = json.dumps(wish).encode()
    for read in (
        lambda: read_game(text, LEVELS, random.Random(0)),
        lambda: read_match(text, LEVELS, random.Random(0)),
    ):
        try:
            setup = read()
        except WebError as error:
            assert "\n" not in str(error)
            continue
        assert GameSetup.from_json(setup.to_json()) == setup


@given(st.text(max_size=99))
def test_a_fen_is_read_or_refused(fen: str) -> None:
    try:
        setup = game(fen=fen)
    except WebError:
        return
    assert setup.board().outcome() is None


def test_a_match_has_two_engines() -> None:
    setup = read_match(b'{"white": 1, "black": null, "move": 0.1}', LEVELS, random.Random(0))
    assert setup.human is None
    assert setup.levels == {chess.WHITE: 1, chess.BLACK: None}
    assert setup.control.movetime == 100
    assert setup.engines == (chess.WHITE, chess.BLACK)


def test_a_rematch_turns_the_sides_with_their_levels() -> None:
    setup = game(color="white", level=3)
    turned = setup.turned()
    assert turned.human == chess.BLACK
    assert turned.levels == {chess.WHITE: 3, chess.BLACK: None}
    assert turned.turned() == setup


def test_a_random_start_of_chess960() -> None:
    setups = [read_game(b'{"chess960": true}', LEVELS, random.Random(seed)) for seed in range(5)]
    assert len({setup.start for setup in setups}) == 5
    for setup in setups:
        assert setup.board().chess960 and setup.board().is_valid()
        assert GameSetup.from_json(setup.to_json()) == setup
    fen = "rk2r3/8/8/8/8/8/8/RK2R3 w KQkq - 0 1"
    assert chess.Move.from_uci("b1e1") in game(fen=fen, chess960=True).board().legal_moves
    watched = read_match(b'{"move": 0.1, "chess960": true}', LEVELS, random.Random(1))
    assert watched.board().chess960
