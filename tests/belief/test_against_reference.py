"""A belief is what trying everything in plain python-chess gives, at every ply of many games.

`python -m tools.proofs.belief_reference` does the same for hundreds of games and larger beliefs.
"""

from __future__ import annotations

import random
from itertools import chain

import chess
import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief import Belief
from tests import reference
from tests.belief import comparison
from tests.belief.comparison import Counts, DifferenceError, compare_game
from tests.belief.games import MIDDLE_GAMES, STORIES
from tests.belief.rare_games import KINDS, kinds_of, rare_game
from tests.sizes import quick_among

LIMIT = 100  # positions that the slow reference goes on with
RARE_LIMIT = 25
RARE_PLIES = 30
RARE_BATCHES = 8  # of four games each
QUICK_BATCHES = range(4, 8)


@pytest.mark.parametrize("color", chess.COLORS, ids=["black", "white"])
@pytest.mark.parametrize("name", STORIES)
def test_stories(name: str, color: chess.Color) -> None:
    fen, moves = STORIES[name]
    played = [chess.Move.from_uci(move) for move in moves.split()]
    assert compare_game(fen, played, color, limit=LIMIT).equal > 2


@pytest.mark.parametrize("seed", quick_among(range(24), lambda seed: seed < 6))
def test_random_games(seed: int) -> None:
    fen = [chess.STARTING_FEN, *MIDDLE_GAMES][seed % 6]
    *_, board = reference.random_game(random.Random(seed), fen, plies=60)
    for color in chess.COLORS:
        assert compare_game(fen, board.move_stack, color, limit=LIMIT).equal > 0


def batch_seeds(batch: int) -> range:
    """The numbers of the four games of a batch."""
    return range(batch, 4 * RARE_BATCHES, RARE_BATCHES)


@pytest.mark.parametrize("batch", quick_among(range(RARE_BATCHES), QUICK_BATCHES.__contains__))
def test_games_in_which_the_rare_rules_are_frequent(batch: int) -> None:
    """Promotions, en passant, castling in attack, kings in check; also where P is large."""
    counts = Counts()
    for seed in batch_seeds(batch):
        game = rare_game(seed, RARE_PLIES)
        for color in chess.COLORS:
            counts += compare_game(
                *game, color, limit=RARE_LIMIT, alone=1, largest=20_000, naive=True
            )
    assert counts.equal > 100 and counts.alone > 10
    assert counts.largest > RARE_LIMIT


def test_the_rare_rules_are_frequent() -> None:
    """Each of them occurs for both sides, even in the games that `make test` follows."""
    met = set()
    for seed in chain.from_iterable(map(batch_seeds, QUICK_BATCHES)):
        game = rare_game(seed, RARE_PLIES)
        board = chess.Board(game.fen)
        for move in game.moves:
            met |= {(kind, board.turn) for kind in kinds_of(board, move)}
            board.push(move)
    assert met == {(kind, color) for kind in KINDS for color in chess.COLORS}


# -- the comparison itself --------------------------------------------------------------------


class Forgetful(Belief):
    """Does not tell of one position."""

    @property
    def positions(self) -> npt.NDArray[np.uint64]:
        return super().positions[:-1] if len(self) > 1 else super().positions


class Repetitive(Belief):
    """Tells of one position twice."""

    @property
    def positions(self) -> npt.NDArray[np.uint64]:
        return np.concatenate([super().positions, super().positions[:1]])


class Gullible(Belief):
    """Tells of one position that does not fit what is seen."""

    @property
    def positions(self) -> npt.NDArray[np.uint64]:
        other = super().positions[:1].copy()
        other[0, 7] ^= np.uint64(1)  # the other side to move
        return np.concatenate([super().positions, other])


@pytest.mark.parametrize(
    ("broken", "message"),
    [(Forgetful, "missing: ."), (Repetitive, "held twice"), (Gullible, "too many: .")],
)
def test_a_belief_that_is_wrong_is_found_out(
    broken: type[Belief], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = [chess.Move.from_uci(move) for move in ("e2e4", "h7h6", "g1f3")]
    assert compare_game(chess.STARTING_FEN, moves, chess.WHITE, limit=30).equal == 3
    monkeypatch.setattr(comparison, "Belief", broken)
    with pytest.raises(DifferenceError, match=message):
        compare_game(chess.STARTING_FEN, moves, chess.WHITE, limit=30)


def test_the_naive_kernel_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "same_rows", lambda first, second: len(first) < 10)
    moves = [chess.Move.from_uci(move) for move in ("e2e4", "h7h6")]
    with pytest.raises(DifferenceError, match="naive kernel"):
        compare_game(chess.STARTING_FEN, moves, chess.WHITE, limit=30, naive=True)
