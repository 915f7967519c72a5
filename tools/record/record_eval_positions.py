"""Record the positions that `obscuro bench eval` runs on: obscuro/cli/bench/eval_positions.txt.

    python -m tools.record.record_eval_positions

The engine plays against itself with Stockfish as its evaluator, and what it asks Stockfish about is
sampled, the same number from each game: positions of the game, of the beliefs and of the search
trees, with kings in danger as they come. The file has one FEN a line, without move counters, no
position twice, in random order. All of it is drawn from fixed seeds and bounded by nodes, so the
same engine with the same Stockfish writes the same file again. Takes some minutes.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import ChessGame
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, to_fen
from tools.common import ROOT, engine_options, given, say, tool_parser

POSITIONS_FILE = ROOT / "obscuro/cli/bench/eval_positions.txt"
POSITIONS = 400
GAMES = 16
PLIES = 100  # longest game
NODES = 6_000  # that the engine adds to its tree in a move
SEED = 1


class Recorder(StockfishEvaluator):
    """Stockfish, with all that it is asked about kept, each position once."""

    def __init__(self) -> None:
        super().__init__(reproducible=True, search_dominated=False)
        self.asked: dict[str, None] = {}

    def evaluate(self, positions: npt.NDArray[np.uint64]) -> ChildValues:
        """Evaluate, and keep the positions."""
        self.asked.update(dict.fromkeys(to_fen(words) for words in positions))
        return super().evaluate(positions)


def self_play(seed: int) -> list[str]:
    """What a game of the engine against itself asks its evaluators."""
    recorders = [Recorder(), Recorder()]
    board = FogOfWarBoard()
    players = []
    for side, recorder in enumerate(recorders):
        player = Player(options(2 * seed + side + 1), lambda text: None)
        player.equipment.evaluators = [recorder]
        player.equipment.games = [ChessGame(recorder)]
        player.new_game(side, from_board(board))
        players.append(player)
    for ply in range(PLIES):
        limits = GoLimits(received=time.monotonic(), nodes=NODES)
        uci = players[ply % 2].search(limits, threading.Event()).move
        assert uci is not None
        board.push_uci(uci)
        if board.is_variant_loss():
            break
        for color, player in zip((chess.WHITE, chess.BLACK), players, strict=True):
            last_ply(board, color).tell(player)
    for player in players:
        player.close()
    return list(recorders[0].asked | recorders[1].asked)


def options(seed: int) -> Options:
    """Those of a player that repeats itself."""
    return engine_options(
        Threads=1, Hash=64, Search="min_infoset_size=64", Max_Positions=100_000, Seed=seed
    )


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.record_eval_positions", __doc__, stores=False)
    parser.add_argument("--file", type=Path, default=POSITIONS_FILE)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, choose, and write the file; returns the exit code."""
    arguments = make_parser().parse_args(given(words))
    generator = random.Random(SEED)
    chosen: dict[str, None] = {}
    for game in range(GAMES):
        asked = [fen for fen in self_play(SEED + game) if fen not in chosen]
        chosen.update(dict.fromkeys(generator.sample(asked, POSITIONS // GAMES)))
        say(f"game {game + 1} of {GAMES}: {len(asked)} positions")
    fens = list(chosen)
    generator.shuffle(fens)
    arguments.file.write_text("\n".join(fens) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
