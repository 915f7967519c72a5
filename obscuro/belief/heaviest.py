"""The order in which an update visits the positions of a weighted belief: the likeliest first.

If the clock ends the update, or there is no room for more, what is left out is the least likely.
"""

import numpy as np

from obscuro.kernels import kernel

_HALF_OCTAVE = np.uint32(22)  # of a float32's bits: its exponent, and the highest bit below that
_LIGHTEST = 214  # these bits of 2^-20, about `posterior.LEAST_WEIGHT`
KINDS = 64  # of weights, from there on up; the last one has no upper end


@kernel
def _kind(bits):
    """The kind of a weight, by the bits of its float32: 0 for the heaviest ones."""
    above = np.int64(bits >> _HALF_OCTAVE) - _LIGHTEST
    return KINDS - 1 - max(0, min(KINDS - 1, above))


@kernel
def heaviest_first(records, bits, first, last):
    """Put the records number `first` to `last` - 1 in the order of their weights, both in place.

    records: uint64[n, 3]; bits: their weights, float32[n] above 0, seen as uint32[n]. Weights that
    differ by less than a factor of √2 may stay as they are. Takes one pass.
    """
    ends = np.zeros(KINDS, dtype=np.int64)
    for row in range(first, last):
        ends[_kind(bits[row])] += 1
    places = np.empty(KINDS, dtype=np.int64)
    end = first
    for kind in range(KINDS):
        places[kind] = end
        end += ends[kind]
        ends[kind] = end
    for kind in range(KINDS):
        while places[kind] < ends[kind]:
            row = places[kind]
            other = _kind(bits[row])
            if other != kind:
                there = places[other]
                bits[row], bits[there] = bits[there], bits[row]
                for word in range(3):
                    records[row, word], records[there, word] = (
                        records[there, word],
                        records[row, word],
                    )
            places[other] += 1
