"""Mapped networks: they are what was written, and what is damaged is not mapped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from obscuro.evaluation.nnue import install as store
from obscuro.evaluation.nnue.network import Network, NetworkError, shapes
from tests.evaluation.nnue.synthetic import WIDTH, random_network

HASH = bytes(range(32))


@pytest.fixture(scope="module")
def network() -> Network:
    return random_network()


def test_what_was_written_is_mapped(network: Network, tmp_path: Path) -> None:
    path = store.write(network, HASH, str(tmp_path))
    assert path == str(tmp_path / "nn-000102030405.v1")
    mapped = store.open_mapped(str(tmp_path), HASH)
    for name, (kind, shape) in shapes(WIDTH).items():
        array = getattr(mapped, name)
        assert (array.dtype, array.shape, type(array)) == (kind, shape, np.ndarray)
        assert array.flags.c_contiguous and array.ctypes.data % store.ALIGNMENT == 0
        np.testing.assert_array_equal(array, getattr(network, name))


def test_a_mapped_network_can_not_be_changed(network: Network, tmp_path: Path) -> None:
    store.write(network, HASH, str(tmp_path))
    mapped = store.open_mapped(str(tmp_path), HASH)
    assert not any(array.flags.writeable for array in mapped)


def test_writing_again_leaves_those_who_read_alone(network: Network, tmp_path: Path) -> None:
    store.write(network, HASH, str(tmp_path))
    mapped = store.open_mapped(str(tmp_path), HASH)
    store.write(random_network(1), HASH, str(tmp_path))
    np.testing.assert_array_equal(mapped.feature_weights, network.feature_weights)
    assert [file.name for file in tmp_path.iterdir()] == [store.file_name(HASH)]


@pytest.mark.parametrize("damage", ["empty", "short", "long", "magic", "layout", "width", "source"])
def test_a_damaged_file_is_not_mapped(network: Network, tmp_path: Path, damage: str) -> None:
    path = Path(store.write(network, HASH, str(tmp_path)))
    data = bytearray(path.read_bytes())
    places = {"magic": 0, "layout": 16, "width": 20, "source": 32}
    if damage in places:
        data[places[damage]] ^= 1
    size = {"empty": 0, "short": len(data) - 1, "long": len(data) + 1}.get(damage, len(data))
    path.write_bytes(data[:size].ljust(size, b"\0"))
    with pytest.raises(NetworkError, match="damaged"):
        store.open_mapped(str(tmp_path), HASH)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.open_mapped(str(tmp_path), HASH)


def test_nothing_is_left_where_writing_fails(network: Network, tmp_path: Path) -> None:
    (tmp_path / store.file_name(HASH)).mkdir()
    with pytest.raises(OSError):
        store.write(network, HASH, str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
