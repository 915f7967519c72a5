"""The threads that select and evaluate leaves while the caller's thread solves."""

import collections
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from obscuro.search.game import MAX, MIN, Expansion, Game
from obscuro.search.parameters import EXHAUSTED_AFTER

IDLE_WAIT = 0.002  # seconds that a thread waits if it finds no leaf
EXHAUSTED_WAIT = 0.02  # the same if no thread has found one for long


@dataclass(frozen=True, slots=True)
class Batch:
    """Selected leaves, B of them, marked as in flight."""

    edges: npt.NDArray[np.int32]  # [B]
    nodes: npt.NDArray[np.int32]  # [B] the nodes above
    states: npt.NDArray[np.uint64]  # [B, W]
    keys: npt.NDArray[np.uint64]  # [B, 2]


@dataclass(frozen=True, slots=True)
class Operations:
    """What the threads do to the tree, under their lock."""

    select: Callable[[int, npt.NDArray[np.uint64]], Batch | None]  # explorer, random state
    release: Callable[[Batch], None]
    attach: Callable[[Batch, Expansion], None]  # by the solver's thread only
    over: Callable[[], bool]  # whether expanding has ended
    exhausted: Callable[[bool], None]  # called with whether no leaf is found any more


class Expanders:
    """One thread for each game. They run from construction to `finish`.

    seed: entropy for the threads' random numbers.
    """

    def __init__(self, games: Sequence[Game], operations: Operations, seed: Sequence[int]) -> None:
        self._do = operations
        self._lock = threading.Lock()
        self._finished: collections.deque[tuple[Batch, Expansion]] = collections.deque()
        self._quit = threading.Event()
        self._fruitless = 0  # selections in a row, of all threads, that found nothing
        self._error: BaseException | None = None
        self._threads = [
            threading.Thread(
                target=self.work,
                args=(game, np.random.SeedSequence([*seed, number])),
                name=f"expander-{number}",
                daemon=True,
            )
            for number, game in enumerate(games)
        ]
        for thread in self._threads:
            thread.start()

    def attach_finished(self) -> None:
        """Attach what the threads have handed over; for the solver's thread, between slices.

        Raises the exception that ended a thread, such as an error of a game's `expand`.
        """
        if self._finished:
            with self._lock:
                while self._finished:
                    self._do.attach(*self._finished.popleft())
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """End the threads and attach what they still had; raises as `attach_finished`."""
        self._quit.set()
        for thread in self._threads:
            thread.join()
        self.attach_finished()

    def work(self, game: Game, seed: np.random.SeedSequence) -> None:
        """Select, evaluate and hand over until expanding ends; what each thread runs."""
        random = seed.generate_state(1, np.uint64).astype(np.uint64)
        explorer = MAX
        try:
            while not self._quit.is_set() and not self._do.over():
                with self._lock:
                    batch = self._do.select(explorer, random)
                explorer = MAX + MIN - explorer
                exhausted = self._count_fruitless(batch is None)
                if batch is None:
                    time.sleep(EXHAUSTED_WAIT if exhausted else IDLE_WAIT)
                else:
                    self._evaluate(game, batch)
        except BaseException as error:
            self._error = error

    def _count_fruitless(self, fruitless: bool) -> bool:
        """Count a selection, fruitless or not; return whether no thread finds a leaf any more."""
        self._fruitless = self._fruitless + 1 if fruitless else 0
        exhausted = self._fruitless >= EXHAUSTED_AFTER and not self._finished
        self._do.exhausted(exhausted)
        return exhausted

    def _evaluate(self, game: Game, batch: Batch) -> None:
        """Have a batch evaluated and hand it over."""
        try:
            expansion = game.expand(batch.states, batch.keys)
        except BaseException:
            with self._lock:
                self._do.release(batch)
            raise
        self._finished.append((batch, expansion))
