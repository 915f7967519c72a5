"""The belief of one side: every position that explains what it has done and seen."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.fit import REQUIREMENT_WORDS, requirements
from obscuro.belief.own_move import conditions
from obscuro.belief.placement import ANYHOW
from obscuro.belief.queries import common_king, find
from obscuro.belief.rebuild import ContradictionError, captured, census, rebuild
from obscuro.belief.successors import expand, expand_naively, follow, follow_naively
from obscuro.belief.update import Blocks, Outcome, Scratch, Updater
from obscuro.board.layout import CASTLING_SQUARES, DOUBLE_PUSH, KIND_SHIFT, STATE, WORDS
from obscuro.board.position import find_move, hash_positions, move_squares
from obscuro.board.tables import TABLES
from obscuro.fog.observation import OBSERVATION_WORDS, Observation

__all__ = ["Belief", "ContradictionError", "Update"]

Words = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]

TRIED = 64  # positions in which a move's text is looked up
REMEMBERED = 4096  # positions kept from before an update that left none, for rebuilding


class Update(NamedTuple):
    """What a move did to a belief."""

    parents: int  # positions before
    visited: int  # of these, how many were looked at before the deadline
    positions: int  # positions now
    exact: bool  # whether they are all that there are
    warning: str | None  # what went wrong, to be passed on to the user: the belief was rebuilt


class Belief:
    """P: the positions that one side must think possible, each once (Obscuro, Sec. 3.1).

    A position is in P if some moves of the other side lead to it that explain all that our side
    has done and seen, and if the game goes on there: it is told when the game is over. Repetitions
    and the fifty-move rule are not part of it.

    P is exact until it outgrows its cap or an update runs out of time. From then on it is a random
    sample, in which the true position may be missing, and `exact` is False. If no position is left,
    new ones are drawn that explain the last observation (`rebuild`).

    The content and order of P depend on nothing but what our side knows, the options and the seed,
    not on the number of threads; with a deadline, on the machine's speed as well.

    side: 0 = White, 1 = Black. exact: see above. rebuilds: how often P was rebuilt.
    """

    def __init__(
        self,
        words: Words,
        side: int,
        max_positions: int = 1_000_000,
        threads: int = 1,
        seed: int = 0,
        *,
        naive: bool = False,
        buffers: Buffers | None = None,
    ) -> None:
        """Start from a position known to our side.

        words: uint64[8]; max_positions: greatest size of P; threads: how many to use where there
        is enough to do; seed: ≥ 0, for what is drawn at random; naive: use the slow kernels that
        the fast ones are tested against; buffers: memory to work in, shared by beliefs that are
        not updated at the same time.

        Raises ValueError for a cap or a number of threads below 1 or a negative seed.
        """
        if max_positions < 1:
            raise ValueError(f"a belief needs room for at least 1 position, not {max_positions}")
        if seed < 0:
            raise ValueError(f"the seed must not be negative: {seed}")
        self.side = side
        self.exact = True
        self.rebuilds = 0
        self._positions = np.array(words, dtype=np.uint64).reshape(1, WORDS)
        self._to_move = int(self._positions[0, STATE]) & 1
        self._remaining = census(self._positions[0], 1 - side)
        self._earlier = self._positions
        self._vacated = 0
        self._pushed = 0
        self._updater = Updater(max_positions, threads, buffers)
        self._naive = naive
        self._seed = seed
        self._ply = 0

    def __len__(self) -> int:
        """Size of P: 0 only after an own move that no position allows and no observation."""
        return len(self._positions)

    @property
    def positions(self) -> Words:
        """P as uint64[n, 8], in no particular order. It is the belief's own: do not write."""
        return self._positions

    @property
    def our_turn(self) -> bool:
        """Whether our side is to move."""
        return self._to_move == self.side

    def after_own_move(
        self,
        move: int | str,
        observation: Observation | None = None,
        deadline: float | None = None,
    ) -> Update:
        """Make our move in all positions, and keep those that fit what we then see.

        move: a move word or its UCI text; observation: None if we were not told; deadline: on the
        clock `time.monotonic()`, see `after_opponent_move`.

        A move that no position allows leaves none; if there is an observation, P is rebuilt.
        Raises ValueError if it is not our turn, ContradictionError as `rebuild`.
        """
        self._expect_turn(self.side)
        word = self._move_word(move) if isinstance(move, str) else int(move)
        needed = None if word is None else conditions(word, self.side)
        told = observation is not None
        self._note(word, needed)
        rng, salt = self._randomness()
        observed, required = self._requirements(observation)
        if word is None or needed is None or (told and not required[-1]):
            return self._accept(None, observation, rng)
        code = np.uint64(word)

        def visit(
            blocks: Blocks, first: int, last: int, ceiling: np.uint64, scratch: Scratch
        ) -> tuple[int, int]:
            start = (TABLES, self._positions, blocks, first, last, self.side)
            end = (salt, ceiling, scratch.children, scratch.hashes)
            if self._naive:
                reached, count = follow_naively(*start, observed, told, code, *end, scratch.moves)
            else:
                reached, count = follow(*start, required, told, code, needed, *end)
            return reached, count

        # Two positions become one only if they differ in nothing but the castling right that goes
        # with a rook that we capture; for rebuilt positions that need not be so.
        in_corner = bool(int(CASTLING_SQUARES) >> move_squares(word)[1] & 1)
        distinct = not in_corner and self.rebuilds == 0
        outcome = self._updater.run(len(self), visit, rng, deadline, distinct=distinct)
        return self._accept(outcome, observation, rng)

    def after_opponent_move(
        self, observation: Observation, deadline: float | None = None
    ) -> Update:
        """Make all moves of the other side in all positions; keep what fits what we then see.

        deadline: on the clock `time.monotonic()`. An update that would pass it goes no further:
        the positions looked at so far, a uniform sample, have to do, and P is no longer exact.

        Raises ValueError if it is our turn, ContradictionError as `rebuild`.
        """
        self._expect_turn(1 - self.side)
        self._note(None, None)
        rng, salt = self._randomness()
        observed, required = self._requirements(observation)
        if not required[-1]:
            return self._accept(None, observation, rng)

        def visit(
            blocks: Blocks, first: int, last: int, ceiling: np.uint64, scratch: Scratch
        ) -> tuple[int, int]:
            start = (TABLES, self._positions, blocks, first, last, self.side)
            end = (salt, ceiling, scratch.children, scratch.hashes, scratch.moves)
            if self._naive:
                reached, count = expand_naively(*start, observed, *end)
            else:
                reached, count = expand(*start, required, *end)
            return reached, count

        outcome = self._updater.run(len(self), visit, rng, deadline, distinct=False)
        return self._accept(outcome, observation, rng)

    def rebuild(self, observation: Observation) -> str:
        """Replace P by positions drawn at random from what is known now; `exact` becomes False.

        observation: what our side sees now. Every position drawn reproduces it and has the enemy
        pieces that can remain, unless there is no such position; then the number of pieces gives
        way first, and the observation last. Returns what happened, as a warning for the user.

        Raises ContradictionError if our king is not in the observation, and leaves P empty then.
        """
        return self._rebuild(observation, self._randomness()[0])

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        exclude: Collection[int] | Hashes = (),
    ) -> Words:
        """Draw positions of P without repeats, each set of them as likely as any other.

        exclude: `position_hash` of positions not to draw. Returns uint64[k, 8], k = `count` or all
        that there are. Takes time in proportion to `count` and the size of `exclude`, not of P.
        """
        if isinstance(exclude, np.ndarray):
            excluded = exclude
        else:
            excluded = np.fromiter(exclude, dtype=np.uint64, count=len(exclude))
        size = len(self)
        if size <= 4 * (count + len(excluded)):
            rows = self._not_excluded(rng.permutation(size), excluded)
            return self._positions[rows[:count]]
        rows = np.empty(0, dtype=np.int64)
        while len(rows) < count:
            drawn = np.concatenate([rows, rng.integers(size, size=2 * (count - len(rows)))])
            first = np.sort(np.unique(drawn, return_index=True)[1])
            rows = self._not_excluded(drawn[first], excluded)
        return self._positions[rows[:count]]

    def contains(self, words: Words) -> bool:
        """Whether the position uint64[8] is in P. Looks through all of P."""
        return bool(find(self._positions, np.ascontiguousarray(words)) >= 0)

    def certain_enemy_king(self) -> int | None:
        """The square where the enemy king stands in all of P, if there is one."""
        mask = int(common_king(self._positions, 1 - self.side)) if len(self) else 0
        return mask.bit_length() - 1 if mask else None

    def close(self) -> None:
        """End the threads; the belief can still be used."""
        self._updater.workers.close()

    def _expect_turn(self, side: int) -> None:
        if side != self._to_move:
            raise ValueError("it is the other side's turn")

    def _move_word(self, uci: str) -> int | None:
        """The word of a move: the same in all positions that allow it, which most often all do."""
        for words in self._positions[:TRIED]:
            if (word := find_move(words, uci)) is not None:
                return word
        return None

    def _note(self, word: int | None, needed: Words | None) -> None:
        """Write down what our move, if it was one, tells for a rebuild."""
        self._vacated = self._pushed = 0
        if word is None or needed is None:
            return
        origin, target, empty = (int(needed[field]) for field in (1, 2, 3))
        self._vacated = (origin | empty) & ~target
        if word >> int(KIND_SHIFT) == DOUBLE_PUSH:
            self._pushed = move_squares(word)[1]
        if len(self):
            self._remaining = self._remaining - captured(self._positions[0], word)

    def _randomness(self) -> tuple[np.random.Generator, np.uint64]:
        """A generator for this ply, and a salt for the hashes."""
        rng = np.random.default_rng((self._seed, self._ply))
        self._ply += 1
        return rng, rng.integers(1 << 64, dtype=np.uint64)

    def _requirements(self, observation: Observation | None) -> tuple[Words, Words]:
        """The observation's words and what follows from them, for the kernels."""
        observed = np.zeros(OBSERVATION_WORDS, dtype=np.uint64)
        required = np.zeros(REQUIREMENT_WORDS, dtype=np.uint64)
        if observation is not None:
            observed = observation.words()
            requirements(TABLES, observed, self.side, required)
        return observed, required

    def _accept(
        self, outcome: Outcome | None, observation: Observation | None, rng: np.random.Generator
    ) -> Update:
        """Take over what an update led to (None: that nothing can fit), or rebuild."""
        parents = len(self)
        visited = outcome.visited if outcome is not None else parents
        self._to_move = 1 - self._to_move
        warning = None
        if outcome is not None and len(outcome.positions):
            self._positions = outcome.positions
            self.exact = self.exact and outcome.complete
        else:
            self._forget(rng)
            if observation is not None:
                warning = self._rebuild(observation, rng)
        return Update(parents, visited, len(self), self.exact, warning)

    def _forget(self, rng: np.random.Generator) -> None:
        """Leave no position, but remember some."""
        if len(self):
            self._earlier = self.sample(REMEMBERED, rng)
        self._positions = np.empty((0, WORDS), dtype=np.uint64)
        self.exact = False

    def _rebuild(self, observation: Observation, rng: np.random.Generator) -> str:
        self._forget(rng)
        self.rebuilds += 1
        rebuilt = rebuild(
            observation,
            self.side,
            self._to_move,
            self._remaining,
            self._earlier,
            self._vacated,
            self._pushed,
            self._updater.limit,
            rng,
        )
        self._positions = rebuilt.positions
        fit = "contradict" if rebuilt.level == ANYHOW else "fit"
        return (
            f"no position explains all that was seen; believing in {len(self)} positions "
            f"drawn at random that {fit} what is seen now"
        )

    def _not_excluded(self, rows: npt.NDArray[np.int64], excluded: Hashes) -> npt.NDArray[np.int64]:
        if not len(excluded):
            return rows
        hashes = np.empty(len(rows), dtype=np.uint64)
        hash_positions(self._positions[rows], hashes)
        return rows[~np.isin(hashes, excluded)]
