"""Rebuilding for the tests, and what must be true of what comes out."""

from __future__ import annotations

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief.placement import MOST_HOMES, PAWN_KIND, fewest_captures
from obscuro.belief.rebuild import Rebuilt, Recollection, census, rebuild
from obscuro.rules.layout import PAWNS, STATE, WHITE
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, to_fen
from tests.belief.games import Words, as_set
from tests.well_formed import is_well_formed

START = from_board(chess.Board())
COSTS = np.empty(1 << MOST_HOMES, dtype=np.int8)


def assert_explains(positions: Words, side: int, truth: Words, first: Words) -> None:
    """`side` could be in each of the positions, as far as it can know, and each comes once.

    It sees `truth`, where there are as many enemy pieces as it must think, and has known `first`.
    """
    as_set(positions)
    observation = Observation.of(truth, side)
    own_rights = 0b110 if side == 0 else 0b11000
    captures = (census(first, side) - census(truth, side)).sum()
    homes = pawns_of(first, 1 - side)
    possible = fewest_captures(homes, pawns_of(truth, 1 - side), side == 1, COSTS) <= captures
    for words in positions:
        assert is_well_formed(words), to_fen(words)
        assert Observation.of(words, side) == observation
        assert int(words[STATE]) & 1 == int(truth[STATE]) & 1
        assert int(words[STATE] ^ truth[STATE]) & own_rights == 0
        assert census(words, side).tolist() == census(truth, side).tolist()
        theirs = census(words, 1 - side)
        assert theirs.sum() == census(truth, 1 - side).sum()
        assert theirs[PAWN_KIND] <= census(first, 1 - side)[PAWN_KIND]
        pawns = pawns_of(words, 1 - side)
        if possible:
            assert fewest_captures(homes, pawns, side == 1, COSTS) <= captures, to_fen(words)


def pawns_of(words: Words, colour: int) -> np.uint64:
    return np.uint64(words[PAWNS] & (words[WHITE] if colour == 0 else ~words[WHITE]))


def rebuilt(
    earlier: list[Words] | Words,
    truth: Words,
    side: int,
    first: Words = START,
    *,
    enemy_moves: int = 0,
    remaining: npt.NDArray[np.int64] | None = None,
    limit: int = 1_000_000,
    seed: int = 0,
) -> Rebuilt:
    """What is drawn for a side that sees `truth` and has believed in `earlier`."""
    recollection = Recollection(
        side,
        first,
        np.array(earlier, dtype=np.uint64),
        census(truth, 1 - side) if remaining is None else remaining,
        enemy_moves,
    )
    rng = np.random.default_rng(seed)
    return rebuild(Observation.of(truth, side), int(truth[STATE]) & 1, recollection, limit, rng)
