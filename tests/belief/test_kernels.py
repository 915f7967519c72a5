"""The fast kernels against naive ones: the same positions fit, the same moves are legal."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numba import njit

from obscuro.belief.belief import Belief
from obscuro.belief.candidates import candidate_moves, generate_between, generate_special
from obscuro.belief.fit import (
    REQUIREMENT_WORDS,
    fits,
    observes,
    read_requirements,
    requirements,
)
from obscuro.belief.own_move import conditions, is_playable, read_conditions
from obscuro.board.layout import ALL, MAX_MOVES, STATE, WORDS
from obscuro.board.position import from_fen, legal_moves, load, to_fen
from obscuro.board.tables import TABLES
from obscuro.fog.observation import Observation
from tests.belief.games import STORIES, Game, Words, as_set, follow, random_game, story

ENDGAME = "4k3/pppr1ppp/8/3nb3/3NB3/8/PPPR1PPP/4K3 w - - 0 1"
CASTLING = "r3k2r/p1p2ppp/8/3nb3/3NB3/8/PPP2P1P/R3K2R w KQkq - 0 1"
LARGEST = 20_000
BLOCKED, POSSIBLE = 9, 11  # of a requirement's words


def games() -> list[Game]:
    played = [story(name) for name in STORIES]
    for seed in range(4):
        played.append(random_game(seed, 60))
        played.append(random_game(seed, 60, ENDGAME))
        played.append(random_game(seed, 60, CASTLING))
    return played


# Kernels that take tuples of words are called through these: Python would pass on plain integers.


@njit
def is_fit(words, side, required):  # type: ignore[no-untyped-def]
    return fits(load(words.reshape(1, WORDS), 0), side, read_requirements(required))


@njit
def is_legal(words, side, needed):  # type: ignore[no-untyped-def]
    position = words.reshape(1, WORDS)
    return is_playable(position, 0, load(position, 0), side, read_conditions(needed))


@njit
def candidates(tables, words, side, required, moves):  # type: ignore[no-untyped-def]
    pos = load(words.reshape(1, WORDS), 0)
    return candidate_moves(tables, pos, side, read_requirements(required), moves)


def required_by(observation: Observation, side: int) -> Words:
    words = np.zeros(REQUIREMENT_WORDS, dtype=np.uint64)
    requirements(TABLES, observation.words(), side, words)
    return words


@pytest.mark.parametrize("side", [0, 1])
def test_fast_and_naive_updates_agree(side: int) -> None:
    updates = 0
    for game in games():
        fast, naive = (Belief(game.positions[0], side, naive=naive) for naive in (False, True))
        for ply in range(len(game.moves)):
            follow(fast, game, ply)
            follow(naive, game, ply)
            assert as_set(fast.positions) == as_set(naive.positions)
            updates += 1
            if len(fast) > LARGEST:
                break
    assert updates > 500


@pytest.mark.parametrize("side", [0, 1])
def test_fast_and_naive_updates_agree_on_what_never_happened(
    side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the observation is that of another move, most often nothing fits, but not always."""
    monkeypatch.setattr(Belief, "_rebuild", lambda *_: "left empty")
    rng = random.Random(7)
    nothing = something = 0
    for game in games():
        belief = Belief(game.positions[0], side)
        for ply in range(len(game.moves) - 1):
            if len(belief) < 1000:
                other = rng.choice(game.positions)
                observation = Observation.of(other, side)
                pair = [
                    Belief(words, side, naive=naive)
                    for words in belief.positions[:3]
                    for naive in (False, True)
                ]
                for one in pair:
                    if one.our_turn:
                        one.after_own_move(game.moves[ply], observation)
                    else:
                        one.after_opponent_move(observation)
                for fast, naive in zip(pair[::2], pair[1::2], strict=True):
                    assert as_set(fast.positions) == as_set(naive.positions)
                    something += len(fast) > 0
                    nothing += len(fast) == 0
            follow(belief, game, ply)
    assert nothing > 100
    assert something > 10


@pytest.mark.parametrize("side", [0, 1])
def test_fitting_is_observing(side: int) -> None:
    """Each position, and each with small changes, against each observation of the same game."""
    rng = np.random.default_rng(side)
    fitting = 0
    for game in games():
        positions = [words for words in game.positions for _ in range(4)]
        for index in range(0, len(positions), 2):
            changed = positions[index].copy()
            square = np.uint64(1) << np.uint64(rng.integers(64))
            changed[:7] &= ~square
            if index % 4 == 0:
                changed[rng.integers(5)] |= square
                changed[6] |= square * np.uint64(rng.integers(2))
            positions[index] = changed
        for words in game.positions:
            observation = Observation.of(words, side)
            required = required_by(observation, side)
            assert required[POSSIBLE]
            assert is_fit(words, side, required)
            for other in positions:
                fit = is_fit(other, side, required)
                assert fit == observes(TABLES, tuple(other), side, observation.words())
                fitting += fit
    assert fitting > 1000


def test_no_position_fits_an_observation_that_contradicts_itself() -> None:
    """What we cannot see is said to be empty, or what our knight must see is said to be unseen."""
    whole = Observation.of(from_fen(ENDGAME), 0)
    blocked = int(required_by(whole, 0)[BLOCKED])
    knight_sees = int(TABLES.knight[27]) & ~whole.pieces(0)
    for square in range(64):
        bit = 1 << square
        if bit & knight_sees or not bit & (whole.seen | blocked):
            boards = tuple(board & ~bit for board in whole.boards)
            lie = Observation(whole.seen ^ bit, boards)  # type: ignore[arg-type]
            assert not required_by(lie, 0)[POSSIBLE], whole.text()


def test_an_observation_without_our_king_fits_nothing() -> None:
    kingless = Observation.of(from_fen("4k3/8/8/8/8/8/8/4R3 w - - 0 1"), 0)
    assert not required_by(kingless, 0)[POSSIBLE]


def test_moves_between_all_squares_are_all_moves() -> None:
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    for game in games():
        for words in game.positions:
            count = generate_between(TABLES, tuple(words), ALL, ALL, moves)
            count = generate_special(TABLES, tuple(words), moves, count)
            assert sorted(moves[:count]) == sorted(legal_moves(words))


def test_candidate_moves_are_few_where_something_changed() -> None:
    moves = np.empty(MAX_MOVES, dtype=np.uint32)
    before = from_fen("3qk3/8/8/8/8/8/8/R2QK3 b - - 0 1")
    after = from_fen("4k3/8/8/8/8/8/8/R2qK3 w - - 0 2")
    required = required_by(Observation.of(after, 0), 0)
    assert candidates(TABLES, before, 0, required, moves) == 1


def test_conditions_of_a_move_say_where_it_is_legal() -> None:
    """Every move of a side that comes up in some game, in every position where it is to move."""
    for side in (0, 1):
        positions = [
            words for game in games() for words in game.positions if int(words[STATE]) & 1 == side
        ][::5]
        legal = [set(legal_moves(words).tolist()) for words in positions]
        for move in sorted(set().union(*legal)):
            needed = conditions(move, side)
            assert needed is not None
            for row, position in enumerate(positions):
                playable = is_legal(position, side, needed)
                assert playable == (move in legal[row]), (to_fen(position), move)


def test_what_no_piece_does_has_no_conditions() -> None:
    legal: list[set[int]] = [set(), set()]
    for game in games()[:10]:
        for words in game.positions:
            legal[int(words[STATE]) & 1].update(legal_moves(words).tolist())
    rng = random.Random(3)
    for _ in range(20_000):
        move = rng.getrandbits(20)
        for side in (0, 1):
            assert conditions(move, side) is not None or move not in legal[side]
    e2e4_as_single, e2e5, e7_stays_pawn, king_promotes = 0x070C, 0x090C, 0x0F34, 5 << 12 | 1 << 15
    for move in (e2e4_as_single, e2e5, e7_stays_pawn, king_promotes, 6 << 12):
        assert conditions(move, 0) is None
