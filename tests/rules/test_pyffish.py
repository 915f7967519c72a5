"""The rules against pyffish, by which pychess judges; `tools/proofs/compare_pyffish.py` runs longer."""

from __future__ import annotations

import random

import chess
import pytest

pytest.importorskip("pyffish")

from obscuro.rules.board import FogOfWarBoard
from tools.proofs import compare_pyffish
from tools.proofs.compare_pyffish import (
    COUNTED,
    KING,
    NO_MOVE,
    Agreement,
    compare_game,
    tell_rules,
)
from tools.proofs.random_games import (
    ALMOST_STUCK,
    ONE_MOVE_FROM_STUCK,
    OPENINGS,
    random_mover,
    replay,
    shuffler,
)


@pytest.fixture(scope="module", autouse=True)
def _rules() -> None:
    tell_rules()


def followed(start: str, *moves: str) -> Agreement:
    found = Agreement()
    compare_game(start, replay(map(chess.Move.from_uci, moves)), found)
    assert not found.errors, found.report()
    return found


def test_pychess_ends_a_game_as_we_do() -> None:
    knights = ("g1f3", "g8f6", "f3g1", "f6g8")
    for start, moves, kind in (
        (chess.STARTING_FEN, ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8"), KING),
        (chess.STARTING_FEN, knights * 2, COUNTED),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 98 80", ("a1a2", "e8e7"), COUNTED),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 99 80", ("e2e8",), KING),
        (ALMOST_STUCK, ("e1d1",), NO_MOVE),
        (ONE_MOVE_FROM_STUCK, ("h8h7",), NO_MOVE),
    ):
        assert followed(start, *moves).endings == {kind: 1}


def test_pychess_lets_bare_kings_and_two_repetitions_play_on() -> None:
    assert not followed("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e2").endings
    assert not followed(chess.STARTING_FEN, "g1f3", "g8f6", "f3g1", "f6g8", "g1f3").endings


def test_a_difference_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare_pyffish, "PychessBoard", FogOfWarBoard)
    found = Agreement()
    compare_game(ONE_MOVE_FROM_STUCK, replay([chess.Move.from_uci("h8h7")]), found)
    assert len(found.errors) == 1
    assert found.report().endswith(
        "pyffish {'loss': ('no move', False), 'draw': ('no move', None)}\n1 differences"
    )


def test_random_games_agree_with_pyffish() -> None:
    found, rng = Agreement(), random.Random(3)
    for number in range(4):
        compare_game(rng.choice(OPENINGS), (shuffler if number % 2 else random_mover)(rng), found)
    assert not found.errors, found.report()
    assert found.endings.total() == found.games == 4
