"""The engine's player in Chess960: its moves, its reports, and starts that it does not know."""

from __future__ import annotations

import time
from threading import Event

import chess
import pytest

from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.player_kind import AnyPlayer
from obscuro.engine.report import GoLimits
from obscuro.players.roster import PLAYERS
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.starts import fen_of

CASTLES = "r1k2r2/pppppppp/8/8/8/8/PPPPPPPP/R1K2R2 w FAfa - 0 1"
HIDDEN = "????????/pppppppp/8/8/8/8/PPPPPPPP/RKBNQBNR w KQkq - 0 1"
HIDDEN_WHITE = "rkbnqbnr/pppppppp/8/8/8/8/PPPPPPPP/???????? w KQkq - 0 1"
USUAL = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w HAha - 0 1"


def made(name: str) -> AnyPlayer:
    kind = PLAYERS[name]
    options = Options(kind.options)
    for option, value in (("Evaluator", "material"), ("Threads", "1"), ("Hash", "16")):
        if option in options:
            options.set(option, value)
    options.set("Seed", "1")
    return kind.make(options, lambda text: None)


@pytest.mark.parametrize("name", PLAYERS)
def test_every_player_plays_a_game_of_chess960(name: str) -> None:
    board = FogOfWarBoard(CASTLES, chess960=True)
    players = {color: made(name) for color in chess.COLORS}
    for color, player in players.items():
        player.new_game_from_fen(0 if color else 1, fen_of(board))
    for _ in range(12):
        limits = GoLimits(time.monotonic(), nodes=50)
        move = players[board.turn].search(limits, Event(), lambda info: None).move
        assert move is not None
        assert chess.Move.from_uci(move) in board.legal_moves, move
        board.push_uci(move)
        if board.is_game_over():
            break
        for color, player in players.items():
            last_ply(board, color).tell(player)
    for player in players.values():
        player.close()


@pytest.mark.parametrize("fen", [USUAL, CASTLES])
def test_castling_is_named_by_the_rook(fen: str) -> None:
    player = made("obscuro")
    assert isinstance(player, Player)
    player.new_game_from_fen(0, fen)
    names = set(player.legal_moves())
    king = chess.Board(fen, chess960=True).king(chess.WHITE)
    assert king is not None
    assert chess.SQUARE_NAMES[king] + "a1" in names
    player.new_game_from_fen(0, USUAL.replace("HAha", "KQkq"))
    assert {"e1g1", "e1c1"} <= set(player.legal_moves())
    player.close()


def test_a_start_that_one_side_does_not_know() -> None:
    player = made("obscuro")
    assert isinstance(player, Player)
    for side, fen in ((0, HIDDEN), (1, HIDDEN_WHITE)):
        player.new_game_from_fen(side, fen)
        player.update()
        assert player.belief_size == 960 and player.belief_exact
        if side:
            board = FogOfWarBoard(fen.replace("????????", "RKBNQBNR"), chess960=True)
            board.push_uci("e2e4")
            player.opponent_move(board.observation(chess.BLACK))
        choice = player.search(GoLimits(time.monotonic(), nodes=100), Event())
        assert choice.move is not None
        assert player.belief_size >= 960
    player.close()
