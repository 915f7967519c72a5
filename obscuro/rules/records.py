"""Records: arrays in one block of memory, which a kernel takes as a single pointer.

The compiler knows the sizes of the arrays in a record. For the arrays of a tuple, every call counts
references up and down with locked instructions: generating moves took seven times as long with a
tuple of the attack tables.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64  # bytes; a vector that straddles two cache lines takes twice as long to load

Fields = Mapping[str, tuple[DTypeLike, tuple[int, ...]]]  # by name: an array's type and shape


def record_type(fields: Fields) -> np.dtype[np.void]:
    """Return the type of a record of arrays, which begin at multiples of ALIGNMENT bytes."""
    offsets, end = [], 0
    for kind, shape in fields.values():
        offsets.append(end)
        end += int(np.prod(shape)) * np.dtype(kind).itemsize
        end += -end % ALIGNMENT
    layout = {
        "names": list(fields),
        "formats": list(fields.values()),
        "offsets": offsets,
        "itemsize": end,
    }
    return np.dtype((np.record, layout))


def make_record(fields: Fields) -> Any:
    """Make a record of zeros. Its arrays are attributes, `record.name[k]`, for kernels and Python.

    If numpy has a method with the name of a field, Python finds the array only as `record["name"]`.
    """
    kind = record_type(fields)
    octets = np.zeros(kind.itemsize + ALIGNMENT, dtype=np.uint8)
    start = -octets.ctypes.data % ALIGNMENT
    return octets[start : start + kind.itemsize].view(kind)[0]


def record_of(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return a record of copies of these arrays. Each field keeps its array's type and shape.

    For example, the array int32[3, 5] called "a" becomes the record's attribute `a`, int32[3, 5].
    """
    record = make_record({name: (array.dtype, array.shape) for name, array in arrays.items()})
    for name, array in arrays.items():
        record[name] = array
    return record
