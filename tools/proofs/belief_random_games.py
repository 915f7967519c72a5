"""Follow random games with a belief of each side: is the true position always in it, how fast is it?

    python -m tools.proofs.belief_random_games --games 1000 --limit 200000
    python -m tools.proofs.belief_random_games --games 20 --limit 2000000 --naive --threads 2

At every ply the true position must be in P; otherwise the exit status is 1. A side's belief is
followed until it has more positions than the limit. At the end there is a table: for own moves, and
for the other side's moves that let P grow and that let it shrink, by the size of P before, how long
the updates took. A candidate is a move of the other side in one of the positions; the naive kernel,
which makes them all and computes what is seen, is measured on the same updates with `--naive`, and
must find the same positions.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import chess
import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.belief import Belief
from obscuro.rules.layout import KINGS, MAX_MOVES, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, hash_positions, legal_moves, load, to_fen
from obscuro.rules.tables import TABLES
from tests.belief.naive import NaiveBelief
from tools.common import given, tool_parser

Words = npt.NDArray[np.uint64]

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
KINDS = ("own move", "other's, P grows", "other's, P shrinks")


class Measured(NamedTuple):
    """One update."""

    kind: str
    parents: int
    children: int
    candidates: int
    seconds: float
    naive_seconds: float | None


@njit(nogil=True)
def count_moves(tables, positions, moves):  # type: ignore[no-untyped-def]
    """Number of moves in all rows of uint64[n, 8]; moves: uint32[MAX_MOVES], scratch."""
    count = 0
    for row in range(positions.shape[0]):
        count += generate_moves(tables, load(positions, row), moves)
    return count


def play_on(words: Words, rng: random.Random, captures: float) -> tuple[int, Words] | None:
    """A random move and the position after it; None if the game ends with it."""
    moves = [int(move) for move in legal_moves(words)]
    occupied = int(np.bitwise_or.reduce(words[:WHITE]))
    capturing = [move for move in moves if occupied >> (move >> 6 & 63) & 1]
    move = rng.choice(capturing if capturing and rng.random() < captures else moves)
    child = np.array(make_move(tuple(words), move), dtype=np.uint64)
    kings = int(child[KINGS] & child[WHITE])
    goes_on = kings not in (0, int(child[KINGS])) and len(legal_moves(child)) > 0
    return (move, child) if goes_on else None


def update(belief: Belief, move: int, observation: Observation) -> float:
    """Let the belief see a ply; return the seconds that took."""
    start = time.perf_counter()
    if belief.our_turn:
        belief.after_own_move(move, observation)
    else:
        belief.after_opponent_move(observation)
    return time.perf_counter() - start


def sorted_hashes(positions: Words) -> Words:
    """Return the hashes [n] of positions [n, 8], in order."""
    hashes = np.empty(len(positions), dtype=np.uint64)
    hash_positions(positions, hashes)
    return np.sort(hashes)


def measure(belief: Belief, move: int, observation: Observation, naive: bool) -> Measured:
    """Update the belief, and a naive copy of it if asked for."""
    before, ours = belief.positions, belief.our_turn
    slow = NaiveBelief.of(belief) if naive else None
    seconds = update(belief, move, observation)
    candidates = len(before)
    if not ours:
        candidates = count_moves(TABLES, before, np.empty(MAX_MOVES, dtype=np.uint32))
    naive_seconds = None
    if slow is not None:
        naive_seconds = update(slow, move, observation)
        if not np.array_equal(sorted_hashes(belief.positions), sorted_hashes(slow.positions)):
            sys.exit("the naive kernel finds other positions")
    kind = KINDS[0] if ours else KINDS[1 + (len(belief) <= len(before))]
    return Measured(kind, len(before), len(belief), candidates, seconds, naive_seconds)


def follow_game(seed: int, options: argparse.Namespace) -> list[Measured]:
    """Play one game; return what was measured."""
    rng = random.Random(seed)
    words = from_fen(options.fen)
    beliefs = [Belief(words, side, 1 << 40, options.threads) for side in (0, 1)]
    results: list[Measured] = []
    for ply in range(options.plies):
        step = play_on(words, rng, options.captures)
        if step is None or not beliefs:
            break
        move, words = step
        for belief in list(beliefs):
            result = measure(belief, move, Observation.of(words, belief.side), options.naive)
            results.append(result)
            if not belief.contains(words) or not belief.exact:
                sys.exit(f"game {seed}, ply {ply}, side {belief.side} has lost {to_fen(words)}")
            if len(belief) > options.limit:
                beliefs.remove(belief)
    for belief in beliefs:
        belief.close()
    return results


def print_table(results: list[Measured]) -> None:
    """Print medians by kind and size."""
    print(f"{'update':20}{'|P| before':>12}{'updates':>9}{'ms':>10}{'ns/position':>13}", end="")
    print(f"{'M cand./s':>11}{'naive':>8}{'faster':>8}")
    groups: defaultdict[tuple[int, int], list[Measured]] = defaultdict(list)
    for result in results:
        size = sum(result.parents >= bound for bound in SIZES)
        groups[KINDS.index(result.kind), size].append(result)
    for (kind, size), group in sorted(groups.items()):
        bounds = f"≥ {SIZES[size - 1]:,}" if size else f"< {SIZES[0]}"
        print(f"{KINDS[kind]:20}{bounds:>12}{len(group):9}", end="")
        print(f"{1e3 * statistics.median(r.seconds for r in group):10.2f}", end="")
        print(f"{1e9 * statistics.median(r.seconds / r.parents for r in group):13.0f}", end="")
        print(f"{statistics.median(r.candidates / r.seconds for r in group) / 1e6:11.2f}", end="")
        naive = [r.candidates / r.naive_seconds for r in group if r.naive_seconds]
        if naive:
            ratio = statistics.median(r.naive_seconds / r.seconds for r in group if r.naive_seconds)
            print(f"{statistics.median(naive) / 1e6:8.2f}{ratio:8.1f}", end="")
        print()


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.belief_random_games", __doc__, stores=False)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--plies", type=int, default=150, help="longest game")
    parser.add_argument("--seed", type=int, default=0, help="of the first game")
    parser.add_argument("--limit", type=int, default=200_000, help="positions to go on with")
    parser.add_argument("--captures", type=float, default=0.1, help="share of forced captures")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--naive", action="store_true", help="measure the naive kernels too")
    parser.add_argument("--fen", default=chess.STARTING_FEN)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Follow the games and print the table; returns the exit code."""
    options = make_parser().parse_args(given(words))
    results: list[Measured] = []
    for number in range(options.games):
        results += follow_game(options.seed + number, options)
        largest = max(result.children for result in results)
        print(
            f"\rgame {number + 1}/{options.games}, {len(results):,} plies seen, largest |P| {largest:,}",
            end="",
            file=sys.stderr,
            flush=True,
        )
    print(file=sys.stderr)
    print(f"the true position was in P at all of {len(results):,} plies seen")
    print_table(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
