"""The browsers that look at one game: each message is written once, and sent to all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping


class Watcher:
    """What waits to be sent to one browser. `lost` is set once it took too little of it."""

    def __init__(self, most: int) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._most = most
        self.lost = False

    def put(self, text: str) -> None:
        """Leave a text. A browser with too many of them gets no more, and has to come back."""
        if self.lost:
            return
        if self._queue.qsize() >= self._most:
            self.lost = True
            self._queue.put_nowait(None)
            return
        self._queue.put_nowait(text)

    def close(self) -> None:
        """Let `next` return None after what is there."""
        self._queue.put_nowait(None)

    async def next(self) -> str | None:
        """Wait for the next text to send; None: there will be none."""
        return None if self.lost else await self._queue.get()


class Watchers:
    """All browsers that look at one game. most: how many texts may wait for a browser."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: set[Watcher] = set()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._all)

    def add(self) -> Watcher:
        """Return a new one."""
        watcher = Watcher(self._most)
        self._all.add(watcher)
        return watcher

    def remove(self, watcher: Watcher) -> None:
        """Forget one."""
        self._all.discard(watcher)

    def tell(self, message: Mapping[str, object]) -> None:
        """Send a message to all."""
        if self._all:
            self.send(message_text(message))

    def send(self, text: str) -> None:
        """Send a text to all."""
        for watcher in self._all:
            watcher.put(text)

    def close(self) -> None:
        """Let all go once they have been sent what is there."""
        for watcher in self._all:
            watcher.close()


def message_text(message: Mapping[str, object]) -> str:
    """Return a message as JSON."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False)
