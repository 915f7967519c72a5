"""Follow recorded games, and keep what a search solved and what came of it.

A search values each history of its root: the positions that are possible for all that its side
knows, the true one and others. Once solved, the tree looks further ahead there than a leaf's value
does, and its players know no more than they would. The difference is what a leaf's value misses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import chess
import numpy as np
import numpy.typing as npt

from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.learn.filed_games import FiledGame
from obscuro.learn.followed_turns import FollowedTurn, follow
from obscuro.learn.samples import Samples, joined, white_is_followed
from obscuro.rules.layout import WORDS
from obscuro.rules.position import from_board

Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
LeafValues = Callable[[Words], npt.NDArray[np.float32]]
"""Maps positions uint64[n, 8] to values of leaves float32[n], in the view of the side to move."""

BEFORE = 6
"""The turn before a solved one gets a search of this part of its size, so that there is a tree."""

LIKELY = 0.1
"""A child counts if the strategy plays its move with this probability or a larger one."""


@dataclass(frozen=True)
class Searches:
    """Which turns of a side are solved, and how long; exactly one of the limits is given.

    movetime: milliseconds. every: one turn of so many.
    """

    every: int
    movetime: int | None = None
    nodes: int | None = None

    def limits(self, share: int) -> GoLimits:
        """Return the limits of a search that begins now, of one part in `share`."""
        return GoLimits(
            time.monotonic(),
            movetime=None if self.movetime is None else max(self.movetime // share, 1),
            nodes=None if self.nodes is None else max(self.nodes // share, 1),
        )

    def at(self, turn: int, first: int) -> int | None:
        """Return the share of a side's turn (from 0), if `first` is solved; None: no search."""
        if (turn - first) % self.every == 0:
            return 1
        return BEFORE if (turn + 1 - first) % self.every == 0 else None


def side_of(game: FiledGame) -> chess.Color:
    """Return the side that is followed: the game's key decides it, as a coin would."""
    return bool(white_is_followed(np.array([game.key], np.uint64))[0])


def solved_samples(
    player: Player, leaf_values: LeafValues, game: FiledGame, searches: Searches
) -> Samples:
    """Follow one side of a game; return what its searches solved, in the view of who is to move.

    A solved turn has its root histories that were expanded, and of these the likely children, which
    stand at the next ply.

    Which of the first turns is solved is left to the game's key. A turn whose move needed no search
    has no samples.
    """
    side = side_of(game)
    first = (game.key >> 1) % searches.every
    turns = iter(range(len(game.moves)))
    solved: set[int] = set()

    def limits(ply: int) -> GoLimits | None:
        share = searches.at(next(turns), first)
        if share == 1:
            solved.add(ply)
        return None if share is None else searches.limits(share)

    parts = []
    for turn in follow(player, game, side, limits):
        if turn.ply in solved and turn.coverage.in_infoset is not None and turn.info.iterations:
            parts.append(_tree_samples(player, leaf_values, game, turn))
    return joined(parts)


def _tree_samples(
    player: Player, leaf_values: LeafValues, game: FiledGame, turn: FollowedTurn
) -> Samples:
    """Return the samples of one solved turn: the root histories, and their likely children.

    In the children the other side is to move. A search is less hopeful for its own side than a leaf
    is, as that side does not know its position. With one side to move alone, a fit would take this
    for a price of having to move, and charge it to the other side as well.
    """
    search = player.equipment.search
    histories = search.our_histories()
    kept = np.flatnonzero(histories.expanded)
    edges, states = histories.edges[kept], histories.states[kept][:, :WORDS]
    weights = histories.weights[kept]
    children = search.likely_children(edges, LIKELY)
    result = game.result(turn.board.turn)

    def samples(
        states: Words, values: npt.NDArray[np.float32], weights: Floats, ply: int, sign: int
    ) -> Samples:
        count = len(states)
        return Samples(
            states,
            leaf_values(states),
            np.clip(sign * values, -1, 1).astype(np.float32),
            weights.astype(np.float32),
            (states == turn.words).all(axis=1),
            np.full(count, game.key, np.uint64),
            np.full(count, ply, np.int16),
            np.full(count, sign * result, np.int8),
        )

    return joined(
        [
            samples(states, search.history_values(edges), weights, turn.ply, 1),
            samples(
                children.states[:, :WORDS],
                search.history_values(children.edges),
                weights[children.parents] * children.shares,
                turn.ply + 1,
                -1,
            ),
        ]
    )


def seen_samples(leaf_values: LeafValues, game: FiledGame) -> Samples:
    """Return the true position of each turn of a game, without any search."""
    board = game.start.copy()
    states, results = [], []
    for move in game.moves:
        states.append(from_board(board))
        results.append(game.result(board.turn))
        board.push(move)
    count = len(states)
    words = np.array(states, dtype=np.uint64).reshape(count, WORDS)
    return Samples(
        words,
        leaf_values(words),
        np.full(count, np.nan, np.float32),
        np.ones(count, np.float32),
        np.ones(count, np.bool_),
        np.full(count, game.key, np.uint64),
        np.arange(count, dtype=np.int16),
        np.array(results, dtype=np.int8),
    )


def spread(games: list[FiledGame], most: int | None) -> list[FiledGame]:
    """Return at most so many of the games that the rules ended, evenly spread, each game once."""
    distinct = {game.key: game for game in reversed(games) if game.regular and game.moves}
    found = list(reversed(distinct.values()))
    if most is None or most >= len(found):
        return found
    return [found[index * len(found) // most] for index in range(most)]
