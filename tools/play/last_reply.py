"""How likely the true position is by what its last reply was worth, in recorded games.

    python -m tools.play.last_reply GAMES[:PLAYER] ... --games 20

GAMES is a file of `obscuro match --pgn` or `--log`. Of each file `--games` games are drawn, and
followed as the opponent of PLAYER saw them, or as both sides did; PLAYER is the beginning of a name.
This is what a root one own turn earlier could tell: a position q that was possible after our last
move is drawn, and its player knows it and replies well. A reply that is worth v to that player by the
evaluator, in [-1, 1], is played in proportion to exp(v / T), one time in ten at random; a position
weighs what the replies to all q add up to that lead to it. The table takes the logarithm of the true
position's weight against an even share of P: with q drawn evenly; by the belief's weights; and, for
comparison, by the belief's weights now, which do not know values. Turns with more than 256 positions
count. All q that lead to the true position are looked at, and of the others `--sample`. A side is
followed until P has more than `--most` positions. ± is a standard error; one side of a game counts as
one sample.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief
from obscuro.rules.layout import STATE, WORDS
from obscuro.rules.position import from_board
from obscuro.search.keeping import position_hashes
from tools.common import engine_options, given, publish, say, table, tool_parser
from tools.play.recorded_games import FiledGame, Judge, drawn_sides, opponent_moves
from tools.play.replay import stated

Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

FEWEST = 257
TEMPERATURES = (0.02, 0.05, 0.1, 0.2, 0.4)
AT_RANDOM = 0.1  # share of replies, as in the belief's model of moves
MOST_CHANGED = 4  # squares, by castling


class Replies:
    """All replies to some positions q, the reply's player to move: what they lead to and are worth."""

    def __init__(self, judge: Judge, positions: Words) -> None:
        """positions: uint64[n, 8]."""
        children = judge.expand(positions)
        self._starts = children.offsets[:-1]
        self.of = np.repeat(np.arange(len(positions)), np.diff(children.offsets))
        self.hashes = position_hashes(children.states, WORDS)
        self._values: Floats = children.values.astype(np.float64)

    def played(self, temperature: float) -> Floats:
        """How often each reply is played to its position, float64[m]."""
        best = np.maximum.reduceat(self._values, self._starts)[self.of]
        weights = np.exp((self._values - best) / temperature)
        weights /= np.add.reduceat(weights, self._starts)[self.of]
        return (1 - AT_RANDOM) * weights + AT_RANDOM / np.bincount(self.of)[self.of]


def may_lead_to(positions: Words, truth: Words) -> Rows:
    """Which of positions uint64[n, 8] differ from the truth in no more than one move can change."""
    changed = np.bitwise_or.reduce(positions[:, :STATE] ^ truth[:STATE], axis=1)
    bits = np.unpackbits(changed.view(np.uint8).reshape(len(positions), -1), axis=1).sum(axis=1)
    return np.flatnonzero(bits <= MOST_CHANGED)


def nats_of_truth(
    judge: Judge, before: Words, weights: Floats, after: Belief, truth: Words, sample: Rows
) -> dict[str, float]:
    """The logarithm of the truth's weight against an even share, by temperature and way of drawing q.

    before: all q, uint64[n, 8]; weights: float64[n]; after: P after the reply; sample: rows of
    `before`.
    """
    known = np.sort(position_hashes(after.positions, WORDS))
    near = may_lead_to(before, truth)
    others, leading = Replies(judge, before[sample]), Replies(judge, before[near])
    place = np.minimum(np.searchsorted(known, others.hashes), len(known) - 1)
    fits = known[place] == others.hashes
    hits = leading.hashes == position_hashes(truth.reshape(1, -1), WORDS)[0]
    scale = len(before) / len(sample) / len(known)
    found = {}
    for temperature in TEMPERATURES:
        fitting, hitting = others.played(temperature)[fits], leading.played(temperature)[hits]
        for way, q in (("even", np.ones_like(weights)), ("weighed", weights)):
            even = scale * (fitting @ q[sample][others.of[fits]])
            own = hitting @ q[near][leading.of[hits]]
            found[f"{way} {temperature}"] = math.log(own / even)
    return found


def follow_side(
    judge: Judge, game: FiledGame, side: chess.Color, most: int, sample: int
) -> Iterator[dict[str, Any]]:
    """Follow a game as one side saw it; yield the figures after each move of the other one."""
    start, random = from_board(game.start.root()), np.random.default_rng(game.number)
    belief = Belief(start, 0 if side == chess.WHITE else 1, 2 * most, weighted=True)
    with closing(belief):
        for board, observation in opponent_moves(game, side, [belief]):
            before = belief.positions
            weights = None if belief.weights is None else belief.weights.astype(np.float64)
            belief.after_opponent_move(observation)
            if len(belief) > most:
                return
            if len(belief) < FEWEST or belief.weights is None or weights is None:
                continue
            truth = from_board(board)
            drawn = random.choice(len(before), min(sample, len(before)), replace=False)
            nats = nats_of_truth(judge, before, weights, belief, truth, drawn)
            now = math.log(float(belief.weights_of(truth.reshape(1, -1))[0]))
            yield {"size": len(belief), "now": now} | nats


def measure(
    sources: Sequence[str], games: int, most: int, sample: int, seed: int
) -> list[dict[str, Any]]:
    """Return the figures of each turn, by file, game and side."""
    with closing(Judge(engine_options(), say)) as judge:
        return [
            named | turn
            for named, game, side in drawn_sides(sources, games, seed)
            for turn in follow_side(judge, game, side, most, sample)
        ]


def render(rows: list[dict[str, Any]]) -> Iterator[str]:
    """A table by file, player and temperature."""
    cells = []
    for file, player in dict.fromkeys((row["file"], row["player"]) for row in rows):
        own = [row for row in rows if (row["file"], row["player"]) == (file, player)]

        def nats(key: str, own: Sequence[dict[str, Any]] = own) -> str:
            return stated([((row["game"], row["side"]), row[key]) for row in own], 2)

        for temperature in TEMPERATURES:
            ways = [nats(f"{way} {temperature}") for way in ("even", "weighed")]
            cells.append([file, player, len(own), temperature, *ways, nats("now")])
    yield from table(
        [
            *("games", "opponent", "turns", "T"),
            *("nats over even: even q", "weighed q", "the belief's weights"),
        ],
        cells,
        "llrrrrr",
    )


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = tool_parser("tools.play.last_reply", __doc__)
    parser.add_argument("sources", nargs="+", metavar="GAMES")
    parser.add_argument("--games", type=int, default=20, help="of each file; default: 20")
    parser.add_argument("--most", type=int, default=30_000, help="positions; default: 30000")
    parser.add_argument("--sample", type=int, default=200, help="of q; default: 200")
    parser.add_argument("--seed", type=int, default=2)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the tool; return the exit code."""
    parser, words = make_parser(), given(words)
    told = parser.parse_args(words)
    rows = measure(told.sources, told.games, told.most, told.sample, told.seed)
    publish(parser, words, told.raw, rows, render)
    return 0


if __name__ == "__main__":
    sys.exit(main())
