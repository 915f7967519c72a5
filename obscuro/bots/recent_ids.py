"""A set of ids that forgets the oldest ones."""

from __future__ import annotations

from collections import deque


class RecentIds:
    """The last ids that were added, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self._order: deque[str] = deque()
        self._ids: set[str] = set()
        self._most = most

    def add(self, name: str) -> bool:
        """Add an id; return whether it is new."""
        if name in self._ids:
            return False
        self._ids.add(name)
        self._order.append(name)
        if len(self._order) > self._most:
            self._ids.discard(self._order.popleft())
        return True

    def discard(self, name: str) -> None:
        """Forget an id."""
        if name in self._ids:
            self._ids.discard(name)
            self._order.remove(name)

    def __contains__(self, name: str) -> bool:
        """Return whether an id is remembered."""
        return name in self._ids
