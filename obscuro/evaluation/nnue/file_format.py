"""Read the architecture and the parameters of a `.nnue` file.

All integers are little-endian. The file has a header, a feature transformer and eight layer stacks.
The transformer and the stacks each begin with a word that depends on the architecture:

    version, architecture, length of the description, description
    transformer word, biases, weights, psqt weights         LEB128 since Stockfish 16
    8 x: stack word, then biases and weights of three layers

This module reads HalfKAv2_hm -> 2 x L1/2 (pairs multiplied) -> 15 + 1 -> 2 x 15 -> 32 -> 1 with any
L1: SFNNv5 (Stockfish 15.1), and its wider and narrower successors up to Stockfish 17.1.

Source: the nnue-pytorch project's documentation (docs/nnue.md) and the words in actual files.
"""

import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from obscuro.evaluation.nnue.network import (
    BUCKETS,
    FC0_OUTPUTS,
    FC1_INPUTS,
    FC1_OUTPUTS,
    FEATURES,
    Network,
    NetworkError,
)

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


VERSION = 0x7AF32F20
HALF_KA_V2_HM = 0x7F234CB8
LONGEST_DESCRIPTION = 4096
WIDEST = 8192
SQUARED_INPUTS = FC0_OUTPUTS - 1  # of the second layer; the clipped inputs follow them
LEB128_MAGIC = b"COMPRESSED_LEB128"

_WORD = struct.Struct("<I")


class Architecture(NamedTuple):
    """The content of a network's header."""

    width: int  # L1, the width of one side's accumulator
    description: str  # written by the network's trainers


def transformer_word(width: int) -> int:
    """Return the word before the feature transformer, for L1 = width."""
    return HALF_KA_V2_HM ^ (2 * width)


def stack_word(width: int) -> int:
    """Return the word before each layer stack for L1 = width, which chains the layers' sizes."""
    word = 0xEC42E90D ^ (2 * width)
    for layer, outputs in enumerate((FC0_OUTPUTS, FC1_OUTPUTS, 1)):
        if layer > 0:  # an activation comes between two layers
            word = (word + 0x538D24C7) & 0xFFFFFFFF
        word = ((0xCC03DAE4 + outputs) ^ (word >> 1) ^ (word << 31)) & 0xFFFFFFFF
    return word


def read_architecture(data: bytes | memoryview) -> Architecture:
    """Read the header of a file. Raises NetworkError if the architecture is unknown."""
    return _read_header(_Reader(data))


def read_network(data: bytes | memoryview) -> tuple[Architecture, Network]:
    """Read a whole file into new arrays. Raises NetworkError if the file is damaged or unknown."""
    reader = _Reader(data)
    architecture = _read_header(reader)
    width = architecture.width
    feature_bias = reader.parameters(np.int16, width)
    feature_weights = reader.parameters(np.int16, FEATURES * width)
    psqt_weights = reader.parameters(np.int32, FEATURES * BUCKETS)
    stacks = [_read_stack(reader, width) for _ in range(BUCKETS)]
    if reader.remaining:
        raise _damaged_file(f"{reader.remaining} bytes too many")
    network = Network(
        feature_bias,
        feature_weights.reshape(FEATURES, width),
        psqt_weights.reshape(FEATURES, BUCKETS),
        *(np.stack(arrays) for arrays in zip(*stacks, strict=True)),
    )
    if not network.fc1_weights[:, :, SQUARED_INPUTS:].any():
        # It has the same words as its successor, but its second layer has only the clipped inputs.
        raise NetworkError("this is a network of Stockfish 15")
    return architecture, network


def _read_header(reader: "_Reader") -> Architecture:
    """Read the file up to and including the transformer's word."""
    version, architecture, length = reader.word(), reader.word(), reader.word()
    if version != VERSION:
        raise NetworkError(f"this is no network, or of an unknown version, {version:#x}")
    if length > LONGEST_DESCRIPTION:
        raise _damaged_file(f"a description of {length} bytes")
    description = bytes(reader.take(length)).decode("utf-8", "replace")
    transformer = reader.word()
    width = (transformer ^ HALF_KA_V2_HM) // 2
    if not 0 < width <= WIDEST or width % 64 or transformer_word(width) != transformer:
        raise NetworkError(f"the network's inputs are of an unknown kind, {transformer:#x}")
    if architecture != transformer ^ stack_word(width):
        raise NetworkError(f"the network's layers are unknown, {architecture:#x}")
    return Architecture(width, description)


def _read_stack(reader: "_Reader", width: int) -> tuple[NDArray[Any], ...]:
    """Read one layer stack: the arrays of `Network` without their first dimension."""
    word = reader.word()
    if word != stack_word(width):
        raise _damaged_file(f"layers of another kind, {word:#x}")
    fc0_bias = reader.integers(np.int32, FC0_OUTPUTS)
    fc0_weights = reader.integers(np.int8, FC0_OUTPUTS * width).reshape(FC0_OUTPUTS, width)
    fc1_bias = reader.integers(np.int32, FC1_OUTPUTS)
    fc1_weights = reader.integers(np.int8, FC1_OUTPUTS * FC1_INPUTS)
    fc2_bias = reader.integers(np.int32, 1)
    fc2_weights = reader.integers(np.int8, FC1_OUTPUTS)
    return (
        fc0_bias,
        fc0_weights,
        fc1_bias,
        fc1_weights.reshape(FC1_OUTPUTS, FC1_INPUTS),
        fc2_bias[0],
        fc2_weights,
    )


def _damaged_file(what: str) -> NetworkError:
    return NetworkError(f"the network's file is damaged: {what}", "export it from Stockfish again")


class _Reader:
    """Reads a file's bytes from the front."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._position = 0

    @property
    def remaining(self) -> int:
        """The number of unread bytes."""
        return len(self._data) - self._position

    def take(self, size: int) -> memoryview:
        """Return the next `size` bytes. Raises NetworkError if there are fewer."""
        if size > self.remaining:
            missing = size - self.remaining
            raise _damaged_file(f"at least {missing} bytes are missing")
        self._position += size
        return self._data[self._position - size : self._position]

    def word(self) -> int:
        """Return the next unsigned number of four bytes."""
        return int(_WORD.unpack(self.take(_WORD.size))[0])

    def integers(self, kind: type[np.signedinteger], count: int) -> NDArray[Any]:
        """Return the next `count` integers of the type `kind` as a new array, kind[count]."""
        stored = np.dtype(kind).newbyteorder("<")
        return np.frombuffer(self.take(count * stored.itemsize), stored).astype(kind)

    def parameters(self, kind: type[np.signedinteger], count: int) -> NDArray[Any]:
        """Return the next `count` integers, kind[count], which may be compressed in the file."""
        magic = len(LEB128_MAGIC)
        if bytes(self._data[self._position : self._position + magic]) != LEB128_MAGIC:
            return self.integers(kind, count)
        self.take(magic)
        try:
            return decode(self.take(self.word()), count, kind)
        except ValueError as error:
            raise _damaged_file(str(error)) from error
