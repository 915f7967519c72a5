"""The engine that plays a given first move as Black."""

from __future__ import annotations

import argparse
import sys
import time
from threading import Event

import chess
import pytest

from obscuro.client.uci_process import UciProcess
from obscuro.engine.report import GoLimits
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from tools.common import engine_options
from tools.play import held_engine
from tools.play.held_engine import FirstMovePlayer


def player(first: str) -> FirstMovePlayer:
    options = engine_options(Evaluator="material", Threads=1, Seed=1, Hash=64)
    return FirstMovePlayer(options, pytest.fail, first)


def test_black_plays_the_move_and_is_free_from_then_on() -> None:
    black, board = player("g7g5"), FogOfWarBoard()
    try:
        black.prepare()
        for _ in range(2):  # a second game holds the move as well
            board = FogOfWarBoard()
            black.new_game(1, from_board(board))
            for white in ("d2d4", "a2a3"):
                board.push_uci(white)
                last_ply(board, chess.BLACK).tell(black)
                choice = black.search(GoLimits(time.monotonic(), nodes=3000), Event())
                assert choice.move is not None and choice.info is not None
                board.push_uci(choice.move)
                last_ply(board, chess.BLACK).tell(black)
                if white == "d2d4":
                    assert dict(choice.info.policy) == {"g7g5": 1.0}
                else:
                    assert len(choice.info.policy) > 1
            assert board.move_stack[1].uci() == "g7g5"
    finally:
        black.close()


def test_white_is_the_plain_engine() -> None:
    white = player("g7g5")
    try:
        white.prepare()
        white.new_game(0, from_board(FogOfWarBoard()))
        choice = white.search(GoLimits(time.monotonic(), nodes=3000), Event())
    finally:
        white.close()
    assert choice.info is not None and len(choice.info.policy) > 1


def test_a_position_without_the_move_is_played_freely() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    black = player("g7g5")
    try:
        black.prepare()
        black.new_game_from_fen(1, fen)
        assert black.search(GoLimits(time.monotonic(), nodes=500), Event()).move is not None
    finally:
        black.close()


def test_only_first_moves_of_black_are_taken() -> None:
    assert held_engine.first_move("c7c5") == "c7c5"
    for text in ("e2e4", "c7c4", "c5"):
        with pytest.raises(argparse.ArgumentTypeError):
            held_engine.first_move(text)


def test_the_program_speaks_the_engines_protocol() -> None:
    command = [sys.executable, "-m", "tools.play.held_engine", "c7c5"]
    with UciProcess(command) as engine:
        assert engine.name.startswith("Obscuro with 1...c7c5")
