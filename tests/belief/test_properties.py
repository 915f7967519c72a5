"""What holds of a belief after every ply of any history: legal moves drawn from any start."""

from __future__ import annotations

import random
from threading import Event

import chess
import numpy as np
import pytest
from hypothesis import assume, event, example, given
from hypothesis import strategies as st
from numba import njit

from obscuro.belief import Belief
from obscuro.rules.layout import KINGS, MAX_MOVES, STATE, WHITE
from obscuro.rules.moves import generate_moves
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, legal_moves, load, to_fen
from obscuro.rules.tables import TABLES
from obscuro.rules.vision import OBSERVATION_WORDS, observation_words
from tests.belief.comparison import NO_CAP, assert_no_doubles, same_rows, scrambled
from tests.belief.games import MIDDLE_GAMES, STORIES, Game, Words, after, follow, goes_on
from tests.belief.games import play as play_out
from tests.belief.rare_games import sparse_position
from tests.sizes import examples

# Where one side sees little of many pieces, P grows fast, and the work is shared by threads.
DARK = ["nbqkqbnr/8/8/8/8/8/8/K7 w - - 0 1", "k6q/ppp2qqq/8/8/8/8/PPP5/K7 w - - 0 1"]
# Where one side may come to see all of the other, and a sample to be exact again.
BARE = [
    "8/8/8/3k4/8/8/8/KR6 b - - 0 1",
    "r3k3/8/8/8/8/8/8/Q3K3 w q - 0 1",
    "r3k2r/3p4/8/4P3/8/8/8/Q3K2Q b kq - 0 1",
    "8/8/8/1k1p4/8/8/4P3/2Q1K3 w - - 0 1",
]
STARTS = [chess.STARTING_FEN, *MIDDLE_GAMES, *(fen for fen, _ in STORIES.values()), *DARK]

PAST = 0.0
LARGEST = 10_000  # positions of which each is looked at

CHOICES = st.integers(0, 63)  # of a move, by its number among the legal ones
# Moves after which two threads share the work: the king steps about in the dark.
LONG_HISTORY = (DARK[0], [0, 3, 1, 7, 0, 11, 1, 5, 0, 9])


def histories(
    starts: list[str], most: int, *, sparse: bool = False
) -> st.SearchStrategy[tuple[str, list[int]]]:
    """A start and the numbers of so many moves at most. sparse: also from positions drawn at random."""
    start = st.sampled_from(starts)
    if sparse:
        drawn = st.integers(0, 999).map(lambda seed: sparse_position(random.Random(seed)).fen())
        start = st.one_of(start, drawn)
    return st.tuples(start, st.lists(CHOICES, min_size=1, max_size=most))


def play(fen: str, choices: list[int]) -> Game:
    """The game in which the moves with these numbers, counted around, are made; it may end early."""
    game = Game([from_fen(fen)], [])
    for choice in choices:
        moves = legal_moves(game.positions[-1])
        move = int(moves[choice % len(moves)])
        child = after(game.positions[-1], move)
        if not goes_on(child):
            break
        game.moves.append(move)
        game.positions.append(child)
    return game


@njit(nogil=True)
def look_at_all(tables, positions, side, observed):  # type: ignore[no-untyped-def]
    """Write what `side` observes in each row of uint64[n, 8] to uint64[n, 9]; count those without moves."""
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    stuck = 0
    for row in range(positions.shape[0]):
        position = load(positions, row)
        words = observation_words(tables, position, side)
        for word in range(OBSERVATION_WORDS):
            observed[row, word] = words[word]
        stuck += generate_moves(tables, position, moves) == 0
    return stuck


def assert_explains(positions: Words, truth: Words, side: int) -> None:
    """All positions look as the true one does, and the game goes on in them, with the same mover."""
    observed = np.empty((len(positions), OBSERVATION_WORDS), dtype=np.uint64)
    stuck = look_at_all(TABLES, np.ascontiguousarray(positions), side, observed)
    differs = (observed != Observation.of(truth, side).words()).any(axis=1)
    assert not differs.any(), f"{to_fen(positions[differs][0])} looks otherwise"
    assert stuck == 0
    for kings in (
        positions[:, KINGS] & positions[:, WHITE],
        positions[:, KINGS] & ~positions[:, WHITE],
    ):
        assert (np.bitwise_count(kings) == 1).all()
    assert ((positions[:, STATE] & np.uint64(1)) == (truth[STATE] & np.uint64(1))).all()


@examples(1.0)
@given(histories(STARTS, 40, sparse=True))
def test_after_every_ply_of_any_history(history: tuple[str, list[int]]) -> None:
    """The true position is in P, once as all are, and each explains what is seen."""
    game = play(*history)
    for side in (0, 1):
        belief = Belief(game.positions[0], side, NO_CAP)
        for ply, truth in enumerate(game.positions[1:]):
            update = follow(belief, game, ply)
            assert update.exact and belief.exact and update.warning is None
            assert belief.contains(truth)
            positions = belief.positions
            assert len(positions) == len(belief) == update.positions
            assert_no_doubles(positions)
            assert_explains(positions, truth, side)
            if len(belief) > LARGEST:
                break


@examples(0.3)
@given(histories(DARK, 12), st.integers(0, 3))
@example(LONG_HISTORY, 0)
def test_threads_change_neither_content_nor_order(
    history: tuple[str, list[int]], seed: int
) -> None:
    game = play(*history)
    one, two = (Belief(game.positions[0], 0, NO_CAP, threads, seed) for threads in (1, 2))
    for ply in range(len(game.moves)):
        follow(one, game, ply)
        follow(two, game, ply)
        assert np.array_equal(one.positions, two.positions)
        if len(one) > 2 * LARGEST:
            break
    event(f"P of 10^{len(str(len(one))) - 1}")
    two.close()


def test_the_long_history_is_shared_by_threads() -> None:
    game = play(*LONG_HISTORY)
    belief = Belief(game.positions[0], 0, NO_CAP)
    assert max(follow(belief, game, ply).parents for ply in range(len(game.moves))) > LARGEST


@examples(1.0)
@given(
    histories(STARTS, 30, sparse=True),
    st.sampled_from([1, 2, 5, 20, 100, 500]),
    st.integers(0, 3),
    st.booleans(),
)
def test_a_capped_belief_is_a_part_of_the_exact_one_and_says_when_it_is_all_of_it(
    history: tuple[str, list[int]], cap: int, seed: int, hurried: bool
) -> None:
    game = play(*history)
    for side in (0, 1):
        assert_honest(game, side, cap, seed, hurried)


@examples(1.0)
@given(histories(BARE, 30), st.integers(1, 3), st.integers(0, 3))
def test_a_sample_is_exact_again_only_if_nothing_else_is_possible(
    history: tuple[str, list[int]], cap: int, seed: int
) -> None:
    assert_honest(play(*history), 0, cap, seed, hurried=False)


def assert_honest(game: Game, side: int, cap: int, seed: int, hurried: bool) -> None:
    """A belief with a cap has part of the positions of one without, and all if it says so."""
    whole = Belief(game.positions[0], side, NO_CAP)
    capped = Belief(game.positions[0], side, cap, seed=seed)
    for ply, truth in enumerate(game.positions[1:]):
        was_exact = capped.exact
        follow(whole, game, ply)
        update = follow(capped, game, ply, PAST if hurried else None)
        assert update.exact == capped.exact
        assert 0 < len(capped) <= cap
        assert_no_doubles(capped.positions)
        if capped.exact:
            assert same_rows(capped.positions, whole.positions)
        elif not capped.rebuilds:
            assert_is_part(capped.positions, whole.positions)
        assert_explains(capped.positions, truth, side)
        event(f"exact: {was_exact} -> {capped.exact}, rebuilt: {capped.rebuilds > 0}")
        if len(whole) > LARGEST:
            break


def assert_is_part(part: Words, whole: Words) -> None:
    """Every row of uint64[n, 8] is one of the other's, as far as 64-bit hashes tell."""
    assert np.isin(scrambled(part), scrambled(whole)).all()


@examples(0.2)
@given(histories(DARK, 12), st.integers(0, 3))
@example(LONG_HISTORY, 0)
def test_a_belief_that_was_cut_short_is_a_part_of_the_exact_one(
    history: tuple[str, list[int]], seed: int
) -> None:
    game = play(*history)
    whole, hurried = (Belief(game.positions[0], 0, NO_CAP, seed=seed) for _ in range(2))
    for ply in range(len(game.moves)):
        follow(whole, game, ply)
        follow(hurried, game, ply, PAST)
        assume(not hurried.rebuilds)
        if hurried.exact:
            assert same_rows(hurried.positions, whole.positions)
        else:
            assert_is_part(hurried.positions, whole.positions)
        if len(whole) > 2 * LARGEST:
            break
    event(f"exact: {hurried.exact}")


@pytest.mark.parametrize("seed", range(4))
def test_a_belief_emptied_by_its_own_move_goes_on_with_memory_of_its_own(seed: int) -> None:
    """What it had been lent and gave back must not be lent twice: that would overwrite P."""
    belief = Belief(from_fen(chess.STARTING_FEN), 0, 500, seed=seed)
    before = play_out(chess.STARTING_FEN, ["e2e4", "h7h6", "b1c3"])
    follow(belief, before, 0)
    follow(belief, before, 1)
    # After Nc3 White is shown a black queen at d3, through all the pawns: no position fits.
    lie = "rnb1kbnr/ppppppp1/7p/8/4P3/2Nq4/PPPP1PPP/R1BQKBNR b KQkq - 0 2"
    belief.after_own_move(before.moves[2], Observation.of(from_fen(lie), 0))
    assert belief.rebuilds == 1
    after_it = play_out(
        lie, ["d3d6", "g1f3", "d6h2", "a2a3", "h2g3", "a3a4", "g3h2", "a4a5", "h2h4"]
    )
    for ply, truth in enumerate(after_it.positions[1:]):
        update = follow(belief, after_it, ply)
        assert update.positions == len(belief) > 0
        assert_explains(belief.positions, truth, 0)
        assert_no_doubles(belief.positions)


class Interruption(Event):
    """Is set when it has been asked about for so many times."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._left = after

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


# For each ply: what is expected (nothing, what was seen last, what will be seen), and for how long.
EXPECTATIONS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=12)


@examples(0.6)
@given(histories(DARK + STARTS, 12), EXPECTATIONS, st.sampled_from([100, NO_CAP]))
@example(LONG_HISTORY, [(1, 2), (2, 2), (1, 0), (2, 0), (2, 6)], NO_CAP)
def test_what_was_expected_changes_nothing(
    history: tuple[str, list[int]], expectations: list[tuple[int, int]], cap: int
) -> None:
    """Whether it comes true or not, and whenever it is broken off."""
    game = play(*history)
    for side in (0, 1):
        calm, eager = (Belief(game.positions[0], side, cap) for _ in range(2))
        seen = Observation.of(game.positions[0], side)
        for ply, truth in enumerate(game.positions[1:]):
            before = eager.positions
            last, seen = seen, Observation.of(truth, side)
            kind, after = expectations[ply % len(expectations)]
            if kind and not eager.our_turn:
                eager.expect(last if kind == 1 else seen, Interruption(after))
                assert np.array_equal(eager.positions, before)
            expected = follow(calm, game, ply)
            assert follow(eager, game, ply) == expected
            assert np.array_equal(calm.positions, eager.positions)
            if len(calm) > 2 * LARGEST:
                break
