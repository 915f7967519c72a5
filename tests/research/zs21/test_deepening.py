"""K's baseline agent: one ply of imperfect information, then Stockfish's own deepening."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from threading import Event
from unittest.mock import Mock

import chess
import numpy as np
import pytest

from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.evaluation.evaluator import EvaluatorNotReady
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from obscuro.players.roster import ZS21_OPTIONS
from obscuro.research.zs21.deepening import DeepStockfish
from obscuro.research.zs21.trunk import LEAF, MIN, Trunk
from obscuro.research.zs21.zs21_player import Zs21Player
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tests.evaluation.naive import STOCKFISH, needs_stockfish

OPENING = ("e2e4", "e7e5", "g1f3", "d7d6")


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def player(warnings: list[str]) -> Iterator[Zs21Player]:
    """The baseline as White, some plies into a game, which is its turn."""
    options = Options(ZS21_OPTIONS)
    for name, value in (("Evaluator", "material"), ("Seed", "3"), ("Search", "baseline=true")):
        options.set(name, value)
    player, board = Zs21Player(options, warnings.append), FogOfWarBoard()
    player.new_game(0, from_board(board))
    for uci in OPENING:
        board.push_uci(uci)
        last_ply(board, chess.WHITE).tell(player)
    yield player
    player.close()


def trunk_of(player: Zs21Player) -> Trunk:
    assert player.last_search is not None
    return player.last_search.trunk


def shallow(player: Zs21Player) -> Trunk:
    """The trunk of a turn in which there is no time to search deeper."""
    player.search(GoLimits(time.monotonic(), nodes=0), Event())
    return trunk_of(player)


@needs_stockfish
def test_its_trunk_has_one_ply(player: Zs21Player, warnings: list[str]) -> None:
    choice = player.search(GoLimits(time.monotonic(), movetime=2000), Event())
    assert choice.move is not None
    trunk, info = trunk_of(player), choice.info
    assert info is not None
    nodes = trunk.nodes
    assert nodes.depth.max() == 1
    children = len(trunk) - trunk.roots
    assert info.iterations >= 2  # it was solved again with the values of a deeper search
    assert info.nodes > 0
    assert info.nodes % children == 0
    assert warnings == []


@needs_stockfish
def test_a_pass_gives_the_children_stockfishs_values(player: Zs21Player) -> None:
    trunk = shallow(player)
    before = trunk.nodes.value.copy()
    deep = DeepStockfish(STOCKFISH, 6.0, "loss", lambda text: None)
    deep.game.set_turn(0, np.zeros(0, dtype=np.uint64))
    try:
        deep.evaluator.start()
        passes = deep.deepen(trunk, 0.01)
        assert passes(math.inf, lambda: False) == len(trunk) - trunk.roots
        assert (trunk.nodes.value != before).mean() > 0.5  # by material they were
        nodes = trunk.nodes
        roots = np.flatnonzero(nodes.first[: trunk.roots] != LEAF)
        assert len(roots) > 1
        for root in roots:
            first, degree = nodes.first[root], nodes.degree[root]
            best = nodes.value[first : first + degree].max()
            assert nodes.value[root] == best
            assert trunk.alternate[nodes.sequence[root, MIN]] == min(best, 0.01)
    finally:
        deep.evaluator.close()


@needs_stockfish
@pytest.mark.parametrize("stopped", [False, True])
def test_a_pass_that_is_cut_changes_nothing(player: Zs21Player, stopped: bool) -> None:
    trunk = shallow(player)
    before = trunk.nodes.value.copy()
    deep = DeepStockfish(STOCKFISH, 6.0, "loss", lambda text: None)
    passes = deep.deepen(trunk, math.inf)
    try:
        assert passes(math.inf if stopped else time.monotonic(), lambda: stopped) == 0
    finally:
        deep.evaluator.close()
    np.testing.assert_array_equal(trunk.nodes.value, before)


def test_without_stockfish_it_goes_no_deeper_and_says_so(
    player: Zs21Player, warnings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise EvaluatorNotReady("Stockfish is missing")

    monkeypatch.setattr("obscuro.research.zs21.deepening.StockfishEvaluator.evaluate", fails)
    assert player.search(GoLimits(time.monotonic(), nodes=10**6), Event()).move is not None
    assert warnings == ["zs21 goes no deeper in this turn: Stockfish is missing"]


@needs_stockfish
def test_a_new_game_owes_nothing_to_the_last_one(
    player: Zs21Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    shallow(player)
    forgot = Mock()
    monkeypatch.setattr(StockfishEvaluator, "forget", forgot)
    player.new_game(0, from_board(FogOfWarBoard()))
    forgot.assert_called_once()
