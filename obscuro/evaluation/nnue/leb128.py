"""Signed LEB128, in which networks since Stockfish 16 are compressed: seven bits a byte."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 18  # bytes decoded at a time: the arrays that it takes stay in the CPU's cache


def decode(data: bytes | memoryview, count: int, kind: type[np.signedinteger]) -> NDArray[Any]:
    """The `count` integers that are all of `data`, as an array of `kind`.

    The lowest bits come first; the top bit of a byte says that there is more, the next one of the
    last byte is the sign. Raises ValueError if it is anything else than `count` such numbers that
    fit the kind.
    """
    octets = np.frombuffer(data, np.uint8)
    limits = np.iinfo(kind)
    longest = -(-limits.bits // 7)
    values = np.empty(count, kind)
    done = position = 0
    while position < octets.size:
        chunk = octets[position : position + CHUNK]
        ends = np.flatnonzero(chunk < 0x80)
        if not ends.size:
            raise ValueError("a number does not end")
        numbers = _join(chunk, ends, longest)
        if numbers.min() < limits.min or numbers.max() > limits.max:
            raise ValueError("a number is too large")
        if done + numbers.size > count:
            raise ValueError("there are too many numbers")
        values[done : done + numbers.size] = numbers
        done += numbers.size
        position += int(ends[-1]) + 1
    if done < count:
        raise ValueError("there are too few numbers")
    return values


def _join(chunk: NDArray[np.uint8], ends: NDArray[np.intp], longest: int) -> NDArray[np.int64]:
    """The numbers whose last bytes are at `ends`; the first of them begins the chunk."""
    lengths = np.diff(ends, prepend=-1)
    if lengths.max() > longest:
        raise ValueError("a number is too long")
    last = chunk[ends].astype(np.int64)
    numbers = ((last & 0x7F) ^ 0x40) - 0x40  # the last byte holds the sign
    several = np.flatnonzero(lengths > 1)
    for back in range(1, longest):
        several = several[lengths[several] > back]
        numbers[several] = (numbers[several] << 7) | (chunk[ends[several] - back] & 0x7F)
    return numbers
