"""Signed LEB128, against an encoder that does one number at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.evaluation.nnue import file_format as leb128
from tests.evaluation.nnue.synthetic import encode, encode_one

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
