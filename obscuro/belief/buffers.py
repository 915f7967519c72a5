"""Memory kept from one update to the next.

Memory that the system hands out anew has to be cleared, page by page, at its first touch, which for
an update of some 100,000 positions can take longer than the update itself.
"""

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]

MOST_KEPT = 1 << 25  # words (256 MiB) of one buffer; larger ones go back to the system


class Buffers:
    """Lends one buffer of `uint64` words for each name, and takes them back."""

    def __init__(self) -> None:
        self._kept: dict[str, Words] = {}

    def lend(self, name: str, words: int) -> Words:
        """A buffer of so many words, with anything in it."""
        kept = self._kept.pop(name, None)
        if kept is None or len(kept) < words:
            kept = np.empty(words, dtype=np.uint64)
        return kept[:words]

    def take_back(self, name: str, buffer: Words) -> None:
        """Keep a lent buffer, all of it, for the next time."""
        whole = buffer.base if isinstance(buffer.base, np.ndarray) else buffer
        if len(whole) <= MOST_KEPT and len(whole) > len(self._kept.get(name, ())):
            self._kept[name] = whole
