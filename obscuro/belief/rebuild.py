"""Drawing a belief from what is known now, if no position explains all that was seen.

That happens most often where the belief was cut to a sample without the true position.

Our side knows its pieces and what stands on the seen squares. It knows some squares that must be
occupied, and some that must not. It knows which enemy pieces there were and which of them it
captured, where the enemy pawns started, and how often they can have captured. It knows the castling
rights that there were, and what it believed before. Each drawn position explains the present
observation, unless that is impossible.

If few positions explain all that is known, `placement` lists them. Otherwise `repair` draws
positions that differ little from earlier ones, and the plausible ones are preferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.belief.fit import requirements_of
from obscuro.belief.own_move import Conditions
from obscuro.belief.placement import (
    ANYHOW,
    BOARD_OF_KIND,
    KINDS,
    KING_KIND,
    KNIGHT_KIND,
    LENIENT,
    MOST_HOMES,
    PAWN_KIND,
    SQUARES_OF_KIND,
    STRICT,
    UNKNOWN,
    Known,
    add_all,
    count_hidden,
    count_pieces,
    fewest_captures,
    new_memory,
    split,
)
from obscuro.belief.repair import Earlier, draw_positions, frequencies, score, weigh
from obscuro.rules.castling import OWN_CASTLING, OWN_RIGHTS, castling_at_home
from obscuro.rules.layout import (
    ALL,
    BACK_RANKS,
    DOUBLE_PUSH,
    EN_PASSANT,
    EN_PASSANT_SHIFT,
    FILES_SHIFT,
    KIND_SHIFT,
    KINGS,
    PAWNS,
    QUEENS,
    SQUARE_BITS,
    STATE,
    WHITE,
    WORDS,
)
from obscuro.rules.observation import Observation
from obscuro.rules.position import move_squares
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import vision

Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int64]

LEAST = 1000  # positions that are looked for, even if they are not plausible
KEPT = 4096  # positions that make up the belief, if its limit allows
POOL = 16_384  # different positions that they are chosen from
ATTEMPTS = 65_536  # draws in search of these
ENUMERATED = 131_072  # positions that are tried one by one, before any draw
REMEMBERED = 4096  # positions kept from before an update that left none

_FILES = ~((1 << int(FILES_SHIFT)) - 1)  # of the state word
_RANK_4, _RANK_5 = 0xFF << 24, 0xFF << 32


class ContradictionError(ValueError):
    """No position can fit an observation: it lacks our king, or a place for theirs."""


class Rebuilt(NamedTuple):
    """Drawn positions, and how well they explain what is known."""

    positions: Words  # [n, 8] each once
    level: int  # STRICT, LENIENT or ANYHOW


def census(words: Words, colour: int) -> Counts:
    """Number of pieces of each kind that `colour` (0 = White) has in a position: int64[KINDS]."""
    counts = np.empty((1, KINDS), dtype=np.int64)
    count_pieces(words.reshape(1, WORDS), 1 - colour, np.uint64(0), counts)
    return counts.reshape(KINDS)


def captured(words: Words, move: int) -> Counts:
    """What a move captures in a position uint64[8], as a `census`: int64[KINDS]."""
    origin, target, _ = move_squares(move)
    mover_is_white = int(words[WHITE]) >> origin & 1
    if move >> int(KIND_SHIFT) == EN_PASSANT:
        target += -8 if mover_is_white else 8
    only_there = words & np.uint64(1 << target)
    return census(only_there, 1 if mover_is_white else 0)


def hidden_pieces(remaining: Counts, seen: Counts, there: Counts | None = None) -> Counts:
    """How many enemy pieces of each kind must be hidden: int64[KINDS], as by `count_hidden`."""
    hidden = np.empty(KINDS, dtype=np.int64)
    count_hidden(remaining, seen, np.zeros_like(seen) if there is None else there, hidden)
    return hidden


@dataclass
class Recollection:
    """What one side remembers of a game, so that it can draw new positions when none is left."""

    side: int  # 0 = White
    first: Words  # [8] the position in which the game began
    earlier: Words  # [m, 8], m ≥ 1: positions of the belief before the last moves
    remaining: Counts  # [KINDS] number of enemy pieces of each kind that we have not captured
    enemy_moves: int = 0  # since `earlier`
    vacated: int = 0  # the mask of squares that our last move showed to be empty
    pushed: int = 0  # where our last move put a pawn by a double push; 0 = nowhere
    any_start: bool = False  # whether `first` is only one of those in which the game may have begun

    @classmethod
    def of(cls, start: Words, side: int, *, any_start: bool = False) -> Recollection:
        """Begin a game. start: uint64[8], its first position, or with any_start one that may be it."""
        earlier = start.reshape(1, WORDS)
        return cls(side, start, earlier, census(start, 1 - side), any_start=any_start)

    @property
    def files(self) -> int:
        """The files for castling as in `Known`."""
        ours = int(self.earlier[0, STATE]) & OWN_CASTLING[self.side]
        theirs = int(self.first[STATE]) & OWN_CASTLING[1 - self.side]
        return (ours | theirs) & _FILES | self.any_start

    def note_own_move(self, word: int, needed: Conditions, position: Words | None) -> None:
        """Note what our move shows. position: some position before it, uint64[8], if any."""
        self.note_other_move()
        self.vacated = (needed.origin | needed.empty) & ~needed.target
        if word >> int(KIND_SHIFT) == DOUBLE_PUSH:
            self.pushed = move_squares(word)[1]
        if position is not None:
            self.remaining = self.remaining - captured(position, word)

    def note_other_move(self) -> None:
        """Note a move of the other side: what our last move showed may have changed since."""
        self.vacated = self.pushed = 0

    def note_lost(self, *, by_enemy_move: bool) -> None:
        """Note that an update has left no position; by_enemy_move: after the other side's move."""
        self.enemy_moves += by_enemy_move

    def keep(self, positions: Words) -> None:
        """Keep positions, uint64[n, 8], from before an update that leaves none."""
        self.earlier = positions
        self.enemy_moves = 0

    @property
    def passed(self) -> int:
        """The square that our pawn has just passed over by a double push; 0 = none."""
        if not self.pushed:
            return 0
        return self.pushed + (-8 if self.side == 0 else 8)


def rebuild(
    observation: Observation,
    to_move: int,
    recollection: Recollection,
    limit: int,
    rng: np.random.Generator,
) -> Rebuilt:
    """Draw positions, at most `limit` and `KEPT`; at least `LEAST` if that is possible.

    observation: of our side. to_move: whose turn it is. Raises ContradictionError if our king is not
    in the observation.
    """
    side, first = recollection.side, recollection.first
    earlier, enemy_moves = recollection.earlier, recollection.enemy_moves
    base, tidied = _certain(observation, side, to_move)
    files = recollection.files
    castling = 0
    if files & OWN_CASTLING[side]:
        ours = np.uint64(int(earlier[0, STATE]) & OWN_CASTLING[side])
        castling = int(castling_at_home(tuple(base), ours))
    observed, needed = requirements_of(observation, side, castling)
    banned = int(needed[0]) | int(needed[10]) | recollection.vacated | _just_left(base)
    past = _past(base, int(needed[0]), side, earlier, enemy_moves)
    numbers = census(base, 1 - side)
    seen = np.empty(KINDS, dtype=np.uint64)
    split(tuple(base), side, seen)
    homes = np.uint64(_pieces(first, 1 - side) & int(first[PAWNS]))
    captures = _pieces(first, side).bit_count() - _pieces(base, side).bit_count()
    costs = np.empty(1 << MOST_HOMES, dtype=np.int8)
    if fewest_captures(homes, seen[PAWN_KIND], side == 1, costs) > captures:
        captures = UNKNOWN
    known = Known(
        side,
        base,
        observed,
        seen,
        numbers,
        _allowed_squares(~banned & int(ALL)),
        needed[9] | np.uint64(past.occupied),
        np.uint64(past.settled),
        recollection.remaining,
        np.array(
            [
                int(earlier[0, STATE]) & OWN_RIGHTS[side],
                int(np.bitwise_or.reduce(earlier[:, STATE])) & OWN_RIGHTS[1 - side],
            ],
            dtype=np.uint64,
        ),
        np.uint64(recollection.pushed),
        homes,
        captures,
        np.uint64(files),
    )
    former = _weighed(known, earlier, enemy_moves > 0, past.changed)
    out = np.empty((POOL, WORDS), dtype=np.uint64)
    random = rng.integers(1 << 64, size=1, dtype=np.uint64)
    for level in (STRICT, LENIENT, ANYHOW) if not tidied and needed[11] else (ANYHOW,):
        count = 0
        if level == STRICT:
            settled = _settled(known, earlier) if enemy_moves == 0 else None
            if settled is not None:
                count = _find(settled, level, former, random, out)
        if count == 0:
            count = _find(known, level, former, random, out)
        if count:
            return Rebuilt(_plausible(known, former, out[:count], limit, rng), level)
    raise ContradictionError("the observation leaves no place for the other side's king")


def _find(known: Known, level: int, former: Earlier, random: Words, out: Words) -> int:
    """Write all positions if they are few, else draw some; return their number."""
    count = _enumerate(known, former, out) if level == STRICT else 0
    return count or _draw(known, level, former, random, out)


def _weighed(known: Known, positions: Words, moved: bool, changed: bool) -> Earlier:
    """Weigh earlier positions uint64[m, 8], and the squares on which their pieces stood."""
    weights = np.empty(len(positions), dtype=np.float64)
    often = np.empty((KINDS, 64), dtype=np.float64)
    weigh(TABLES, known, Earlier(positions, moved, changed, weights, often), weights)
    frequencies(known, positions, weights, often)
    return Earlier(positions, moved, changed, np.cumsum(weights), often)


def _draw(known: Known, level: int, former: Earlier, random: Words, out: Words) -> int:
    """Draw positions, and some implausible ones if they are few; return their number."""
    memory = new_memory(2 * ATTEMPTS)
    start = (TABLES, known, level)
    end = (ATTEMPTS, random, memory)
    count = draw_positions(*start, former, *end, out, 0)
    if count < LEAST:
        anywhere = former._replace(often=np.zeros_like(former.often))
        count = draw_positions(*start, anywhere, *end, out[:LEAST], count)
    return int(count)


def _enumerate(known: Known, former: Earlier, out: Words) -> int:
    """Write all positions that explain what is known; return their number, 0 if they are too many.

    They have the promotions of earlier positions, and those that the last move may have been.
    """
    hidden = {
        tuple(hidden_pieces(known.remaining, known.numbers, there).tolist())
        for there in _numbers(known, former)
    }
    count, left = 0, ENUMERATED
    memory = new_memory(ENUMERATED)
    for numbers in sorted(hidden):
        wanted = np.array(numbers, dtype=np.int64)
        count, left = add_all(TABLES, known, wanted, left, memory, out, count)
    return int(count) if left > 0 and count < len(out) else 0


def _numbers(known: Known, former: Earlier) -> Counts:
    """The numbers of pieces, by kinds, that the enemy may have had in all: int64[n, KINDS]."""
    counts = np.empty((len(former.positions), KINDS), dtype=np.int64)
    count_pieces(former.positions, known.side, np.uint64(_pieces(known.base, known.side)), counts)
    counts = np.unique(counts, axis=0)
    least = hidden_pieces(known.remaining, known.numbers) + known.numbers
    choices = [least[np.newaxis], counts]
    last_rank = slice(8, 16) if known.side == 0 else slice(48, 56)
    if former.moved and np.any(former.often[PAWN_KIND, last_rank]):
        for kind in range(KNIGHT_KIND, KING_KIND):
            promoted = counts.copy()
            promoted[:, kind] += 1
            choices.append(promoted)
    return np.concatenate(choices)


def _plausible(
    known: Known, former: Earlier, positions: Words, limit: int, rng: np.random.Generator
) -> Words:
    """Draw as many of uint64[n, 8] as may be kept, without repeats, the plausible ones rather."""
    kept = min(limit, KEPT)
    if len(positions) <= kept:
        return positions.copy()
    scores = np.empty(len(positions), dtype=np.float64)
    score(known, positions, former.often, scores)
    scores += rng.gumbel(size=len(scores))  # the greatest are then a draw by exp(score)
    return positions[np.sort(np.argpartition(scores, -kept)[-kept:])]


class _Past(NamedTuple):
    """What follows from the earlier positions, which all agree with what we saw then."""

    occupied: int  # where the enemy must have captured what is missing, if we do not see it
    settled: int  # squares that we saw then but do not see now
    changed: bool  # whether the enemy's move shows on the squares that we saw


def _past(base: Words, seen: int, side: int, earlier: Words, enemy_moves: int) -> _Past:
    if enemy_moves > 1 or (enemy_moves == 1 and int(earlier[0, STATE]) & 1 == side):
        return _Past(0, 0, False)  # we have moved, too
    before = earlier[0]
    saw = int(vision(TABLES, tuple(before), side))
    if enemy_moves == 0:
        return _Past(0, saw & ~seen, False)
    lost = _pieces(before, side) & ~_pieces(base, side)
    changed = lost != 0 or any(
        (int(old) ^ int(new)) & saw & seen for old, new in zip(before[:STATE], base, strict=False)
    )
    # A pawn after a double push may have been captured en passant, from the square behind it.
    pushed = lost & int(before[PAWNS]) & (_RANK_4 if side == 0 else _RANK_5)
    behind = pushed >> 8 if side == 0 else pushed << 8
    en_passant = behind and (behind & ~seen or behind & int(base[PAWNS]))
    occupied = lost & ~seen if lost.bit_count() == 1 and not en_passant else 0
    return _Past(occupied, saw & ~seen, changed)


def _settled(known: Known, earlier: Words) -> Known | None:
    """What is known if nothing changed on the squares that we saw before; None if that can't be."""
    before, settled = earlier[0], known.settled
    if np.any((earlier[:, :STATE] ^ before[:STATE]) & settled):
        return None
    theirs = np.empty(KINDS, dtype=np.uint64)
    split(tuple(before), known.side, theirs)
    en_passant = int(before[STATE]) >> int(EN_PASSANT_SHIFT) & int(SQUARE_BITS)
    if en_passant and (known.base[PAWNS] & ~before[PAWNS]) >> np.uint64(en_passant) & np.uint64(1):
        victim = en_passant + (-8 if known.side == 0 else 8)
        theirs[PAWN_KIND] &= np.uint64(~(1 << victim) & int(ALL))
    theirs &= settled
    if np.any(theirs & ~known.allowed):
        return None
    base = known.base.copy()
    for kind, squares in enumerate(theirs):
        base[BOARD_OF_KIND[kind]] |= squares
        if known.side == 1:
            base[WHITE] |= squares
    return known._replace(
        base=base,
        seen=known.seen | theirs,
        numbers=census(base, 1 - known.side),
        allowed=known.allowed & ~settled,
        occupied=known.occupied & ~np.bitwise_or.reduce(theirs),
        settled=np.uint64(0),
    )


def _pieces(words: Words, colour: int) -> int:
    """Squares of the pieces of a colour (0 = White)."""
    occupied = int(np.bitwise_or.reduce(words[:WHITE]))
    return occupied & (int(words[WHITE]) if colour == 0 else ~int(words[WHITE]))


def _certain(observation: Observation, side: int, to_move: int) -> tuple[Words, bool]:
    """What is certain, as a position uint64[8], and whether it had to be tidied.

    Tidying removes a piece that shares its square with another one. It turns pawns on the back
    ranks and a side's second king into queens.
    """
    words = np.zeros(WORDS, dtype=np.uint64)
    taken = 0
    for board, bits in enumerate(observation.boards[:WHITE]):
        words[board] = bits & observation.seen & ~taken
        taken |= bits & observation.seen
    white = observation.boards[WHITE] & taken
    words[WHITE] = white
    surplus = int(words[PAWNS] & BACK_RANKS)
    for mask in (white, ~white):
        kings = int(words[KINGS]) & mask
        surplus |= kings & (kings - 1)
    words[PAWNS] &= np.uint64(~surplus & int(ALL))
    words[KINGS] &= np.uint64(~surplus & int(ALL))
    words[QUEENS] |= np.uint64(surplus)
    if not int(words[KINGS]) & (white if side == 0 else ~white):
        raise ContradictionError("our king is not in the observation")
    words[STATE] = to_move
    en_passant = observation.en_passant or 0
    if to_move == side and _is_en_passant(words, en_passant, side):
        words[STATE] |= np.uint64(en_passant << int(EN_PASSANT_SHIFT))
    told = (*observation.boards, en_passant << int(EN_PASSANT_SHIFT) | to_move)
    return words, tuple(int(word) for word in words) != told


def _is_en_passant(words: Words, square: int, side: int) -> bool:
    """Whether the pieces are such that `side` might capture en passant on the square."""
    if square // 8 != (5 if side == 0 else 2):
        return False
    pawns, white = int(words[PAWNS]), int(words[WHITE])
    own, enemy = (white, ~white) if side == 0 else (~white, white)
    victim = square + (-8 if side == 0 else 8)
    occupied = int(np.bitwise_or.reduce(words[:WHITE]))
    return bool(
        not occupied >> square & 1
        and (pawns & enemy) >> victim & 1
        and int(TABLES.pawn[1 - side, square]) & pawns & own
    )


def _just_left(base: Words) -> int:
    """The square that a pawn has just left by a double push that we may answer en passant."""
    en_passant = int(base[STATE]) >> int(EN_PASSANT_SHIFT) & int(SQUARE_BITS)
    if not en_passant:
        return 0
    return 1 << (en_passant + 8 if base[STATE] & np.uint64(1) == 0 else en_passant - 8)


def _allowed_squares(squares: int) -> Words:
    """Where a hidden piece of each kind may stand, out of `squares`: uint64[KINDS]."""
    allowed = [squares & int(SQUARES_OF_KIND[kind]) for kind in range(KINDS)]
    allowed[PAWN_KIND] &= ~int(BACK_RANKS)
    return np.array(allowed, dtype=np.uint64)
