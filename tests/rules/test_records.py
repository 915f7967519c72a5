import numpy as np
from numba import njit

from obscuro.rules.records import ALIGNMENT, make_record, record_of, record_type
from obscuro.rules.tables import TABLES, build_tables


def test_arrays_begin_at_cache_lines() -> None:
    record = make_record({"a": (np.uint8, (3,)), "b": (np.int16, (2, 5)), "c": (np.int64, (1,))})
    assert all(getattr(record, name).ctypes.data % ALIGNMENT == 0 for name in "abc")


def test_a_record_begins_with_zeros() -> None:
    record = make_record({"a": (np.int32, (1000,))})
    assert not record.a.any()


def test_a_type_has_room_for_all_its_arrays() -> None:
    kind = record_type({"a": (np.uint8, (65,)), "b": (np.uint8, (64,))})
    assert kind.itemsize == 3 * ALIGNMENT
    assert [kind.fields[name][1] for name in "ab"] == [0, 2 * ALIGNMENT]


def test_kernels_read_and_write_the_arrays() -> None:
    @njit
    def double(record):  # type: ignore[no-untyped-def]
        for row in range(record.a.shape[0]):
            for k in range(record.a.shape[1]):
                record.a[row, k] *= 2

    numbers = np.arange(6, dtype=np.int16).reshape(2, 3)
    record = record_of({"a": numbers})
    double(record)
    assert (record.a == 2 * numbers).all()


def test_the_record_of_tables_holds_the_tables() -> None:
    for name, array in build_tables()._asdict().items():
        assert (TABLES[name] == array).all()
