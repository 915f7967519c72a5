"""Files that are replaced as a whole: a reader finds the old text or the new one, never a part."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a new file; it takes the place of *path* when the block ends without an error.

    The stream stays open after the block, at the end of the file, so that its user may go on. The new
    file's name can't be guessed, so nobody can put a link there. Raises OSError.
    """
    fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")
    stream = os.fdopen(os.open(fresh, _NEW, 0o666), "w", encoding="utf-8")
    try:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())
        fresh.replace(path)
    except BaseException:
        stream.close()
        fresh.unlink(missing_ok=True)
        raise


def replace_text(path: Path, text: str) -> None:
    """Write *text* in place of what the file holds. Raises OSError."""
    with replacing(path) as stream:
        stream.write(text)
    stream.close()
