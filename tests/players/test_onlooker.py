"""Players that choose by what they see now."""

from __future__ import annotations

import random
import time
from collections import Counter
from threading import Event

import chess
import pytest

from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.players.roster import PLAYERS
from obscuro.players.view_player import ViewPlayer, random_move
from obscuro.rules.account import plies
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.side_view import SideView


def player(seed: int = 1) -> ViewPlayer:
    options = Options(PLAYERS["random"].options)
    options.set("Seed", str(seed))
    return ViewPlayer(options, random_move)


def tell(onlooker: ViewPlayer, board: FogOfWarBoard) -> None:
    """Tell a player all of a game, as the side to move."""
    onlooker.new_game_from_fen(0 if board.turn else 1, board.root().epd(en_passant="fen"))
    for ply in plies(board, board.turn):
        ply.tell(onlooker)


def choice(onlooker: ViewPlayer) -> str | None:
    return onlooker.search(GoLimits(time.monotonic()), Event(), lambda info: None).move


def after(*moves: str) -> FogOfWarBoard:
    board = FogOfWarBoard()
    for move in moves:
        board.push_uci(move)
    return board


def test_equal_seeds_play_alike_and_other_seeds_differ() -> None:
    board = after("e2e4", "e7e5")
    moves = []
    for seed in range(1, 41):
        twice = []
        for _ in range(2):
            onlooker = player(seed)
            tell(onlooker, board)
            twice.append(choice(onlooker))
        assert twice[0] == twice[1]
        moves.append(twice[0])
    assert len(set(moves)) > 10


def test_games_that_look_alike_get_the_same_move() -> None:
    for seed in range(1, 20):
        chosen = set()
        for hidden in ("g7g6", "h7h6", "b8c6"):
            onlooker = player(seed)
            tell(onlooker, after("e2e4", hidden))
            chosen.add(choice(onlooker))
        assert len(chosen) == 1


def test_every_move_is_as_likely() -> None:
    view = SideView(chess.WHITE, FogOfWarBoard())
    chance = random.Random(1)
    counts = Counter(random_move(view, chance) for _ in range(4000))
    assert set(counts) == set(view.moves()) and len(counts) == 20
    assert min(counts.values()) > 140 and max(counts.values()) < 260  # 200 ± 4 deviations


def test_a_side_without_a_move_gets_none() -> None:
    onlooker = player()
    onlooker.new_game_from_fen(0, "k7/8/8/8/1p6/pPp5/PRP5/KB6 w - -")
    assert choice(onlooker) is None


def test_the_seed_0_comes_from_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 12345)
    onlooker = player(0)
    onlooker.new_game_from_fen(0, chess.STARTING_BOARD_FEN + " w KQkq -")
    assert onlooker.seed == 12345


def test_it_has_no_belief() -> None:
    onlooker = player()
    assert onlooker.belief_size is None and not onlooker.belief_exact
    assert tuple(onlooker.belief_fens(5)) == ()
    assert onlooker.compare("e2e4") is None
    assert onlooker.marginals() is None
