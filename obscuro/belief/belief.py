"""The belief of one side: every position that explains what it has done and seen."""

from __future__ import annotations

import copy
import time
from collections.abc import Collection
from functools import partial
from itertools import pairwise
from threading import Event
from typing import NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief.buffers import Buffers
from obscuro.belief.fit import POSSIBLE, implied_en_passant, requirements_of
from obscuro.belief.heaviest import heaviest_first
from obscuro.belief.own_move import Conditions, Keep, conditions, is_ours, own_move_pass
from obscuro.belief.placement import ANYHOW
from obscuro.belief.posterior import (
    add_sums,
    after_opponent_move,
    draw_by_weight,
    merged,
    scaled,
)
from obscuro.belief.rebuild import REMEMBERED, ContradictionError, Recollection, rebuild
from obscuro.belief.record import (
    OUR_STATE,
    PASSED,
    RECORD_WORDS,
    common_king,
    common_observation,
    find,
    known_after_other_move,
    known_after_own_move,
    known_of,
    only_record,
    packed,
    shows_own_pieces,
    unpacked,
)
from obscuro.belief.successors import (
    SuccessorTask,
    Visit,
    offer_all,
    successor_pass,
    successor_task,
)
from obscuro.belief.table import PADDING, Ranking, cut, new_ranking, rank_below, spread
from obscuro.belief.update import Outcome, Run, Updater, filter_rows, is_late, regions_for
from obscuro.rules.castling import CASTLING_STATE
from obscuro.rules.layout import (
    BACK_RANKS,
    CASTLING_SQUARES,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
    SQUARE_BITS,
    STATE,
    WORDS,
)
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, from_fen, hash_positions
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import EN_PASSANT_WORD, OBSERVATION_WORDS

__all__ = ["Belief", "ContradictionError", "Update", "warm_up"]

Words = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]
Weights = npt.NDArray[np.float32]

WEIGHING_SHARE = 0.2  # of an update's time, which is left for the weights
MOST_TO_COMPARE = 16_384  # positions of P that others are compared with, one by one


class Update(NamedTuple):
    """What a move did to a belief."""

    parents: int  # positions before
    visited: int  # how many of these were looked at before the deadline
    positions: int  # positions now
    exact: bool  # whether these are all possible positions
    warning: str | None  # for the user, if the belief was rebuilt


class _Expected(NamedTuple):
    """An update begun before its observation came."""

    observation: Observation
    run: Run


class Belief:
    """P: the positions that one side must think possible, each once (Obscuro, Sec. 3.1).

    A position is in P if some moves of the other side lead to it that explain all that our side has
    done and seen, and if the game goes on there: players are told when a game is over. P does not
    know repetitions and the fifty-move rule.

    P is exact until it outgrows its cap or an update runs out of time. From then on `exact` is
    False, and the true position may be missing: P is a random sample, or with weights it is what
    the likeliest positions led to. P is exact again once what is seen leaves one position only. If
    no position is left, `rebuild` draws new ones that explain the last observation.

    The content and the order of P depend on what our side knows, on the options and on the seed,
    and not on the number of threads. With a deadline they depend on the machine's speed as well. With
    weights, what a full P keeps depends on the number of threads.

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
        buffers: Buffers | None = None,
        weighted: bool = False,
    ) -> None:
        """Start from a position known to our side, or from all those that it must think possible.

        words: uint64[8], or uint64[n, 8], different positions with the same pieces and rights of
        ours, which all show us the same. max_positions: greatest size of P. threads: how many large
        updates use. seed: of the random numbers, ≥ 0. buffers: memory to work in; beliefs may share
        it if they are not updated at the same time. weighted: whether `weights` are computed.

        Raises ValueError for a cap or a number of threads below 1, a negative seed, or positions
        in which what is ours differs.
        """
        if max_positions < 1:
            raise ValueError(f"a belief needs room for at least 1 position, not {max_positions}")
        if seed < 0:
            raise ValueError(f"the seed must not be negative: {seed}")
        self.side = side
        self.rebuilds = 0
        start = np.array(words, dtype=np.uint64).reshape(-1, WORDS)
        self._known = known_of(start[0], side)
        if any((known_of(other, side) != self._known).any() for other in start[1:]):
            raise ValueError("our own pieces and rights must be the same in all starts")
        self.exact = len(start) <= max_positions
        if len(start) > 1:
            start = np.random.default_rng(seed).permutation(start)[:max_positions]
        self._ordinary = not (start[:, STATE] >> FILES_SHIFT).any()
        self._records = packed(start, side)
        self._count = len(start)
        self._to_move = int(start[0, STATE]) & 1
        self._recollection = Recollection.of(start[0], side, any_start=len(start) > 1)
        self._contradicted = False  # whether some observation can't have been true
        self._expected: _Expected | None = None
        self._updater = Updater(max_positions, threads, buffers)
        self._seed = seed
        self._ply = 0
        self._weighted = weighted
        self._weights: Weights | None = None
        self._recapture = 0  # a mask of the square where our last move captured

    def __len__(self) -> int:
        """Size of P. Only an impossible own move without an observation leaves it at 0."""
        return self._count

    @property
    def known(self) -> Words:
        """What our side knows by itself: uint64[KNOWN_WORDS]; see `record`."""
        return self._known

    @property
    def records(self) -> Records:
        """P as records uint64[n, 3], in random order: a view, which the next update overwrites."""
        records: Records = self._records[: self._count]
        return records

    @property
    def weights(self) -> Weights | None:
        """How likely the records are by how the other side plays: float32[n] with mean 1; a view.

        None: all are alike, since the belief is not weighted, or there was no time for it.
        """
        return None if self._weights is None else self._weights[: self._count]

    @property
    def positions(self) -> Words:
        """P as a new array uint64[n, 8], in a random order; 64 bytes a position."""
        return unpacked(self._known, self.records)

    def first_positions(self, count: int) -> Words:
        """The first `count` positions of P, or all: uint64[k, 8]. They are a uniform sample."""
        return unpacked(self._known, self.records[:count])

    def any_position(self) -> Words:
        """Some position of P: uint64[8]. What is ours is the same in all of them.

        Raises IndexError if P is empty.
        """
        position: Words = self.first_positions(1)[0]
        return position

    @property
    def our_turn(self) -> bool:
        """Whether our side is to move."""
        return self._to_move == self.side

    def after_own_move(
        self, move: int | str, observation: Observation | None = None, deadline: float | None = None
    ) -> Update:
        """Make our move in all positions, and keep those that fit what we then see.

        move: a move word or its UCI text. observation: None if we were not told what we see.
        deadline: a second of `time.monotonic`; see `after_opponent_move`.

        A move that no position allows leaves none; with an observation, P is then rebuilt. Raises
        ValueError if it is not our turn, and ContradictionError as `rebuild`.
        """
        self._expect_turn(self.side)
        word = self._move_word(move) if isinstance(move, str) else int(move)
        needed = None if word is None else conditions(word, self.side)
        if word is None or needed is None:
            self._recollection.note_other_move()
        else:
            before = self.any_position() if len(self) else None
            self._recollection.note_own_move(word, needed, before)
        rng, ranking = self._randomness()
        if word is None or needed is None or not is_ours(self._known, needed):
            return self._accept(None, None, observation, rng)
        known = known_after_own_move(self._known, word)
        observed, required = requirements_of(observation, self.side, _castling(known))
        possible = required[POSSIBLE] and observed[EN_PASSANT_WORD] == 0
        if observation is not None and not (possible and shows_own_pieces(known, observation)):
            return self._accept(None, None, observation, rng)
        keep = self._own_move_pass(word, needed, known, observation)
        self._recapture = self._taken_by(needed)
        visited, count = filter_rows(
            self._records,
            self._weights,
            len(self),
            keep,
            self._updater.workers,
            is_late(deadline),
        )
        outcome = Outcome(self._records, count, [(0, visited)], visited == len(self))
        weights = None if self._weights is None else scaled(self._weights[:count])
        update = self._accept(outcome, known, observation, rng, weights)
        # Our move makes two records equal only if they differ in what we capture. In a belief that
        # was never rebuilt that can only be the castling right of a rook in its corner, or in
        # Chess960 on its back rank.
        in_corner = needed.target & int(CASTLING_SQUARES if self._ordinary else BACK_RANKS)
        if count > 1 and (in_corner or self.rebuilds):
            outcome = self._updater.run(count, partial(offer_all, self._records), ranking)
            weights = self.weights
            if weights is not None:
                kept = outcome.records[: outcome.size]
                weights = scaled(merged(self.records, weights, kept))
            self._take_over(outcome, weights)
            update = update._replace(positions=len(self))
        return update

    def after_opponent_move(
        self, observation: Observation, deadline: float | None = None, stop: Event | None = None
    ) -> Update | None:
        """Make all moves of the other side in all positions; keep what fits what we then see.

        deadline: a second of `time.monotonic`. An update that would pass it ends early. By then it
        has looked at the likeliest positions, without weights at a uniform sample, and P is no
        longer exact. Weights have WEIGHING_SHARE of the time at least. stop: when it is set, P
        stays as it is, and None is returned within some milliseconds. A second call with the same
        observation goes on where the first one was.

        Raises ValueError if it is our turn, and ContradictionError as `rebuild`.
        """
        self._expect_turn(1 - self.side)
        expected, self._expected = self._expected, None
        self._recollection.note_other_move()
        rng, ranking = self._randomness()
        known = known_after_other_move(self._known, observation)
        if expected is not None and expected.observation == observation:
            run: Run | None = expected.run
        else:
            if expected is not None:
                expected.run.abandon()
            run = self._start(known, observation, ranking)
        if run is None:
            return self._accept(None, None, observation, rng)
        until = deadline
        if self._weighted and deadline is not None:
            until = deadline - WEIGHING_SHARE * max(deadline - time.monotonic(), 0.0)
        run.advance(is_late(until, stop))
        if stop is not None and stop.is_set() and not run.ended:
            self._expected = _Expected(observation, run)
            self._ply -= 1
            return None
        outcome = run.finish()
        weights = self._weigh(outcome, known, observation, deadline, stop)
        return self._accept(outcome, known, observation, rng, weights)

    def _taken_by(self, needed: Conditions) -> int:
        """A mask of the square where our move captures a piece; 0 if it captures none."""
        enemy = int(np.bitwise_or.reduce(self._records[0])) if len(self) else 0
        return needed.target if enemy & (needed.target | needed.victim) else 0

    def _weigh(
        self,
        outcome: Outcome,
        known: Words | None,
        observation: Observation,
        deadline: float | None,
        stop: Event | None,
    ) -> Weights | None:
        """The weights of an update's outcome; None: all alike. The arguments: see `_accept`."""
        task = self._successor_task(known, observation) if self._weighted else None
        if task is None:
            return None
        return after_opponent_move(
            self.records,
            self.weights,
            outcome.parts,
            self._known,
            task,
            self._recapture,
            outcome.records[: outcome.size],
            self._updater.workers.run,
            is_late(deadline, stop),
        )

    def expect(self, observation: Observation, stop: Event) -> bool:
        """Do the work of `after_opponent_move` in advance, while the other side thinks.

        observation: most likely that what we see does not change; that case takes the longest. If
        it comes true, `after_opponent_move` has only to finish the update; if not, it throws the
        work away. P comes out the same either way, and does not change before. Returns True when
        all is done, or False within some milliseconds after `stop` is set.

        Raises ValueError if it is our turn.
        """
        self._expect_turn(1 - self.side)
        if self._expected is None or self._expected.observation != observation:
            self._forget_expected()
            known = known_after_other_move(self._known, observation)
            run = self._start(known, observation, self._randomness(advance=False)[1])
            if run is None:
                return True
            self._expected = _Expected(observation, run)
        run = self._expected.run
        run.advance(lambda seconds: stop.is_set())
        if not run.ended:
            return False
        run.finish()
        return True

    def _start(self, known: Words | None, observation: Observation, ranking: Ranking) -> Run | None:
        """Begin the update after a move of the other side; None if nothing can fit."""
        visit = self._successor_pass(known, observation)
        if visit is None:
            return None
        weights = self.weights
        if weights is not None:
            order = partial(heaviest_first, self._records, weights.view(np.uint32))
            bounds = self._updater.bounds(len(self))
            self._updater.workers.run([partial(order, *part) for part in pairwise(bounds)])
        return self._updater.start(len(self), visit, ranking, best_first=weights is not None)

    # Tests replace these two methods by slow ones that make every move.

    def _own_move_pass(
        self, move: int, needed: Conditions, known: Words, observation: Observation | None
    ) -> Keep:
        """A pass over P that keeps where our move, a word, is legal and explains what we see.

        known: after the move.
        """
        required = requirements_of(observation, self.side, _castling(known))[1]
        return own_move_pass(self._records, self._weights, known, needed, required)

    def _successor_pass(self, known: Words | None, observation: Observation) -> Visit | None:
        """A pass over P that offers what the other side's moves lead to; None if nothing can fit.

        known: after the move, or None.
        """
        task = self._successor_task(known, observation)
        return None if task is None else successor_pass(self._records, task)

    def _successor_task(
        self, known: Words | None, observation: Observation
    ) -> SuccessorTask | None:
        castling = 0 if known is None else _castling(known)
        implied, untold = implied_en_passant(observation, self.side, castling)
        observed, required = requirements_of(implied, self.side, castling)
        return successor_task(self._known, known, observed, required, untold)

    def rebuild(self, observation: Observation) -> str:
        """Replace P by positions drawn at random from what is known now; `exact` becomes False.

        observation: what our side sees now. Every drawn position reproduces it, and has the enemy
        pieces that can remain. If there is no such position, the numbers of pieces may differ
        first, and what is observed last. Returns a warning for the user that says what happened.

        Raises ContradictionError if our king is not in the observation, and leaves P empty then.
        """
        return self._rebuild(observation, self._randomness()[0])

    def include(self, positions: Words) -> int:
        """Add positions that explain all that was seen, if P has become a small sample.

        positions: uint64[n, 8], such as a search's tree holds where its information key is ours.
        Those in which our own pieces stand otherwise are left out. An exact P has them all, and in
        a P of more than MOST_TO_COMPARE positions they are not looked for. Returns how many were
        missing and are in P now.
        """
        if self.exact or not 0 < len(self) <= MOST_TO_COMPARE or not len(positions):
            return 0
        missing = self._lacking(positions)[: self._updater.limit - len(self)]
        rng = self._randomness(advance=False)[0]
        order = rng.permutation(len(self) + len(missing))
        records = np.concatenate((self.records, missing))[order]
        weights = self.weights
        if weights is not None:
            even = np.ones(len(missing), dtype=np.float32)
            weights = np.concatenate((weights, even))[order]
        self._hold(records, len(records), weights)
        return len(missing)

    def _lacking(self, positions: Words) -> Records:
        """The records uint64[k, 3], sorted and each once, of uint64[n, 8] that P has not."""
        offered = packed(np.ascontiguousarray(positions, dtype=np.uint64), self.side)
        ours = (unpacked(self._known, offered) == positions).all(axis=1)
        new = {record.tobytes() for record in offered[ours]}
        new -= {record.tobytes() for record in self.records}
        return np.frombuffer(b"".join(sorted(new)), dtype=np.uint64).reshape(-1, RECORD_WORDS)

    def weights_of(self, positions: Words) -> Weights:
        """The weights of positions uint64[n, 8]: float32[n]; 1 each without `weights`.

        What is ours must be in them as we know it. A position that is not in P has 0. Goes through
        all of P.
        """
        weights = self.weights
        if weights is None or not len(positions):
            return np.ones(len(positions), dtype=np.float32)
        wanted = packed(np.ascontiguousarray(positions, dtype=np.uint64), self.side)
        return merged(self.records, weights, wanted)

    def sample(
        self,
        count: int,
        rng: np.random.Generator,
        exclude: Collection[int] | Hashes = (),
        by_weight: float = 0.0,
    ) -> Words:
        """Draw positions of P without repeats; every set of them is equally likely.

        exclude: `position_hash` of positions that are not to be drawn. by_weight: a share of them,
        drawn first, in proportion to the weights. Returns uint64[k, 8]; k is `count`, or the number
        of positions if there are fewer. Without weights, the time grows with `count` and the size
        of `exclude`, not with P.
        """
        if isinstance(exclude, np.ndarray):
            excluded = exclude
        else:
            excluded = np.fromiter(exclude, dtype=np.uint64, count=len(exclude))
        size, weights = len(self), self.weights
        rows = np.empty(0, dtype=np.int64)
        if weights is not None and by_weight > 0:
            likely = draw_by_weight(weights, min(2 * (count + len(excluded)), size), rng)
            rows = self._not_excluded(likely, excluded)[: round(by_weight * count)]
        if size <= 4 * (count + len(excluded)):
            others = self._not_excluded(rng.permutation(size), excluded)
            rows = np.concatenate((rows, others[~np.isin(others, rows)]))
            return unpacked(self._known, self.records[rows[:count]])
        while len(rows) < count:
            drawn = np.concatenate([rows, rng.integers(size, size=2 * (count - len(rows)))])
            first = np.sort(np.unique(drawn, return_index=True)[1])
            rows = self._not_excluded(drawn[first], excluded)
        return unpacked(self._known, self.records[rows[:count]])

    def _not_excluded(self, rows: npt.NDArray[np.int64], excluded: Hashes) -> npt.NDArray[np.int64]:
        """Of the row numbers int64[m], those whose positions' hashes are not excluded, in order."""
        if not len(excluded):
            return rows
        hashes = np.empty(len(rows), dtype=np.uint64)
        hash_positions(unpacked(self._known, self.records[rows]), hashes)
        return rows[~np.isin(hashes, excluded)]

    def contains(self, words: Words) -> bool:
        """Whether the position uint64[8] is in P. Looks through all of P."""
        position = np.ascontiguousarray(words, dtype=np.uint64).reshape(1, WORDS)
        record = packed(position, self.side)
        if not np.array_equal(unpacked(self._known, record), position):
            return False  # what is ours differs
        return bool(find(self.records, record[0]) >= 0)

    def certain_enemy_king(self) -> int | None:
        """The square where the enemy king stands in all of P, if there is one."""
        mask = int(common_king(self.records)) if len(self) else 0
        return mask.bit_length() - 1 if mask else None

    def common_observation(self) -> Observation | None:
        """What our side sees, if that is the same in all of P."""
        observed = np.zeros(OBSERVATION_WORDS, dtype=np.uint64)
        if not common_observation(TABLES, self._known, self.records, self.side, observed):
            return None
        return Observation.from_words(observed)

    def copy(self) -> Belief:
        """An independent belief with memory and threads of its own."""
        other = Belief.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._records = self.records.copy()
        other._weights = None if self._weights is None else self._weights[: self._count].copy()
        other._recollection = copy.copy(self._recollection)
        other._expected = None
        other._updater = Updater(self._updater.limit, self._updater.workers.threads)
        return other

    def release(self) -> None:
        """Give the memory back to the buffers; P is empty afterwards."""
        self._forget_expected()
        self._hold(np.empty((0, RECORD_WORDS), dtype=np.uint64), 0)

    def close(self) -> None:
        """End the threads; the belief can still be used."""
        self._updater.workers.close()

    def _expect_turn(self, side: int) -> None:
        if side != self._to_move:
            raise ValueError("it is the other side's turn")

    def _move_word(self, uci: str) -> int | None:
        """The word of our move: the same in all positions."""
        return find_move(self.any_position(), uci) if len(self) else None

    def _randomness(self, *, advance: bool = True) -> tuple[np.random.Generator, Ranking]:
        """A generator for this ply, and a salted ranking of records."""
        rng = np.random.default_rng((self._seed, self._ply))
        self._ply += advance
        return rng, new_ranking(rng, regions_for(len(self)))

    def _accept(
        self,
        outcome: Outcome | None,
        known: Words | None,
        observation: Observation | None,
        rng: np.random.Generator,
        weights: Weights | None = None,
    ) -> Update:
        """Take over the outcome of an update, or rebuild P if it leaves no position.

        outcome, known: None if nothing can fit. known: after the move; see `record`. weights: of
        the outcome's records; None: all alike.
        """
        parents = len(self)
        visited = outcome.visited if outcome is not None else parents
        self._to_move = 1 - self._to_move
        warning = None
        if outcome is not None and known is not None and outcome.size:
            self._known = known
            self._take_over(outcome, weights)
        else:
            if outcome is not None and outcome.records is not self._records:
                self._updater.buffers.take_back(outcome.records)
            # If no position was missing from P, then what we were told can't be true.
            self._contradicted |= self.exact and (outcome is None or outcome.complete)
            self._forget(rng)
            self._recollection.note_lost(by_enemy_move=self._to_move == self.side)
            if observation is not None:
                warning = self._rebuild(observation, rng)
        if not (self.exact or self._contradicted or observation is None):
            self._regain(observation)
        return Update(parents, visited, len(self), self.exact, warning)

    def _take_over(self, outcome: Outcome, weights: Weights | None) -> None:
        self.exact = self.exact and outcome.complete
        self._hold(outcome.records, outcome.size, weights)

    def _regain(self, observation: Observation) -> None:
        """Make P exact again if what we see leaves one position only."""
        enemies = int(self._recollection.remaining.sum())
        only = only_record(self._known, observation, enemies, ordinary=self._ordinary)
        if only is not None:
            self._hold(only, 1)
            self.exact = True

    def _hold(self, records: Records, count: int, weights: Weights | None = None) -> None:
        if records is not self._records:
            self._updater.buffers.take_back(self._records)
        self._records, self._count, self._weights = records, count, weights

    def _forget_expected(self) -> None:
        if self._expected is not None:
            self._expected.run.abandon()
            self._expected = None

    def _forget(self, rng: np.random.Generator) -> None:
        """Leave no position in P, but remember some of them."""
        if len(self):
            self._recollection.keep(self.sample(REMEMBERED, rng))
        self._hold(np.empty((0, RECORD_WORDS), dtype=np.uint64), 0)
        self.exact = False

    def _rebuild(self, observation: Observation, rng: np.random.Generator) -> str:
        self._forget_expected()
        self._forget(rng)
        self.rebuilds += 1
        limit = self._updater.limit
        implied, _ = implied_en_passant(observation, self.side, _castling(self._known))
        rebuilt = rebuild(implied, self._to_move, self._recollection, limit, rng)
        self._known = known_of(rebuilt.positions[0], self.side)
        if observation.en_passant is None:  # a capture that is not told may not be made
            self._known[OUR_STATE] &= ~(SQUARE_BITS << EN_PASSANT_SHIFT)
        self._known[PASSED] = self._recollection.passed
        self._hold(packed(rebuilt.positions, self.side), len(rebuilt.positions))
        self._contradicted |= rebuilt.level == ANYHOW
        fit = "contradict" if rebuilt.level == ANYHOW else "fit"
        return (
            f"no position explains all that was seen; believing in {len(self)} positions "
            f"drawn at random that {fit} what is seen now"
        )


def _castling(known: Words) -> int:
    """Our rights and files in Chess960, in the state word's places; 0 in ordinary chess."""
    state = int(known[OUR_STATE])
    return state & CASTLING_STATE if state >> int(FILES_SHIFT) else 0


def warm_up() -> None:
    """Call all kernels as a `Belief` does; no update waits for the compiler afterwards.

    It takes a moment if they are in the cache, else some seconds.
    """
    belief = Belief(from_board(chess.Board()), 0, max_positions=5)
    belief.after_own_move("e2e4", Observation.of(from_fen(_AFTER_E4), 0))
    belief.expect(Observation.of(from_fen(_AFTER_E5), 0), Event())
    belief.after_opponent_move(Observation.of(from_fen(_AFTER_E5), 0))
    belief.rebuild(Observation.of(from_fen(_AFTER_E5), 0))
    belief.contains(belief.any_position())
    belief.certain_enemy_king()
    belief.common_observation()
    belief.sample(1, np.random.default_rng(0), {0})
    find_move(belief.any_position(), "g1f3")
    # An update calls these only if there are too many positions, or a rook is captured in its
    # corner.
    sizes = np.zeros(1, dtype=np.int64)
    records = belief.positions[:1, :3].copy()
    ranking = new_ranking(np.random.default_rng(0), 1)
    cut(records, sizes, rank_below(records, sizes, ranking, np.uint64(0)))
    empty = np.zeros((PADDING + 1, RECORD_WORDS), dtype=np.uint64)
    spread(empty, 1, sizes, ranking)
    belief = Belief(from_fen(_BEFORE_CAPTURE), 0, weighted=True)
    belief.after_opponent_move(Observation.of(from_fen(_CAPTURE), 0))
    belief.weights_of(belief.positions)
    heaviest_first(belief.records, np.ones(1, dtype=np.uint32), 0, 1)  # of the next update
    belief.after_own_move("h1h8", None)
    add_sums(np.zeros((1, 1), dtype=np.uint64), np.zeros((1, 1), dtype=np.uint64))  # of threads


_AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
_AFTER_E5 = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
# The hidden king may have gone to several squares, so that there is something to put in a table.
_BEFORE_CAPTURE = "k6r/8/8/8/8/8/8/4K2R b K - 0 1"
_CAPTURE = "1k5r/8/8/8/8/8/8/4K2R w K - 0 2"
