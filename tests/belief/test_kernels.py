"""The fast kernels against naive ones: the same positions fit, the same moves are legal."""

from __future__ import annotations

import functools
import random

import numpy as np
import pytest

from obscuro.belief.belief import Belief
from obscuro.belief.fit import POSSIBLE, REQUIREMENT_WORDS, requirements
from obscuro.belief.own_move import conditions
from obscuro.belief.record import known_of, packed, unpacked
from obscuro.rules.layout import STATE, WORDS
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen, legal_moves, to_fen
from obscuro.rules.tables import TABLES
from tests.belief.games import STORIES, Game, Words, as_set, follow, random_game, story
from tests.belief.naive import NaiveBelief
from tests.sizes import quick_among

ENDGAME = "4k3/pppr1ppp/8/3nb3/3NB3/8/PPPR1PPP/4K3 w - - 0 1"
CASTLING = "r3k2r/p1p2ppp/8/3nb3/3NB3/8/PPP2P1P/R3K2R w KQkq - 0 1"
LARGEST = 20_000
BLOCKED = 9  # of the words of requirements


@functools.cache
def games() -> list[Game]:
    played = [story(name) for name in STORIES]
    for seed in range(4):
        played.append(random_game(seed, 60))
        played.append(random_game(seed, 60, ENDGAME))
        played.append(random_game(seed, 60, CASTLING))
    return played


def required_by(observation: Observation, side: int) -> Words:
    words = np.zeros(REQUIREMENT_WORDS, dtype=np.uint64)
    requirements(TABLES, observation.words(), side, np.uint64(0), words)
    return words


@pytest.mark.parametrize("side", quick_among([0, 1], lambda side: side == 0))
def test_fast_and_naive_updates_agree(side: int) -> None:
    updates = 0
    for game in games():
        fast, naive = (kind(game.positions[0], side) for kind in (Belief, NaiveBelief))
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
                    kind(words, side)
                    for words in belief.positions[:3]
                    for kind in (Belief, NaiveBelief)
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


def test_our_move_is_legal_where_the_naive_kernel_finds_it() -> None:
    """Every move of a side that comes up in some game, in every position where it is to move."""
    kept = dropped = 0
    for side in (0, 1):
        positions = [
            words for game in games() for words in game.positions if int(words[STATE]) & 1 == side
        ][::17]
        legal = [set(legal_moves(words).tolist()) for words in positions]
        for move in sorted(set().union(*legal))[::3]:
            for position, moves in zip(positions, legal, strict=True):
                fast, naive = (kind(position, side) for kind in (Belief, NaiveBelief))
                for belief in (fast, naive):
                    belief.after_own_move(move)
                assert as_set(fast.positions) == as_set(naive.positions), (to_fen(position), move)
                assert len(fast) <= (move in moves)
                kept += len(fast)
                dropped += 1 - len(fast)
    assert kept > 300
    assert dropped > 3000


def test_a_record_is_its_position_for_the_side_that_knows_the_rest() -> None:
    for game in games():
        for words in game.positions:
            for side in (0, 1):
                record = packed(words.reshape(1, WORDS), side)
                assert (record[:, 0] != 0).all()
                assert np.array_equal(unpacked(known_of(words, side), record)[0], words)


def test_a_record_does_not_tell_what_our_side_knows_anyway() -> None:
    """Two positions that differ in nothing of the other side's have one record."""
    one, other = (from_fen(f"r3k2r/p6p/8/{rank}/8/8/P7/R3K2R b kq - 0 1") for rank in ("8", "N7"))
    assert np.array_equal(packed(one.reshape(1, WORDS), 0), packed(other.reshape(1, WORDS), 0))
    assert not np.array_equal(packed(one.reshape(1, WORDS), 1), packed(other.reshape(1, WORDS), 1))


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
