"""Fog of War chess as ZS21 sees it: rules, keys and values by the engine, and forcing moves."""

import numpy as np

from obscuro.engine.chess_game import STATE_WORDS, ChessGame
from obscuro.engine.knowledge import Knowledge
from obscuro.engine.root_states import sample_root_states
from obscuro.research.zs21.forcing import forcing_moves
from obscuro.research.zs21.trunk_game import GrownLeaves, Words
from obscuro.research.zs21.zs21_constants import LEAST_ROOTS
from obscuro.rules.layout import WORDS
from obscuro.rules.tables import TABLES


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


def fresh_states(known: Knowledge, held: Words, random: np.random.Generator) -> Words:
    """Draw positions of the belief that become roots beside those that the last trunk holds.

    known: up to date. held: uint64[n, 9], the states of our infoset that the last trunk holds.
    Returns uint64[m, 9], so many that there are `LEAST_ROOTS` in all if the belief has enough.
    """
    return sample_root_states(known, min(len(known.belief), LEAST_ROOTS) - len(held), held, random)
