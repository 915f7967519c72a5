"""Record the positions that `obscuro bench eval` runs on: obscuro/bench/eval_positions.txt.

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
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt

from obscuro.board.layout import KINGS, WHITE
from obscuro.board.make import make_move
from obscuro.board.position import find_move, from_fen, legal_moves, to_fen
from obscuro.engine import player as playing
from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.evaluation.evaluator import ChildValues
from obscuro.evaluation.stockfish.stockfish_evaluator import StockfishEvaluator
from obscuro.fog.observation import Observation

Words = npt.NDArray[np.uint64]

POSITIONS_FILE = Path(__file__).resolve().parents[2] / "obscuro/bench/eval_positions.txt"
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
        self.asked.update(dict.fromkeys(to_fen(words) for words in positions))
        return super().evaluate(positions)


def self_play(seed: int) -> list[str]:
    """What a game of the engine against itself asks its evaluators."""
    recorders = [Recorder(), Recorder()]
    players = []
    for side, recorder in enumerate(recorders):
        playing.make_evaluator = lambda *_, it=recorder, **__: it  # type: ignore[assignment]
        player = playing.Player(options(2 * seed + side + 1), lambda text: None)
        player.new_game(side, from_fen(chess.STARTING_FEN))
        players.append(player)
    words: Words | None = from_fen(chess.STARTING_FEN)
    for ply in range(PLIES):
        mover = ply % 2
        limits = GoLimits(received=time.monotonic(), nodes=NODES)
        uci = players[mover].search(limits, threading.Event()).move
        assert uci is not None
        words = after(words, uci)
        if words is None:
            break
        players[mover].own_move(uci, Observation.of(words, mover))
        players[1 - mover].opponent_move(Observation.of(words, 1 - mover))
    for player in players:
        player.close()
    return list(recorders[0].asked | recorders[1].asked)


def options(seed: int) -> Options:
    """Those of a player that repeats itself."""
    chosen = Options()
    for name, value in (
        ("Threads", 1),
        ("Hash", 64),
        ("Min Infoset Size", 64),
        ("Max Positions", 100_000),
        ("Seed", seed),
    ):
        chosen.set(name, str(value))
    return chosen


def after(words: Words | None, uci: str) -> Words | None:
    """The position after a move; None if the game ends with it."""
    assert words is not None
    move = find_move(words, uci)
    assert move is not None
    child = np.array(make_move(tuple(words), move), dtype=np.uint64)
    kings = int(child[KINGS] & child[WHITE])
    goes_on = kings not in (0, int(child[KINGS])) and len(legal_moves(child)) > 0
    return child if goes_on else None


def main() -> None:
    """Play, choose, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--file", type=Path, default=POSITIONS_FILE)
    arguments = parser.parse_args()
    generator = random.Random(SEED)
    chosen: dict[str, None] = {}
    for game in range(GAMES):
        asked = [fen for fen in self_play(SEED + game) if fen not in chosen]
        chosen.update(dict.fromkeys(generator.sample(asked, POSITIONS // GAMES)))
        print(f"game {game + 1}: {len(asked)} positions", file=sys.stderr, flush=True)
    fens = list(chosen)
    generator.shuffle(fens)
    arguments.file.write_text("\n".join(fens) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
