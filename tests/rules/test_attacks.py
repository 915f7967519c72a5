import random

import numpy as np
import pytest
from numba import njit

from obscuro.rules import tables as attacks
from obscuro.rules.bits import HAS_FAST_PEXT, byteswap, lowest_square, popcount
from obscuro.rules.tables import BISHOP_STEPS, ROOK_STEPS, TABLES, ray_attacks

WAYS = [
    pytest.param(attacks.bishop_attacks_by_lines, BISHOP_STEPS, id="bishop-lines"),
    pytest.param(attacks.rook_attacks_by_lines, ROOK_STEPS, id="rook-lines"),
]
if HAS_FAST_PEXT:
    WAYS += [
        pytest.param(attacks.bishop_attacks_by_pext, BISHOP_STEPS, id="bishop-pext"),
        pytest.param(attacks.rook_attacks_by_pext, ROOK_STEPS, id="rook-pext"),
    ]


@pytest.mark.parametrize(("kernel", "steps"), WAYS)
def test_sliding_attacks_equal_walking_the_rays(kernel, steps):
    rng = random.Random(3)
    for square in range(64):
        for density in (0, 1, 2, 3):
            occupied = rng.getrandbits(64)
            for _ in range(density):
                occupied &= rng.getrandbits(64)
            occupied |= 1 << square
            attacked = kernel(TABLES, square, np.uint64(occupied))
            assert int(attacked) == ray_attacks(square, steps, True, occupied)


def test_bit_instructions_equal_python():
    @njit
    def all_of(word):
        return lowest_square(word), popcount(word), byteswap(word)

    rng = random.Random(4)
    for _ in range(200):
        word = rng.getrandbits(64) or 1
        lowest, count, swapped = all_of(np.uint64(word))
        assert lowest == (word & -word).bit_length() - 1
        assert count == word.bit_count()
        assert int(swapped) == int.from_bytes(word.to_bytes(8, "little"), "big")
