"""Files of fog values: what is written is read, and what is wrong is said in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from obscuro.evaluation.fog_values.correction import WEIGHT_COUNT
from obscuro.evaluation.fog_values.sight_features import FEATURES
from obscuro.evaluation.fog_values.value_file import (
    SHIPPED,
    FogValues,
    FogValuesError,
    read_fog_values,
    write_fog_values,
)


def some_values() -> FogValues:
    return FogValues(np.arange(WEIGHT_COUNT) / 10, {"fingerprint": "abc", "games": 3})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_fog_values(tmp_path / "values.json", some_values())
    found = read_fog_values(tmp_path / "values.json")
    assert found.weights.tolist() == some_values().weights.tolist()
    assert found.data == some_values().data


def test_the_shipped_file_is_read() -> None:
    assert np.isfinite(read_fog_values().weights).all()
    assert SHIPPED.stat().st_size < 100_000


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FogValuesError, match=r"none\.json: No such file"):
        read_fog_values(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "other"}, "is not of the format"),
        ({"data": {}}, "does not say what it was fitted to"),
        ({"slope": "steep"}, "the weight of 'slope' is not a number of pawns"),
        ({"slope": 1e9}, "the weight of 'slope' is not a number of pawns"),
        ({"constant": True}, "the weight of 'constant' is not a number of pawns"),
        ({"other side": {FEATURES[0]: 1}}, "the features of the other side are not those"),
    ],
)
def test_a_wrong_file(tmp_path: Path, change: dict[str, Any], complaint: str) -> None:
    path = tmp_path / "values.json"
    write_fog_values(path, some_values())
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(FogValuesError, match=complaint) as caught:
        read_fog_values(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "\x00", '{"format": NaN}'])
def test_no_file_of_values_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "values.json"
    path.write_text(text)
    with pytest.raises(FogValuesError):
        read_fog_values(path)


def test_bytes_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "values.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(FogValuesError):
        read_fog_values(path)
