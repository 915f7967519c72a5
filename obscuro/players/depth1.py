"""The player `depth1`: one own move of search over a sample of the possible positions.

Of every position of a uniform sample of P it asks the evaluator for the values of all children.
That is what the position after each own move is worth if both sides saw everything from then on:
Stockfish's evaluation after captures are played out. A move is worth the mean over the sample, and
the best move is played; ties are broken at random. A king whose square is certain is captured
first. Values of moves that may repeat the position a third time count as at most 0.

What it lacks is what search in the fog is about: it plans no second own move, never mixes, and
takes no account of what the other side knows or of what a move lets it see itself.
"""

import time
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from obscuro.engine.chess_game import DRAW_WORD, STATE_WORDS
from obscuro.engine.game_follower import OwnTurn, Words
from obscuro.engine.report import Choice, Coverage
from obscuro.players.belief_player import BeliefPlayer
from obscuro.rules.layout import WORDS

CHUNK = 16
"""Positions that are evaluated between two looks at the clock."""

Means = npt.NDArray[np.float64]


class Sampled(NamedTuple):
    """What a sample of P says of our moves.

    positions: those of the sample that were evaluated. means: the mean value of each move over
    them, ours, [-1, 1], in the generator's order. evaluations: children evaluated.
    """

    positions: Words  # [n, 8]
    means: Means  # [moves]
    evaluations: int


class Depth1Player(BeliefPlayer):
    """Plays the move with the best mean value over a sample of P. See the module."""

    _seen: Words = np.zeros((0, WORDS), dtype=np.uint64)  # positions that the last choice rests on

    def choose_move(self, turn: OwnTurn) -> Choice:
        """Choose the move with the best mean value."""
        random = self.random()
        drawn = turn.known.belief.sample(self.options.integer("sample_size"), random)
        sampled = self.values_over(drawn, turn)
        self._seen = sampled.positions
        best = np.flatnonzero(sampled.means == sampled.means.max())
        play = [(turn.names[index], 1.0 / len(best)) for index in best]
        info = turn.info(
            float(sampled.means.max()),
            play,
            positions=len(sampled.positions),
            evaluations=sampled.evaluations,
        )
        turn.tell(info)
        return Choice(turn.names[int(random.choice(best))], info=info)

    def values_over(self, positions: Words, turn: OwnTurn) -> Sampled:
        """Evaluate our moves in positions uint64[n, 8], n ≥ 1, until the turn is over.

        At least one chunk of positions is evaluated, whatever the clock says.
        """
        states = np.zeros((len(positions), STATE_WORDS), dtype=np.uint64)
        states[:, :WORDS] = positions
        states[:, DRAW_WORD] = turn.known.quiet_plies
        before, sums, done = self.game.evaluations, np.zeros(len(turn.names)), 0
        longest = 0.0  # seconds that a chunk took
        while done < len(states) and not (done and self._is_enough(turn, before, longest)):
            start = time.monotonic()
            chunk = states[done : done + CHUNK]
            # The keys would place the children in a tree. Here there is none.
            values = self.game.expand(chunk, np.zeros((len(chunk), 2), dtype=np.uint64)).values
            # Our moves are the same, in the same order, in all positions of P.
            sums += values.reshape(len(chunk), len(turn.names)).sum(axis=0, dtype=np.float64)
            done += len(chunk)
            longest = max(longest, time.monotonic() - start)
        return Sampled(positions[:done], sums / done, self.game.evaluations - before)

    def covered(self, words: Words, in_belief: bool) -> Coverage:
        """Say whether a position uint64[8] was in the last sample."""
        found = bool((self._seen == words).all(axis=1).any())
        return Coverage(in_belief, found, found, 1 / len(self._seen) if found else 0.0)

    def forget(self) -> None:
        """Forget the last sample."""
        self._seen = np.zeros((0, WORDS), dtype=np.uint64)

    def _is_enough(self, turn: OwnTurn, before: int, longest: float) -> bool:
        """Whether no chunk fits into the turn any more, or `go nodes` asks for no more children."""
        nodes = turn.limits.nodes
        return turn.is_over(longest) or (
            nodes is not None and self.game.evaluations - before >= nodes
        )
