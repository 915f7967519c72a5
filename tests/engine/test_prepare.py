"""After `prepare` nothing is compiled or loaded any more: in a game that would cost its clock."""

import subprocess
import sys

import pytest

from tests.hanging import HANG_SECONDS
from tests.sizes import quick_among

PLAY = """
import sys, time
from threading import Event
import chess
import numpy as np
from numba.core.dispatcher import Dispatcher

from obscuro.rules.position import from_fen
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation

ready = False
compile_ = Dispatcher.compile

def compiling(self, signature):
    known = len(self.overloads)
    result = compile_(self, signature)
    if ready and len(self.overloads) > known:
        print("late:", self.py_func.__module__, self.py_func.__name__)
    return result

Dispatcher.compile = compiling
options = Options()
for name, value in (("Evaluator", sys.argv[1]), ("Hash", "16"), ("Threads", "2"), ("Seed", "1")):
    options.set(name, value)
options.set("Max Positions", "2000")
options.set("Search", "posterior_draw=0.5,posterior_prior=0.5")  # which calls kernels of its own
player = Player(options, lambda text: print("warning:", text))
player.prepare()
ready = True

# FEN, plies, what is seen in the end. A belief that is cut; a castling through an attack, which is
# pseudo-legal and nothing that Stockfish lists; an observation that no game leads to.
GAMES = [
    ("r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 0 1", 24, None),
    ("4k3/8/8/8/8/5r2/8/4K2R w K - 0 1", 6, None),
    (chess.STARTING_FEN, 1, "rnbq1bnr/pppppppp/8/8/4k3/8/PPPP1PPP/RNBQKBNR w KQ - 0 2"),
]
for fen, plies, lie in GAMES:
    board = FogOfWarBoard(fen)
    player.new_game(0, from_fen(fen))
    for ply in range(plies):
        if board.is_game_over():
            break
        if board.turn == chess.WHITE:
            choice = player.search(GoLimits(time.monotonic(), nodes=300), Event())
            board.push_uci(choice.move)
            player.own_move(choice.move, board.observation(chess.WHITE))
            player.ponder(Event())
        else:
            moves = sorted(board.legal_moves, key=chess.Move.uci)
            board.push(moves[ply % len(moves)])
            player.opponent_move(board.observation(chess.WHITE))
    if lie is not None:  # the belief is rebuilt
        player.opponent_move(Observation.of(from_fen(lie), 0))
        player.search(GoLimits(time.monotonic(), nodes=300), Event())
print("played")
player.close()
"""


@pytest.mark.parametrize(
    "evaluator", quick_among(["material", "stockfish", "nnue"], lambda name: name == "nnue")
)
def test_nothing_is_compiled_in_a_game(evaluator: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", PLAY, evaluator],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "played" in run.stdout
    assert "late:" not in run.stdout
