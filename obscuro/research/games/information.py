"""Information keys of small games: 64-bit hash chains over own actions and observations.

The functions take Python integers (one node) or uint64 arrays (a batch) and compute the same hash.
A key that the search chains therefore equals the key that the enumeration chained.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import Observation

Word = TypeVar("Word", int, NDArray[np.uint64])

_MASK: Final = 2**64 - 1
# Odd numbers nearest to the fractional parts of √2, √3, √5 and √7 times 2^64.
_KEY_FACTOR: Final = 0x6A09E667F3BCC909
_FIRST_FACTOR: Final = 0xBB67AE8584CAA73B
_SECOND_FACTOR: Final = 0x3C6EF372FE94F82B
_WORD_OFFSET: Final = 0xA54FF53A5F1D36F1

_OTHER_MOVED: Final = 0
"""Stands for the own action in an event in which someone else moved."""


def mix(key: Word, word: Word) -> Word:
    """Chain `word` to `key`: return a hash of both, in this order, that is never 0.

    Both are integers in [0, 2^64) or arrays uint64[n]; the hash has the same type.
    """
    x: Any = (key * _KEY_FACTOR + word + _WORD_OFFSET) & _MASK
    x = ((x ^ (x >> 32)) * _FIRST_FACTOR) & _MASK
    x = ((x ^ (x >> 29)) * _SECOND_FACTOR) & _MASK
    x ^= x >> 32
    hashed: Word = x | (x == 0)
    return hashed


@lru_cache(maxsize=1 << 16)
def event(action: int | None, observation: Observation) -> int:
    """Hash one ply in one player's view, for chaining to the player's key.

    `action` is the player's own action, or None if someone else moved.
    """
    hashed = mix(len(observation), _OTHER_MOVED if action is None else action + 1)
    for number in observation:
        hashed = mix(hashed, number & _MASK)
    return hashed


def initial_key(player: int, observation: Observation) -> int:
    """Return the key of `player` at the start of a game. No two players ever share a key."""
    return mix(player + 1, event(None, observation))
