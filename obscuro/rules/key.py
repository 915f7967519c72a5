"""Information keys: two histories with equal keys are in the same infoset of a side.

A side's key is a 64-bit hash chained over its own moves and all its observations, one step a ply.
The real game and the nodes of the search's tree chain their keys by the same functions. So the
search finds the game's present infoset in its tree by the key.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.layout import ONE

_OWN = np.uint64(0xA24BAED4963EE407)
_OTHER = np.uint64(0x9FB21C651E98DF25)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)


@kernel
def mix(word):
    """A bijective scramble of 64 bits (the finisher of splitmix64)."""
    word = (word ^ (word >> _S30)) * _M1
    word = (word ^ (word >> _S27)) * _M2
    return word ^ (word >> _S31)


@kernel
def initial_key(side, observation):
    """The key of `side` where the game starts, from the hash of what it sees there."""
    return _never_zero(mix(np.uint64(observation) ^ (np.uint64(side + 1) * _OWN)))


@kernel
def key_after_own_move(key, move, observation):
    """The mover's key after its `move` (a move word) and the hash of what it then observes."""
    chained = np.uint64(key) + (np.uint64(move) + ONE) * _OWN
    return _never_zero(mix(mix(chained) ^ np.uint64(observation)))


@kernel
def key_after_other_move(key, observation):
    """A side's key after a move of the other side, from the hash of what it then observes."""
    return _never_zero(mix(mix(np.uint64(key) + _OTHER) ^ np.uint64(observation)))


@kernel
def _never_zero(word):
    return word if word else ONE
