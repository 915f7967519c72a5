"""Decode signed LEB128, seven bits a byte, which compresses networks since Stockfish 16."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK = 1 << 18  # bytes to decode at a time, so that the arrays stay in the CPU's cache


def decode(data: bytes | memoryview, count: int, kind: type[np.signedinteger]) -> NDArray[Any]:
    """Decode all of `data` to an array kind[count].

    A number's lowest bits come first. The top bit of a byte means that another byte follows. The
    next bit of the last byte is the sign. Raises ValueError if `data` is not exactly `count`
    numbers, or one of them does not fit the type.
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
    """Return the numbers whose last bytes are at `ends`; the first number begins the chunk."""
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
