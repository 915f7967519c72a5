"""Following one game with beliefs that must agree: the fast one, the naive one, the reference.

Used by the tests for short games, and by `tools/proofs/belief_reference.py` for many.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief import Belief, Update
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board, to_board, to_fen
from tests import reference
from tests.belief.naive import NaiveBelief

Words = npt.NDArray[np.uint64]

NO_CAP = 2 * 10**7
UNTOLD = 5  # plies from one own move, if it is one, that no observation follows, to the next


class DifferenceError(AssertionError):
    """Two beliefs that must be equal are not, or one has lost the true position."""


@dataclass
class Counts:
    """What was compared. Adding up leaves the largest sizes."""

    plies: int = 0  # updates in which the true position was looked for
    equal: int = 0  # updates in which all of P was compared with the reference
    compared: int = 0  # positions in these
    alone: int = 0  # members of a larger P that the reference followed, each by itself
    naive: int = 0  # updates in which all of P was compared with the naive kernel
    largest_equal: int = 0
    largest_naive: int = 0
    largest: int = 0

    def __add__(self, other: Counts) -> Counts:
        first, second = astuple(self), astuple(other)
        sums = [a + b for a, b in zip(first[:5], second[:5], strict=True)]
        return Counts(*sums, *map(max, zip(first[5:], second[5:], strict=True)))


def scrambled(positions: Words) -> Words:
    """A hash of each row of uint64[n, 8]: splitmix64's finisher, chained over the words."""
    hashes = np.zeros(len(positions), dtype=np.uint64)
    for word in range(positions.shape[1]):
        hashes ^= positions[:, word]
        hashes = (hashes ^ hashes >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ hashes >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes


def sorted_rows(positions: Words) -> Words:
    """The rows of uint64[n, 8] in an order that depends on nothing but what they are."""
    return positions[np.argsort(scrambled(positions))]


def same_rows(first: Words, second: Words) -> bool:
    """Whether two beliefs hold the same positions, each as often."""
    return len(first) == len(second) and np.array_equal(sorted_rows(first), sorted_rows(second))


def assert_no_doubles(positions: Words) -> None:
    """Every position is held once."""
    ordered = sorted_rows(positions)
    double = (ordered[1:] == ordered[:-1]).all(axis=1)
    if double.any():
        raise DifferenceError(f"held twice: {to_fen(ordered[1:][double][0])}")


def fens(keys: set[reference.Key]) -> set[str]:
    """The reference's positions as `obscuro.rules.position.to_fen` writes them."""
    return {" ".join((k.placement, "wb"[not k.turn], k.castling, k.ep)) for k in keys}


def compare_game(
    fen: str,
    moves: Sequence[chess.Move],
    color: chess.Color,
    *,
    limit: int,
    alone: int = 0,
    largest: int = 0,
    naive: bool = False,
    untold: bool = True,
    chess960: bool = False,
    starts: Sequence[str] = (),
) -> Counts:
    """Follow a game with the belief of one side and its slow counterparts.

    While P has at most `limit` positions before an update, it must afterwards be what the reference
    finds, which tries everything. Where P has more, and until it has more than `largest`, so many
    members as `alone` says are followed by themselves, by both: what they lead to must be the same,
    and in P. Where P has shrunk to the limit again, the reference goes on from the P of then.
    naive: the naive kernel must find the same P at any size. untold: now and then the side is not
    told what it sees after its own move. The true position must always be in P.

    Raises DifferenceError, with the game.
    """
    game = _Game(fen, color, limit, alone, naive, chess960, starts or [fen])
    for ply, move in enumerate(moves):
        try:
            if not game.push(move, told=not untold or ply % UNTOLD != UNTOLD - 1):
                break
        except DifferenceError as error:
            played = " ".join(m.uci() for m in moves[: ply + 1])
            side = chess.COLOR_NAMES[color]
            raise DifferenceError(f"{side}, position fen {fen} moves {played}: {error}") from None
        if len(game.fast) > max(largest, limit):
            break
    return game.counts


class _Game:
    """A game in progress, as `compare_game` follows it."""

    def __init__(
        self,
        fen: str,
        color: chess.Color,
        limit: int,
        alone: int,
        naive: bool,
        chess960: bool,
        starts: Sequence[str],
    ) -> None:
        self.counts = Counts()
        self.color = color
        self.side = 0 if color == chess.WHITE else 1
        self.board = FogOfWarBoard(fen, chess960=chess960)
        self.chess960 = chess960
        boards = [chess.Board(start, chess960=chess960) for start in starts]
        words = np.array([from_board(board) for board in boards])
        self.fast = Belief(words, self.side, NO_CAP)
        self.naive = NaiveBelief(words, self.side, NO_CAP) if naive else None
        self.slow: reference.Belief | None = reference.Belief(boards[0], color)
        self.slow.positions = set(map(reference.key, boards))
        self.limit = limit
        self.alone = alone
        self.rng = random.Random(fen)

    def push(self, move: chess.Move, told: bool) -> bool:
        """Go on by a move and compare; tell whether the game goes on after it."""
        ours = self.board.turn == self.color
        self.board.push(move)
        if not reference.goes_on(self.board):
            return False
        told = told or not ours
        shown = reference.sight(self.board, self.color) if told else None
        observation = self.board.observation(self.color) if told else None
        own = move if ours else None
        before = self.fast.positions
        update = _update(self.fast, own, observation)
        assert update is not None  # nothing stops it
        self._accept(update)
        if len(before) <= self.limit:
            slow = self.slow or self._reference_of(before)
            _update_slowly(slow, own, shown)
            self._compare_all(slow)
            self.slow = slow
        else:
            self.slow = None
            self._compare_members(before, own, observation, shown)
        if self.naive is not None:
            _update(self.naive, own, observation)
            if not same_rows(self.fast.positions, self.naive.positions):
                raise DifferenceError("the naive kernel finds other positions")
            self.counts.naive += 1
            self.counts.largest_naive = max(self.counts.largest_naive, len(self.fast))
        return True

    def _accept(self, update: Update) -> None:
        """Look at what holds of every update."""
        if update.warning is not None or not (update.exact and self.fast.exact):
            raise DifferenceError(f"not exact: {update}")
        if not self.fast.contains(from_board(self.board)):
            raise DifferenceError(f"the true position is lost: {self.board.fen()}")
        self.counts.plies += 1
        self.counts.largest = max(self.counts.largest, len(self.fast))

    def _compare_all(self, slow: reference.Belief) -> None:
        expected = fens(slow.positions)
        found = {to_fen(words) for words in self.fast.positions}
        if found != expected:
            raise DifferenceError(
                f"missing: {sorted(expected - found)[:3]}, too many: {sorted(found - expected)[:3]}"
            )
        assert_no_doubles(self.fast.positions)
        self.counts.equal += 1
        self.counts.compared += len(expected)
        self.counts.largest_equal = max(self.counts.largest_equal, len(expected))

    def _compare_members(
        self,
        before: Words,
        own: chess.Move | None,
        observation: Observation | None,
        shown: reference.Sight | None,
    ) -> None:
        """Follow some members of P by themselves, and look at some of what P has become."""
        assert_no_doubles(self.fast.positions)
        for row in self.rng.sample(range(len(before)), min(self.alone, len(before))):
            member = before[row]
            slow = self._reference_of(member[np.newaxis])
            _update_slowly(slow, own, shown)
            expected = fens(slow.positions)
            if expected:  # a belief that is left with nothing rebuilds
                fast = Belief(member, self.side)
                _update(fast, own, observation)
                found = {to_fen(words) for words in fast.positions}
                if found != expected:
                    raise DifferenceError(f"{to_fen(member)} leads to {found}, not {expected}")
            for key in slow.positions:
                if not self.fast.contains(from_board(key.board())):
                    raise DifferenceError(f"missing: {key}, from {to_fen(member)}")
            self.counts.alone += 1
        after = self.fast.positions
        for row in self.rng.sample(range(len(after)), min(self.alone, len(after))):
            board = self._board(after[row])
            if not reference.goes_on(board) or (
                shown is not None and reference.sight(board, self.color) != shown
            ):
                raise DifferenceError(f"too many: {board.fen()}")

    def _reference_of(self, positions: Words) -> reference.Belief:
        """The reference, to go on from what a belief holds."""
        belief = reference.Belief(chess.Board(), self.color)
        belief.positions = {reference.key(self._board(words)) for words in positions}
        return belief

    def _board(self, words: Words) -> chess.Board:
        board = to_board(words)
        board.chess960 = self.chess960
        return board


def _update(
    belief: Belief, own: chess.Move | None, observation: Observation | None
) -> Update | None:
    if own is not None:
        return belief.after_own_move(own.uci(), observation)
    assert observation is not None
    return belief.after_opponent_move(observation)


def _update_slowly(
    belief: reference.Belief, own: chess.Move | None, shown: reference.Sight | None
) -> None:
    if own is not None:
        belief.after_own_move(own, shown)
    else:
        assert shown is not None
        belief.after_opponent_move(shown)
