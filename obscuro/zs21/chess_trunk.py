"""Fog of War chess as ZS21 sees it: rules, keys and values by the engine, and forcing moves."""

import numpy as np

from obscuro.board.layout import WORDS
from obscuro.board.position import hash_positions
from obscuro.board.tables import TABLES
from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS, ChessGame
from obscuro.engine.knowledge import Knowledge
from obscuro.fog.key import mix
from obscuro.zs21.forcing import forcing_moves
from obscuro.zs21.trunk_game import MAX, MIN, GrownLeaves, Words
from obscuro.zs21.zs21_constants import LEAST_ROOTS


class ChessTrunkGame:
    """The game with one evaluator, as `obscuro.engine.chess_game` has it.

    Draw counters are no part of a transposition's identity (K, B.1).
    """

    state_words = STATE_WORDS
    identity_words = WORDS

    def __init__(self, game: ChessGame) -> None:
        self.game = game

    def grow(self, states: Words, keys: Words) -> GrownLeaves:
        """Return the children of leaves uint64[B, 9] with keys uint64[B, 2]; see `TrunkGame`."""
        expansion = self.game.expand(np.ascontiguousarray(states), np.ascontiguousarray(keys))
        return GrownLeaves(
            expansion.player,
            expansion.offsets,
            expansion.states,
            expansion.keys,
            expansion.values.astype(np.float64),
            expansion.terminal.astype(np.bool_),
            forcing_moves(TABLES, states, expansion.offsets, expansion.states),
            np.ones(len(expansion.values)),
        )


def fresh_states(known: Knowledge, held: Words | None, random: np.random.Generator) -> Words:
    """Draw positions of the belief that become roots beside those that the last trunk holds.

    known: up to date. held: uint64[n, 9], the states of our infoset that the last trunk holds.
    Returns uint64[m, 9], so many that there are `LEAST_ROOTS` in all if the belief has enough.
    """
    count = 0 if held is None else len(held)
    wanted = min(len(known.belief), LEAST_ROOTS) - count
    states = np.zeros((max(wanted, 0), STATE_WORDS), dtype=np.uint64)
    if wanted > 0:
        exclude = np.empty(count, dtype=np.uint64)
        if held is not None:
            hash_positions(np.ascontiguousarray(held[:, :WORDS]), exclude)
        sampled = known.belief.sample(wanted, random, exclude=exclude)
        states = states[: len(sampled)]
        states[:, :WORDS] = sampled
        states[:, DRAW_WORD] = known.quiet_plies
    return states


def fresh_keys(states: Words, our_key: int) -> Words:
    """Return both sides' keys, uint64[n, 2], of new roots uint64[n, 9].

    ▲ has our key in all of them. ▼ knows the position, so its key differs from root to root.
    """
    keys = np.empty((len(states), 2), dtype=np.uint64)
    keys[:, MAX] = our_key
    hashes = np.empty(len(states), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(states[:, :WORDS]), hashes)
    for i, hashed in enumerate(hashes):
        keys[i, MIN] = int(mix(hashed ^ np.uint64(our_key))) or 1
    return keys
