"""States of the belief that become roots of a search, and both sides' keys there."""

import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS
from obscuro.engine.knowledge import Knowledge
from obscuro.rules.key import mix
from obscuro.rules.layout import WORDS
from obscuro.rules.position import hash_positions

Words = npt.NDArray[np.uint64]


def sample_root_states(
    known: Knowledge, wanted: int, held: Words, random: np.random.Generator
) -> Words:
    """Draw positions of the belief without replacement; return them as states uint64[n, W].

    known: up to date. wanted: the most positions to draw; none if it is not above 0. held:
    uint64[m, W], states whose positions are not drawn.
    """
    if wanted <= 0:
        return np.zeros((0, STATE_WORDS), dtype=np.uint64)
    exclude = np.empty(len(held), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(held[:, :WORDS]), exclude)
    sampled = known.belief.sample(wanted, random, exclude=exclude)
    states = np.zeros((len(sampled), STATE_WORDS), dtype=np.uint64)
    states[:, :WORDS] = sampled
    states[:, DRAW_WORD] = known.quiet_plies
    return states


def root_keys(states: Words, our_key: int) -> Words:
    """Both sides' keys, uint64[n, 2], of new roots uint64[n, W].

    ▲ has our key in all of them. ▼ knows the position, so that its key differs from root to root.
    """
    keys = np.empty((len(states), 2), dtype=np.uint64)
    keys[:, 0] = our_key
    hashes = np.empty(len(states), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(states[:, :WORDS]), hashes)
    salt = np.uint64(our_key)
    for i, hashed in enumerate(hashes):
        keys[i, 1] = int(mix(np.uint64(hashed) ^ salt)) or 1
    return keys
