"""Record the positions that `obscuro bench eval` runs on: obscuro/bench/eval_positions.txt.

    python tools/record_eval_positions.py

A third of them were reached in the recorded games of `obscuro bench belief`; a third lie one random
move beside such a game and a third two, as most positions do that a search asks about. Kings are
left in danger as they come. All are distinct, have both kings and a move to make; the file has one
FEN a line, without move counters, in random order.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import chess
import numpy as np

from obscuro.bench.recorded import read_games
from obscuro.board.layout import KINGS, WHITE
from obscuro.board.make import make_move
from obscuro.board.position import Words, find_move, from_fen, legal_moves, to_fen

POSITIONS_FILE = Path(__file__).resolve().parent.parent / "obscuro" / "bench" / "eval_positions.txt"
POSITIONS = 400
ASIDE = 3  # 0, 1 and 2 moves beside the game
SEED = 20261121


def _after(words: Words, move: int) -> Words:
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def _goes_on(words: Words) -> bool:
    kings = int(words[KINGS])
    white = kings & int(words[WHITE])
    return white not in (0, kings) and len(legal_moves(words)) > 0


def played() -> list[Words]:
    """Every position of the recorded games that the game goes on from, each once."""
    found: dict[str, Words] = {}
    for game in read_games():
        words = from_fen(game.fen)
        for uci in game.moves:
            if to_fen(words).split()[0] != chess.STARTING_BOARD_FEN and _goes_on(words):
                found.setdefault(to_fen(words), words)
            move = find_move(words, uci)
            assert move is not None
            words = _after(words, move)
    return list(found.values())


def choose(count: int, seed: int) -> list[str]:
    """The FENs of `count` positions."""
    generator = random.Random(seed)
    positions = played()
    chosen: dict[str, None] = {}
    while len(chosen) < count:
        words = generator.choice(positions)
        for _ in range(len(chosen) % ASIDE):
            if _goes_on(words):
                words = _after(words, int(generator.choice(list(legal_moves(words)))))
        if _goes_on(words):
            chosen.setdefault(to_fen(words))
    fens = list(chosen)
    generator.shuffle(fens)
    return fens


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--file", type=Path, default=POSITIONS_FILE)
    arguments = parser.parse_args()
    arguments.file.write_text("\n".join(choose(POSITIONS, SEED)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
