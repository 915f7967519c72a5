"""Information keys of the small games: 64-bit hashes chained over own actions and observations.

The same arithmetic serves Python integers (one node) and arrays (a batch), so a key that is
chained while searching equals the key that was chained while enumerating.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from obscuro.games.extensive_form import Observation

Word = TypeVar("Word", int, NDArray[np.uint64])

_MASK: Final = 2**64 - 1
# Odd numbers nearest to the fractional parts of √2, √3, √5 and √7 times 2^64.
_KEY_FACTOR: Final = 0x6A09E667F3BCC909
_FIRST_FACTOR: Final = 0xBB67AE8584CAA73B
_SECOND_FACTOR: Final = 0x3C6EF372FE94F82B
_WORD_OFFSET: Final = 0xA54FF53A5F1D36F1

_OTHER_MOVED: Final = 0
"""In an event, the place of the own action when it was not the player who moved."""


def mix(key: Word, word: Word) -> Word:
    """Chain `word` to `key`: a hash of both, in this order, never 0."""
    x: Any = (key * _KEY_FACTOR + word + _WORD_OFFSET) & _MASK
    x = ((x ^ (x >> 32)) * _FIRST_FACTOR) & _MASK
    x = ((x ^ (x >> 29)) * _SECOND_FACTOR) & _MASK
    x ^= x >> 32
    hashed: Word = x | (x == 0)
    return hashed


@cache
def event(action: int | None, observation: Observation) -> int:
    """The hash of one ply as one player lives it, to be chained to the player's key.

    `action` is the player's own action, None when someone else moved.
    """
    hashed = mix(len(observation), _OTHER_MOVED if action is None else action + 1)
    for number in observation:
        hashed = mix(hashed, number & _MASK)
    return hashed


def initial_key(player: int, observation: Observation) -> int:
    """The key of `player` at the start of a game. No two players ever share a key."""
    return mix(player + 1, event(None, observation))
