"""Files that are replaced as a whole: a reader finds the old text or the new one, never a part."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a new file; it takes the place of *path* when the block ends without an error.

    The stream stays open after the block, at the end of the file, so that its user may go on. If
    two replace a file at the same time, each text is whole, and the last one stays. The new file
    has the permissions of the one that it replaces. Raises OSError.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}.new")
    stream = fresh.open("x", encoding="utf-8")  # never a file or a link that another has put there
    try:
        if path.exists():
            fresh.chmod(stat.S_IMODE(path.stat().st_mode))
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
