"""An observation as kernels hold it: 9 `uint64` words, and their hash.

The words are the mask of seen squares, the seven piece boards (pawns … kings, white pieces)
restricted to it, and the square where the side can capture en passant (0 = none).
`obscuro.rules.observation.Observation` is the same for Python.
"""

import numpy as np

from obscuro.kernels import kernel
from obscuro.rules.bits import folded_product
from obscuro.rules.layout import ONE
from obscuro.rules.vision import capturable_en_passant, vision

OBSERVATION_WORDS = 9
SEEN = 0
EN_PASSANT_WORD = 8

# The binary digits of π, after those of the hash of positions.
_K0 = np.uint64(0x9216D5D98979FB1B)
_K1 = np.uint64(0xD1310BA698DFB5AC)
_K2 = np.uint64(0x2FFD72DBD01ADFB7)
_K3 = np.uint64(0xB8E1AFED6A267E96)
_K4 = np.uint64(0xBA7C9045F12C7F99)
_K5 = np.uint64(0x24A19947B3916CF7)
_K6 = np.uint64(0x0801F2E2858EFC16)
_K7 = np.uint64(0x636920D871574E69)
_K8 = np.uint64(0xA458FEA3F4933D7F)


@kernel
def observation_words(tables, pos, side):
    """What `side` observes in `pos`, as a tuple of 9 uint64 words (see the module)."""
    seen = vision(tables, pos, side)
    return (
        seen,
        pos[0] & seen,
        pos[1] & seen,
        pos[2] & seen,
        pos[3] & seen,
        pos[4] & seen,
        pos[5] & seen,
        pos[6] & seen,
        capturable_en_passant(tables, pos, side),
    )


@kernel
def hash_words(words):
    """A 64-bit hash of an observation's 9 words, never 0; made as `position_hash` is."""
    h = folded_product(words[0] ^ _K0, words[1] ^ _K1)
    h ^= folded_product(words[2] ^ _K2, words[3] ^ _K3)
    h ^= folded_product(words[4] ^ _K4, words[5] ^ _K5)
    h ^= folded_product(words[6] ^ _K6, words[7] ^ _K7)
    h = folded_product(h ^ words[EN_PASSANT_WORD], _K8)
    return h if h else ONE


@kernel
def observation_hash(tables, pos, side):
    """`hash_words` of what `side` observes in `pos`."""
    return hash_words(observation_words(tables, pos, side))
