"""Record the games that `obscuro bench belief` runs on: obscuro/cli/bench/belief_games.txt.

    python -m tools.record.record_belief_games

Plays games of three kinds and follows each with the exact belief of either side; then chooses sides
and plies such that updates of all sizes come up, some that let P grow and some that let it shrink.
The kinds: `random`, quiet random moves; `engine`, self-play with the evaluator `material` and a
fixed number of nodes a move; `hider`, one side chooses among some random moves that after which the
other side's belief is largest, from the usual start and from positions full of rare rules. All of
it is drawn from fixed seeds and bounded by nodes, not by time, so the same engine writes the same
file again. Takes some minutes. With `--recount` the games stay, and what the belief does in them is
computed anew; that must change nothing unless the rules have changed.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chess
import numpy as np
import numpy.typing as npt
from numba import njit

from obscuro.belief.belief import Belief
from obscuro.cli.bench.recorded import (
    GAMES_FILE,
    LARGEST,
    SMALLEST,
    RecordedGame,
    RecordedUpdate,
    all_updates,
    new_belief,
    read_games,
    steps,
    take_in,
    write_games,
)
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.layout import KINGS, MAX_MOVES, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.moves import generate_moves
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, from_fen, legal_moves, load, move_to_uci
from obscuro.rules.tables import TABLES
from tools.common import engine_options, given, say, tool_parser

Words = npt.NDArray[np.uint64]

MOST = 3_500_000  # positions after it, to go on
WORK = 250e6  # candidates that a belief is followed through
PLIES = 240  # longest game
NODES = 4_000  # that the engine adds to its tree in a move
PLAYING_BELIEF = 100_000  # the cap of the belief that it plays with
TRIED = 5  # moves that a hider looks at
TRYABLE = 30_000  # positions up to which it can afford to

RARE = (  # castling, promotions and en passant all around
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "4k2r/1pp2pp1/p2pp2p/3P4/2P1p3/5N2/PP1P1PPP/R3K3 w Qk - 0 1",
)

# How many updates are chosen: by size of P before, those that grow and those that shrink.
BOUNDS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, LARGEST + 1)
GROWING = (10, 10, 12, 12, 10, 6, 2)
SHRINKING = (10, 10, 12, 12, 8, 4, 0)
MILLIONS = 6
DEAREST = 30e6  # candidates in a game, for each update taken from it
MOST_OF_A_GAME = 5  # updates taken from one side of one game


class Played(NamedTuple):
    """A game as it was played."""

    name: str
    fen: str
    moves: list[str]


# -- players --------------------------------------------------------------------------------


def after(words: Words, move: int) -> Words | None:
    """The position after a move; None if the game ends with it."""
    child = np.array(make_move(tuple(words), move), dtype=np.uint64)
    kings = int(child[KINGS] & child[WHITE])
    goes_on = kings not in (0, int(child[KINGS])) and len(legal_moves(child)) > 0
    return child if goes_on else None


def quiet_moves(words: Words) -> list[int]:
    """The moves that capture nothing; all of them where there are none."""
    occupied = int(np.bitwise_or.reduce(words[:WHITE]))
    moves = [int(move) for move in legal_moves(words)]
    return [move for move in moves if not occupied >> (move >> 6 & 63) & 1] or moves


def random_game(seed: int, fen: str = chess.STARTING_FEN, captures: float = 0.1) -> Played:
    """A game of random moves; captures are considered in a share of the moves only."""
    rng = random.Random(seed)
    words = from_fen(fen)
    moves: list[str] = []
    while len(moves) < PLIES:
        every = [int(move) for move in legal_moves(words)]
        move = rng.choice(every if rng.random() < captures else quiet_moves(words))
        child = after(words, move)
        if child is None:
            break
        words = child
        moves.append(move_to_uci(move))
    return Played(f"random {seed}", fen, moves)


def self_play(seed: int) -> Played:
    """A game of the engine against itself, each side with a belief of its own."""
    players = [Player(player_options(2 * seed + side + 1), lambda text: None) for side in (0, 1)]
    board = FogOfWarBoard()
    moves: list[str] = []
    for side, player in enumerate(players):
        player.new_game(side, from_board(board))
    while len(moves) < PLIES:
        limits = GoLimits(received=time.monotonic(), nodes=NODES)
        uci = players[len(moves) % 2].search(limits, threading.Event()).move
        if uci is None:
            break
        board.push_uci(uci)
        if board.is_variant_loss():
            break
        moves.append(uci)
        for color, player in zip((chess.WHITE, chess.BLACK), players, strict=True):
            last_ply(board, color).tell(player)
    for player in players:
        player.close()
    return Played(f"engine {seed}", chess.STARTING_FEN, moves)


def player_options(seed: int) -> Options:
    """Return the options of a player that repeats itself."""
    return engine_options(
        Evaluator="material",
        Threads=1,
        Hash=64,
        Search="min_infoset_size=64",
        Max_Positions=PLAYING_BELIEF,
        Seed=seed,
    )


def hiding_game(seed: int, fen: str = chess.STARTING_FEN) -> Played:
    """A game of quiet random moves in which one side hides as long as that can be computed.

    The other side makes, in a part of its moves, the one that lets it see most.
    """
    rng = random.Random(seed)
    hider = seed % 2
    words = from_fen(fen)
    moves: list[str] = []
    belief = Belief(words, 1 - hider, max_positions=MOST)
    while len(moves) < PLIES and len(belief) < MOST:
        choices = quiet_moves(words)
        to_move = int(words[-1]) & 1
        if to_move == hider:
            tried = rng.sample(choices, min(TRIED, len(choices)))
            reached = [(move, after(words, move)) for move in tried]
            goes_on = [(move, child) for move, child in reached if child is not None]
            if not goes_on:
                break
            move, child = goes_on[0]
            if len(belief) <= TRYABLE:
                move, child = max(goes_on, key=lambda option: hidden(belief, option[1]))
            belief.after_opponent_move(Observation.of(child, 1 - hider))
        else:
            move = rng.choice(choices)
            if rng.random() < 0.2:
                move = max(choices, key=lambda move: sight(words, move))
            reached_by_us = after(words, move)
            if reached_by_us is None:
                break
            child = reached_by_us
            belief.after_own_move(move, Observation.of(child, 1 - hider))
        words = child
        moves.append(move_to_uci(move))
    return Played(f"hider {seed}", fen, moves)


def hidden(belief: Belief, child: Words) -> int:
    """How many positions are possible to a side after the other's move to a position."""
    looking = belief.copy()
    looking.after_opponent_move(Observation.of(child, belief.side))
    return len(looking)


def sight(words: Words, move: int) -> int:
    """How many squares the mover sees after a move."""
    child = np.array(make_move(tuple(words), move), dtype=np.uint64)
    return Observation.of(child, int(words[-1]) & 1).seen.bit_count()


def play_all() -> Iterator[Played]:
    """All games, of all kinds in turn."""
    for seed in range(8):
        yield self_play(seed)
        yield hiding_game(seed)
        yield self_play(100 + seed)
        yield hiding_game(100 + seed, RARE[seed % len(RARE)])
        yield self_play(200 + seed)
        yield random_game(seed)


# -- following ------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def count_moves(tables, positions, moves):  # type: ignore[no-untyped-def]
    """Number of moves in all rows of uint64[n, 8]; moves: uint32[MAX_MOVES], scratch."""
    count = 0
    for row in range(positions.shape[0]):
        count += generate_moves(tables, load(positions, row), moves)
    return count


def follow(game: RecordedGame, threads: int) -> RecordedGame:
    """The game, as far as the belief can be followed, with all updates after the other's moves."""
    belief = new_belief(game, threads)
    updates, work = [], 0
    for step in steps(game):
        parents, candidates = len(belief), 0
        if step.move is None:
            moves = np.empty(MAX_MOVES, dtype=np.uint32)
            candidates = count_moves(TABLES, belief.positions, moves)
        take_in(belief, step)
        if not belief.exact:
            break
        if step.move is None:
            updates.append(RecordedUpdate(step.ply, parents, len(belief), candidates))
            work += candidates
        if len(belief) > MOST or work > WORK:
            break
    belief.close()
    return game._replace(updates=tuple(updates))


# -- choosing -------------------------------------------------------------------------------


class Wanted:
    """How many updates of each kind are still wanted."""

    def __init__(self) -> None:
        self.left: Counter[object] = Counter()
        for size in range(len(BOUNDS) - 1):
            self.left[True, size] = GROWING[size]
            self.left[False, size] = SHRINKING[size]
        self.left["million"] = MILLIONS

    def take(self, update: RecordedUpdate) -> bool:
        """Whether an update is wanted; if so there is one less to want."""
        keys = [key for key in kinds(update) if self.left[key] > 0]
        self.left.subtract(keys)
        return bool(keys)


def kinds(update: RecordedUpdate) -> Iterator[object]:
    """What an update counts as."""
    if not SMALLEST <= update.parents <= LARGEST:
        return
    yield update.grows, sum(update.parents >= bound for bound in BOUNDS[1:])
    if update.leads_to_a_million:
        yield "million"


def choose(games: list[RecordedGame]) -> list[RecordedGame]:
    """Choose sides and plies to measure."""
    wanted = Wanted()
    chosen = []
    for game in games:
        taken: list[RecordedUpdate] = []
        work = 0
        for update in game.updates:
            work += update.candidates
            if work > DEAREST * (1 + len(taken)) or len(taken) == MOST_OF_A_GAME:
                break
            if wanted.take(update):
                taken.append(update)
        if taken:
            moves = game.moves[: taken[-1].ply + 1]
            chosen.append(game._replace(moves=moves, updates=tuple(taken)))
    for kind, number in wanted.left.items():
        if number > 0:
            print(f"still wanted: {number} of {kind}", file=sys.stderr)
    return chosen


HEADING = (
    "The games that `obscuro bench belief` measures the belief on; see recorded.py for the format.",
    "Written by python -m tools.record.record_belief_games.",
    "",
)


def summary(games: list[RecordedGame]) -> Iterator[str]:
    """Say how many updates there are, and of what size."""
    updates = list(all_updates(games))
    for grows in (True, False):
        sizes = [update.parents for update in updates if update.grows == grows]
        counts = [
            sum(low <= size < high for size in sizes) for low, high in itertools.pairwise(BOUNDS)
        ]
        yield (f"{'growing' if grows else 'shrinking'}: {len(sizes)}, by size {counts}")
    total = sum(update.candidates for update in updates)
    yield (f"{len(games)} games, {total / 1e6:.0f} million candidates")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.record_belief_games", __doc__, stores=False)
    parser.add_argument("--file", type=Path, default=GAMES_FILE)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--recount", action="store_true", help="keep the games")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, choose, and write the file; returns the exit code."""
    options = make_parser().parse_args(given(words))
    if options.recount:
        games = []
        for game in read_games(options.file):
            plies = {update.ply for update in game.updates}
            every = follow(game, options.threads).updates
            games.append(game._replace(updates=tuple(u for u in every if u.ply in plies)))
    else:
        followed = []
        for played in play_all():
            for side in (0, 1):
                game = RecordedGame(played.name, side, played.fen, tuple(played.moves), ())
                followed.append(follow(game, options.threads))
                sizes = [update.positions for update in followed[-1].updates]
                say(f"{game.name}, side {side}: {len(sizes)} updates, largest |P| {max(sizes):,}")
        games = choose(followed)
    write_games(options.file, games, HEADING)
    print("\n".join(summary(games)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
