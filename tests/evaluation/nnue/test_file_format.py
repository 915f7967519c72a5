"""Reading a network's file, and the numbers in it."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.evaluation.nnue import file_format
from obscuro.evaluation.nnue import file_format as leb128
from obscuro.evaluation.nnue.file_format import read_architecture, read_network
from obscuro.evaluation.nnue.network import Network, NetworkError, shapes
from tests.evaluation.nnue.synthetic import (
    DESCRIPTION,
    WIDTH,
    encode,
    encode_one,
    network_file,
    random_network,
)

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)


@given(st.lists(INT16))
def test_shorts_come_back(numbers: list[int]) -> None:
    decoded = leb128.decode(encode(np.array(numbers, np.int16)), len(numbers), np.int16)
    assert decoded.dtype == np.int16
    assert decoded.tolist() == numbers


@given(st.lists(INT32), st.integers(5, 40))
def test_integers_come_back_whatever_the_chunk(numbers: list[int], chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leb128, "CHUNK", chunk)
        decoded = leb128.decode(encode(np.array(numbers, np.int32)), len(numbers), np.int32)
    assert decoded.tolist() == numbers


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x01", "too few"),
        (b"\x01\x02\x03", "too many"),
        (b"\x01\x82", "does not end"),
        (b"\x01\x82\x83\x84\x05", "too long"),
        (b"\x01" + encode_one(2**15), "too large"),
        (b"\x01" + encode_one(-(2**15) - 1), "too large"),
    ],
)
def test_what_is_not_two_shorts_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        leb128.decode(data, 2, np.int16)


TRANSFORMER_AT = 12 + len(DESCRIPTION)
STACK_BYTES = 4 + 16 * 4 + 16 * WIDTH + 32 * 4 + 32 * 32 + 4 + 32


@pytest.fixture(scope="module")
def network() -> Network:
    return random_network()


@pytest.fixture(scope="module")
def file(network: Network) -> bytes:
    return network_file(network)


def changed(file: bytes, at: int, word: int) -> bytes:
    """The file with another word at a place."""
    return file[:at] + struct.pack("<I", word) + file[at + 4 :]


@pytest.mark.parametrize("compressed", [False, True])
def test_what_was_written_is_read(network: Network, compressed: bool) -> None:
    architecture, read = read_network(network_file(network, compressed=compressed))
    assert architecture == (WIDTH, DESCRIPTION)
    for name, (kind, shape) in shapes(WIDTH).items():
        array = getattr(read, name)
        assert (array.dtype, array.shape) == (kind, shape)
        assert array.flags.c_contiguous and array.flags.aligned and array.flags.writeable
        np.testing.assert_array_equal(array, getattr(network, name))


@pytest.mark.parametrize(
    ("width", "transformer", "stack"),
    [
        (1024, 0x7F2344B8, 0x63336A4A),  # nn-ad9b42354671.nnue, of Stockfish 15.1
        (3072, 0x7F2354B8, 0x6333744A),  # nn-1c0000000000.nnue, of Stockfish 17.1
        (128, 0x7F234DB8, 0x6333712A),  # nn-37f18f62d772.nnue, the small one of 17.1
    ],
)
def test_words_are_those_of_actual_networks(width: int, transformer: int, stack: int) -> None:
    assert file_format.transformer_word(width) == transformer
    assert file_format.stack_word(width) == stack


@pytest.mark.parametrize(
    ("at", "word", "message"),
    [
        (0, 0x7AF32F21, "no network, or of an unknown version"),
        (4, 0x12345678, "layers are unknown"),
        (8, 1 << 31, "description"),
        (TRANSFORMER_AT, 0x5F234CB8 ^ 1024, "inputs are of an unknown kind"),  # Stockfish 14
        (TRANSFORMER_AT, file_format.transformer_word(0), "inputs are of an unknown kind"),
        (TRANSFORMER_AT, file_format.transformer_word(96), "inputs are of an unknown kind"),
        (TRANSFORMER_AT, file_format.transformer_word(1 << 20), "inputs are of an unknown kind"),
        (TRANSFORMER_AT, file_format.transformer_word(128), "layers are unknown"),
    ],
)
def test_another_header_is_refused_in_one_line(
    file: bytes, at: int, word: int, message: str
) -> None:
    for read in (read_architecture, read_network):
        with pytest.raises(NetworkError, match=message) as refusal:
            read(changed(file, at, word))
        assert "\n" not in str(refusal.value)


def test_another_architecture_says_what_to_install(file: bytes) -> None:
    with pytest.raises(NetworkError, match=r"; install Stockfish 15\.1 to 17\.1"):
        read_architecture(changed(file, 4, 0x12345678))


@pytest.mark.parametrize("size", [0, 3, 11, 20, TRANSFORMER_AT + 3, 10_000, -STACK_BYTES, -1])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_file_that_ends_early_is_refused(network: Network, size: int, compressed: bool) -> None:
    file = network_file(network, compressed=compressed)
    with pytest.raises(NetworkError, match="bytes are missing"):
        read_network(file[:size])


def test_a_file_that_does_not_end_is_refused(file: bytes) -> None:
    with pytest.raises(NetworkError, match="1 bytes too many"):
        read_network(file + b"\0")


def test_a_last_stack_of_another_kind_is_refused(file: bytes) -> None:
    with pytest.raises(NetworkError, match="damaged: layers of another kind"):
        read_network(changed(file, len(file) - STACK_BYTES, 7))


def test_damaged_compression_is_refused(network: Network) -> None:
    file = network_file(network, compressed=True)
    first = file.index(b"COMPRESSED_LEB128") + 17 + 4
    with pytest.raises(NetworkError, match="damaged: there are too few numbers"):
        read_network(file[:first] + b"\x80" + file[first + 1 :])


def test_a_network_without_squared_inputs_is_refused(network: Network) -> None:
    # Stockfish 15: the same words, but nothing after the fifteen clipped inputs.
    older = network._replace(fc1_weights=network.fc1_weights.copy())
    older.fc1_weights[:, :, 15:] = 0
    with pytest.raises(NetworkError, match="Stockfish 15;"):
        read_network(network_file(older))
