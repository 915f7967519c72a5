"""What waits to be sent to one browser: the last state of the game, and answers to its messages."""

from __future__ import annotations

import asyncio
from collections import deque

_MOST_ERRORS = 16


class Mailbox:
    """Holds what a browser has yet to be sent.

    A state replaces one that was not sent: a slow browser misses states in between, and no memory
    grows. After `close` nothing more comes.
    """

    def __init__(self) -> None:
        self._state: str | None = None
        self._answers: deque[str] = deque(maxlen=_MOST_ERRORS)
        self._news = asyncio.Event()
        self._closed = False

    def put_state(self, text: str) -> None:
        """Leave the state of the game."""
        self._state = text
        self._news.set()

    def put_answer(self, text: str) -> None:
        """Leave an answer to this browser alone."""
        self._answers.append(text)
        self._news.set()

    def close(self) -> None:
        """Let `next` return None from now on."""
        self._closed = True
        self._news.set()

    async def next(self) -> str | None:
        """Wait for the next text to send; None: there will be none."""
        while True:
            if self._answers:
                return self._answers.popleft()
            if self._state is not None:
                text, self._state = self._state, None
                return text
            if self._closed:
                return None
            self._news.clear()
            await self._news.wait()
