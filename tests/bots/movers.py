"""Movers for tests: quick, and in this process."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping

from obscuro.client.engine import PlayResult, Think
from obscuro.client.move_report import Report
from tests.hanging import HANG_SECONDS


class QuickMover:
    """Plays at random, or what it is told to; keeps what it was asked.

    hold: choosing waits until the search is stopped. score: said with every move.
    """

    def __init__(
        self, pick: Callable[[Think], str] | None = None, score: int | None = None
    ) -> None:
        self.asked: list[tuple[str, Think]] = []
        self.watched: list[tuple[str, str]] = []
        self.configured: list[Mapping[str, str]] = []
        self.on_warning: Callable[[str], None] = lambda text: None
        self.hold = False
        self.prepared = 0
        self.closed = 0
        self.stopped = threading.Event()
        self.thinking = threading.Event()
        self.told = threading.Event()
        self._pick = pick or (lambda think: random.Random(think.position).choice(think.moves))
        self._score = score

    def configure(self, options: Mapping[str, str]) -> None:
        self.configured.append(options)

    def prepare(self) -> None:
        self.prepared += 1

    def choose(self, game: str, think: Think, cancel: threading.Event) -> PlayResult:
        self.asked.append((game, think))
        self.thinking.set()
        if self.hold:
            assert self.stopped.wait(HANG_SECONDS)
            self.stopped.clear()
        return PlayResult(self._pick(think), Report(centipawns=self._score))

    def stop(self) -> None:
        self.stopped.set()

    def watch(self, game: str, position: str) -> None:
        self.watched.append((game, position))
        self.told.set()

    def close(self) -> None:
        self.closed += 1
