"""The cache's file format for a network. Processes map the file and so share one copy in memory.

In a `.nnue` file arrays begin anywhere and may be compressed. In this format each array begins at a
multiple of 64 bytes and has this machine's byte order. A file gets its name last, when it is
complete.
"""

import contextlib
import math
import mmap
import os
import struct
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from obscuro.evaluation.nnue.network import Network, NetworkError, shapes

LAYOUT = 1  # the number of this layout, which is part of the files' names
ALIGNMENT = 64
HEADER_BYTES = 4096

_MAGIC = b"OBSCURO NETWORK\n"
_HEADER = struct.Struct("=16sIIQ32s")  # magic, layout, L1, size of the file, SHA-256 of the source


def file_name(sha256: bytes) -> str:
    """Return the name of the file for the network whose `.nnue` file has this hash."""
    return f"nn-{sha256.hex()[:12]}.v{LAYOUT}"


def write(network: Network, sha256: bytes, directory: str) -> str:
    """Write a network into a directory and return the file's path. Raises OSError.

    sha256: the hash of the network's `.nnue` file. Processes that have mapped an older file keep
    it.
    """
    width = network.feature_bias.size
    offsets, size = _places(width)
    path = os.path.join(directory, file_name(sha256))
    descriptor, temporary = tempfile.mkstemp(prefix="part-", dir=directory)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(_HEADER.pack(_MAGIC, LAYOUT, width, size, sha256))
            for array, offset in zip(network, offsets, strict=True):
                stream.seek(offset)
                stream.write(np.ascontiguousarray(array).data)
            stream.truncate(size)
            stream.flush()
            os.fsync(stream.fileno())  # else a crash may leave a named file of zeros
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    return path


def open_mapped(directory: str, sha256: bytes) -> Network:
    """Map the network whose `.nnue` file has this hash. Its arrays are read-only.

    The function checks the header and the size, not every byte. Raises OSError if there is no such
    file, and NetworkError if the header does not match the name.
    """
    path = os.path.join(directory, file_name(sha256))
    with open(path, "rb") as stream:
        header = stream.read(_HEADER.size)
        found = os.fstat(stream.fileno()).st_size
        if len(header) < _HEADER.size:
            raise NetworkError(f"{path} is damaged", "remove it")
        magic, layout, width, size, source = _HEADER.unpack(header)
        offsets, expected = _places(width)
        if (magic, layout, size, found) != (_MAGIC, LAYOUT, expected, expected) or source != sha256:
            raise NetworkError(f"{path} is damaged", "remove it")
        # If the system can, load all pages now instead of one by one at the first evaluations.
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0)
        mapping = mmap.mmap(stream.fileno(), size, flags=flags, prot=mmap.PROT_READ)
    arrays = (
        _array(mapping, offset, kind, shape)
        for offset, (kind, shape) in zip(offsets, shapes(width).values(), strict=True)
    )
    return Network(*arrays)


def _array(
    mapping: mmap.mmap, offset: int, kind: type[np.signedinteger], shape: tuple[int, ...]
) -> NDArray[Any]:
    return np.frombuffer(mapping, kind, math.prod(shape), offset).reshape(shape)


def _places(width: int) -> tuple[list[int], int]:
    """Return the offset of each array of a network with L1 = width, and the size of the file."""
    offsets = []
    end = HEADER_BYTES
    for kind, shape in shapes(width).values():
        offsets.append(end)
        end += math.prod(shape) * np.dtype(kind).itemsize
        end += -end % ALIGNMENT
    return offsets, end
