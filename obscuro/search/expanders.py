"""Leaves that other threads expand, while the calling one goes on with something else."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from obscuro.search.game import Expansion, Game
from obscuro.search.parameters import BATCH, LEAVES_PER_PART
from obscuro.search.selection import Batch
from obscuro.search.team import Team


class Expanded(NamedTuple):
    """Leaves with their expansions."""

    batch: Batch
    expansion: Expansion


class Expanders:
    """The threads of a team but the calling one, from construction to `close`.

    They take part after part of what is handed over, and nobody waits for them. games: one for each
    thread of the team, the calling one included. All methods are for the calling thread.
    """

    def __init__(self, games: Sequence[Game], team: Team) -> None:
        self._games = games
        self._team = team
        self._waiting: deque[Batch] = deque()  # parts that nobody has begun with
        self._done: deque[Expanded] = deque()
        self._errors: list[BaseException] = []
        self._out: dict[int, Batch] = {}  # by their first edge: parts that have not been taken back
        self.leaves = 0  # of these parts
        self._size = max(LEAVES_PER_PART, -(-BATCH // max(1, team.threads - 1)))

    def hand_over(self, batch: Batch) -> None:
        """Have leaves expanded by the threads that have nothing else to do, as soon as they can."""
        parts = []
        for first in range(0, len(batch.edges), self._size):
            part = batch.part(slice(first, first + self._size))
            parts.append(part)
            self._out[int(part.edges[0])] = part
        self.leaves += len(batch.edges)
        self._waiting.extend(parts)
        self._team.start(self._take_parts, min(self._team.threads, len(parts) + 1))

    def take(self) -> list[Expanded]:
        """Return what has been expanded since the last call.

        Raises an exception of a game's `expand`. Then no other parts are begun.
        """
        self.check()
        return self._take_done()

    def check(self) -> None:
        """Raise an exception of a game's `expand`."""
        if self._errors:
            raise self._errors[0]

    def close(self) -> tuple[list[Expanded], list[Batch]]:
        """Wait for the parts that have been begun; begin no others, and end the team's threads.

        Returns what has been expanded since the last `take`, and the parts that have not been.
        """
        self._waiting.clear()
        self._team.close()
        return self._take_done(), list(self._out.values())

    def _take_done(self) -> list[Expanded]:
        taken = []
        while self._done:
            expanded = self._done.popleft()
            del self._out[int(expanded.batch.edges[0])]
            self.leaves -= len(expanded.batch.edges)
            taken.append(expanded)
        return taken

    def _take_parts(self, thread: int) -> None:
        """Expand parts until none is left; called in the other threads."""
        while True:
            try:
                part = self._waiting.popleft()
            except IndexError:
                return
            try:
                expansion = self._games[thread].expand(part.states, part.keys)
            except BaseException as error:
                self._errors.append(error)
                self._waiting.clear()
            else:
                self._done.append(Expanded(part, expansion))
