from __future__ import annotations

from threading import Event
from typing import Any

import numpy as np
import pytest

from obscuro.research.any_game.histories import HistoryTable
from obscuro.research.any_game.history_belief import HistoryBelief
from obscuro.research.any_game.turn_tree import HistoryGame, Rollouts, TurnTree
from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN
from obscuro.search.pace import Limits
from obscuro.search.parameters import SearchParameters
from obscuro.search.search import Search
from obscuro.search.tree import TERMINAL
from tests.search.invariants import check
from tests.sizes import quick_among

from .faulty_games import Tries
from .told import random_line, told

GAMES: list[ExtensiveForm[Any]] = [
    LeducPoker(),
    Tries(),
    OpenSpielGame("phantom_ttt"),
    OpenSpielGame("phantom_ttt(gameversion=abrupt)"),
    OpenSpielGame("dark_hex(board_size=3)", remembers=True),
    OpenSpielGame("dark_hex(board_size=3,gameversion=adh)", remembers=True),
]


@pytest.mark.parametrize("seat", [MAX, MIN])
@pytest.mark.parametrize(
    "game",
    quick_among(GAMES, lambda game: not game.name.startswith("phantom_ttt")),
    ids=lambda game: game.name,
)
def test_each_turns_tree_holds_the_belief_once(game: ExtensiveForm[Any], seat: int) -> None:
    random = np.random.default_rng(seat + 5)
    turns = 0
    for _ in range(3):
        table = HistoryTable(game, seat)
        belief = HistoryBelief(table)
        parameters = SearchParameters(min_infoset_size=4000, max_kept_infosets=0)
        search = Search([HistoryGame(table, Rollouts(game))], parameters, 16 << 20)
        tree = TurnTree(search, table, belief)
        for state, own, seen in told(game, random_line(game, random), seat):
            belief.observe(own, seen)
            if game.player(state) != seat:
                continue
            tree.build(lambda: False)
            turns += 1
            found = search.tree
            edges = found.edge_keys[: found.nodes, MAX] == np.uint64(belief.key)
            edges &= found.edge_status[: found.nodes] != TERMINAL
            held = found.edge_state[: found.nodes][edges][:, 0].astype(int).tolist()
            assert sorted(held) == belief.numbers
            progress = search.run(Limits(iterations=200), Event())
            assert len(progress.policy) == len(game.actions(state))
            check(search.tree)
    assert turns >= 3


@pytest.mark.parametrize("game", [GAMES[0], GAMES[5]], ids=lambda game: game.name)
def test_a_root_is_as_soft_as_it_is_new(game: ExtensiveForm[Any]) -> None:
    random = np.random.default_rng(4)
    shares = []
    for _ in range(6):
        table = HistoryTable(game, MAX)
        belief = HistoryBelief(table)
        parameters = SearchParameters(soft_root=0.5)
        search = Search([HistoryGame(table, Rollouts(game))], parameters, 16 << 20)
        tree = TurnTree(search, table, belief)
        for state, own, seen in told(game, random_line(game, random), MAX):
            belief.observe(own, seen)
            if game.player(state) != MAX:
                continue
            first = search.progress.root_infosets == 0
            tree.build(lambda: False)
            if not first:  # the first turn's tree is the whole game
                roots = search.progress.root_infosets
                new = (roots - search.first_new_root) / roots
                assert search.gadget.soft[0] == pytest.approx(0.5 * new)
                shares.append(new)
            search.run(Limits(iterations=64), Event())
    assert min(shares) < max(shares)
