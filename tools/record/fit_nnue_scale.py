"""Fit the scale of `nnue/layers.py` to what the installed Stockfish makes of its network.

    python -m tools.record.fit_nnue_scale

Asks Stockfish's command `eval` for the final value of positions that searches ask about and of
children of positions in the recorded games, none of them in check, and fits the numbers by least
squares, as values in [-1, 1]. Prints the fit and what it leaves, beside what the numbers in use
leave. A minute. Of Stockfish 15.1; later versions print in other units or mix in other things.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.cli.bench.eval_speed import bench_positions
from obscuro.cli.bench.recorded import read_games
from obscuro.evaluation.king_safety import king_is_attacked
from obscuro.evaluation.nnue import layers as static
from obscuro.evaluation.nnue.accumulator import refresh
from obscuro.evaluation.nnue.install import load_networks
from obscuro.evaluation.nnue.layers import OUTPUT_SCALE, bucket_of, material_part, positional_part
from obscuro.evaluation.nnue.network import arrange, make_workspace
from obscuro.evaluation.stockfish.requests import stockfish_can_take
from obscuro.evaluation.stockfish_program import stockfish_path
from obscuro.rules.layout import STATE
from obscuro.rules.make import make_move
from obscuro.rules.moves import side_to_move
from obscuro.rules.position import Words, find_move, from_fen, legal_moves, to_fen
from obscuro.rules.tables import TABLES
from tools.common import given, tool_parser

Numbers = npt.NDArray[np.float64]

TAU_UNITS = 1248
PRINTED_PAWN = 361  # units; Stockfish 15.1
CHILDREN = 5  # of each position
FINAL = re.compile(r"Final evaluation\s+([-+]?[\d.]+) \(white side\)")


@njit(nogil=True, cache=False)
def parts(weights, work, pos):  # type: ignore[no-untyped-def]
    """Material and positional part for the side to move, and the pieces of both, all in units."""
    refresh(weights, work, 0, pos, 0)
    refresh(weights, work, 0, pos, 1)
    own = side_to_move(pos)
    material = material_part(work, 0, own, bucket_of(pos))
    positional = positional_part(weights, work, 0, own, bucket_of(pos))
    return material / OUTPUT_SCALE, positional / OUTPUT_SCALE, static.pieces_units(pos)


def after(words: Words, move: int) -> Words:
    """Return the position after a move."""
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def sample(rng: random.Random) -> list[Words]:
    """Positions that Stockfish can take, not in check."""
    parents = list(bench_positions())
    for game in read_games():
        words = from_fen(game.fen)
        for uci in game.moves:
            move = find_move(words, uci)
            assert move is not None
            words = after(words, move)
            if rng.random() < 0.2:
                parents.append(words)
    found: dict[str, Words] = {}
    for parent in parents:
        moves = list(legal_moves(parent))
        for move in rng.sample(moves, min(CHILDREN, len(moves))):
            words = after(parent, int(move))
            pos = tuple(words)
            in_check = king_is_attacked(TABLES, pos, side_to_move(pos))
            if stockfish_can_take(TABLES, pos) and not in_check:
                found[to_fen(words)] = words
    return list(found.values())


def final_values(stockfish: str, positions: list[Words]) -> Numbers:
    """What Stockfish's search would take, in units, for the side to move."""
    commands = "".join(f"position fen {to_fen(words)} 0 1\neval\n" for words in positions)
    answer = subprocess.run(
        [stockfish], input=f"{commands}quit\n", capture_output=True, text=True, check=True
    )
    pawns = np.array([float(text) for text in FINAL.findall(answer.stdout)])
    signs = np.array([-1 if int(words[STATE]) & 1 else 1 for words in positions])
    units: Numbers = pawns * signs * PRINTED_PAWN
    return units


def value(units: Numbers) -> Numbers:
    """Return values in [-1, 1] of Stockfish's units."""
    return np.tanh(units / TAU_UNITS)


def fit(matrix: Numbers, target: Numbers, start: Numbers) -> Numbers:
    """The factors of columns that fit target best, as values: near those to start with."""
    factors = start
    step = 1.0
    for _ in range(200):  # Gauss-Newton, with shorter steps where it leads up
        found = matrix @ factors
        slope = 1 - value(found) ** 2
        error = value(target) - value(found)
        towards = np.linalg.lstsq(matrix * slope[:, None], error, rcond=None)[0]
        better = factors + step * towards
        if np.sum((value(target) - value(matrix @ better)) ** 2) < np.sum(error**2):
            factors, step = better, min(1.0, 2 * step)
        else:
            step /= 2
    return factors


def left(found: Numbers, target: Numbers) -> str:
    """Return what a fit leaves: the root of the mean square, of values."""
    return f"{np.sqrt(np.mean((value(found) - value(target)) ** 2)):.4f}"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.fit_nnue_scale", __doc__, stores=False)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Sample, ask, fit, and print; returns the exit code."""
    parser = make_parser()
    arguments = parser.parse_args(given(words))
    stockfish = stockfish_path()
    if stockfish is None:
        parser.error("Stockfish is not installed")
    positions = sample(random.Random(arguments.seed))
    target = final_values(stockfish, positions)
    weights = arrange(load_networks(stockfish)[0].network)
    work = make_workspace(weights)
    material, positional, pieces = np.array([parts(weights, work, tuple(w)) for w in positions]).T
    pieces /= static.ALL_PIECES
    network = material + positional
    side = np.sign(material)
    decided = np.abs(material) >= static.DECISIVE

    print(f"{len(positions)} positions, {decided.mean():.0%} decided; what is left: rms of values")
    for name, chosen, columns, used in (
        (
            "network x (bare, pieces)",
            ~decided,
            [network, network * pieces],
            [static.BARE_SCALE / 1024, static.PIECES_SCALE / 1024],
        ),
        (
            "decided: side, material, positional",
            decided,
            [side, material, positional],
            [
                static.DECISIVE_UNITS,
                static.DECISIVE_SCALE / 1024,
                static.DECISIVE_POSITIONAL_SCALE / 1024,
            ],
        ),
    ):
        matrix, wanted = np.stack(columns, axis=1)[chosen], target[chosen]
        fitted = fit(matrix, wanted, np.array(used))
        for what, factors in (("fit", fitted), ("in use", np.array(used))):
            print(f"{name}, {what}: {np.round(factors, 3)}, {left(matrix @ factors, wanted)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
