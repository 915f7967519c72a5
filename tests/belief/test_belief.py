"""What a belief promises to those who use it."""

from __future__ import annotations

import copy
import subprocess
import sys
from threading import Event

import chess
import numpy as np
import pytest

from obscuro.belief import Belief
from obscuro.belief import update as update_module
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, from_fen, hash_positions, legal_moves
from tests.belief.games import (
    STORIES,
    Words,
    after,
    as_set,
    follow,
    random_game,
    row,
    story,
)
from tests.hanging import HANG_SECONDS
from tests.sizes import quick_among

START = from_board(chess.Board())
FAR = 1e18  # a deadline that is never met
PAST = 0.0


def hashes_of(positions: Words) -> set[int]:
    hashes = np.empty(len(positions), dtype=np.uint64)
    hash_positions(np.ascontiguousarray(positions), hashes)
    return set(hashes.tolist())


def large_belief(
    minimum: int = 20_000, **options: int
) -> tuple[Belief, list[Words], list[int], int]:
    """A belief of White that has grown, its game, and the next ply."""
    game = random_game(22, 40, eager=0.0)
    belief = Belief(game.positions[0], 0, **options)
    for ply in range(len(game.moves)):
        follow(belief, game, ply)
        if len(belief) > minimum and belief.our_turn:
            return belief, game.positions, game.moves, ply + 1
    raise AssertionError("the game is too tame")


# -- exactness ---------------------------------------------------------------------------------


def test_a_sample_is_exact_again_when_all_enemies_are_seen() -> None:
    """A rook's king and rook against a king that was lost from a belief of one position."""
    belief = Belief(from_fen("8/8/8/3k4/8/8/8/KR6 b - - 0 1"), 0, max_positions=1)
    update = belief.after_opponent_move(
        Observation.of(from_fen("8/8/8/4k3/8/8/8/KR6 w - - 0 2"), 0)
    )
    assert update is not None and update.positions == 1 and not belief.exact
    belief.after_own_move("b1b5", Observation.of(from_fen("8/8/8/1R2k3/8/8/8/K7 b - - 0 2"), 0))
    assert belief.exact
    assert as_set(belief.positions) == {row(from_fen("8/8/8/1R2k3/8/8/8/K7 b - - 0 2"))}


def test_a_sample_stays_one_while_an_enemy_is_hidden_or_may_castle() -> None:
    belief = Belief(from_fen("8/8/8/3k4/8/8/7n/KR6 b - - 0 1"), 0, max_positions=1)
    belief.after_opponent_move(Observation.of(from_fen("8/8/8/4k3/8/8/7n/KR6 w - - 0 2"), 0))
    belief.after_own_move("b1b5", Observation.of(from_fen("8/8/8/1R2k3/8/8/7n/K7 b - - 0 2"), 0))
    assert not belief.exact
    # Black's king and rook stand at home and are seen; but they may have moved.
    belief = Belief(from_fen("4k2r/8/8/8/8/8/8/KR6 b k - 0 1"), 0, max_positions=1)
    for uci, black in (("b1b8", "4k2r/8/8/8/8/8/8/KR6 w k - 0 2"),):
        belief.after_opponent_move(Observation.of(from_fen(black), 0))
        belief.after_own_move(uci, Observation.of(from_fen("1R2k2r/8/8/8/8/8/8/K7 b k - 0 2"), 0))
    assert not belief.exact


# -- pondering ---------------------------------------------------------------------------------


def expecting(threads: int = 1) -> tuple[Belief, Belief, Observation, Observation]:
    """Twice a large belief after our move, what we see then, and what we see after the answer."""
    belief, positions, moves, ply = large_belief(threads=threads)
    seen = Observation.of(positions[ply + 1], 0)
    belief.after_own_move(moves[ply], seen)
    return belief, belief.copy(), seen, Observation.of(positions[ply + 2], 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_was_expected_and_comes_true_gives_the_same_belief_at_once(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    belief, plain, seen, _ = expecting(threads)
    before = belief.positions
    assert belief.expect(seen, Event())
    assert np.array_equal(belief.positions, before)  # nothing has happened yet
    expected = plain.after_opponent_move(seen)
    monkeypatch.setattr(update_module.Run, "_visit_chunk", None)  # nothing is left to visit
    assert belief.after_opponent_move(seen) == expected
    assert np.array_equal(belief.positions, plain.positions)
    assert belief.exact


@pytest.mark.parametrize("stopped", [True, False])
def test_what_was_expected_and_does_not_come_true_is_thrown_away(stopped: bool) -> None:
    belief, plain, _, answer = expecting()
    for words in belief.positions[:20]:
        for move in legal_moves(words):
            other = Observation.of(after(words, int(move)), 0)
            if other != answer:
                break
    stop = Event()
    if stopped:
        stop.set()
    assert other != answer
    assert belief.expect(other, stop) is not stopped or not stopped
    assert belief.after_opponent_move(answer) == plain.after_opponent_move(answer)
    assert np.array_equal(belief.positions, plain.positions)


def test_an_expectation_that_was_stopped_is_gone_on_with() -> None:
    belief, plain, seen, _ = expecting()
    stop = Event()
    stop.set()
    calls = 1
    while not belief.expect(seen, stop):
        calls += 1
    assert calls > 2
    belief.after_opponent_move(seen)
    plain.after_opponent_move(seen)
    assert np.array_equal(belief.positions, plain.positions)


def test_a_stopped_update_changes_nothing_and_goes_on_later() -> None:
    belief, plain, _, answer = expecting()
    before, stop = belief.positions, Event()
    stop.set()
    assert belief.after_opponent_move(answer, stop=stop) is None
    assert np.array_equal(belief.positions, before) and not belief.our_turn
    assert belief.after_opponent_move(answer) == plain.after_opponent_move(answer)
    assert np.array_equal(belief.positions, plain.positions) and belief.exact
    ours = int(legal_moves(belief.any_position())[0])
    for each in (belief, plain):
        each.after_own_move(ours)
    words = plain.positions[0]
    answer = Observation.of(after(words, int(legal_moves(words)[0])), 0)
    for each in (belief, plain):
        each.after_opponent_move(answer)
    assert np.array_equal(belief.positions, plain.positions), "the order is that of the ply"


def test_a_copy_keeps_its_positions_when_the_belief_goes_on() -> None:
    belief, positions, moves, ply = large_belief()
    other = belief.copy()
    before = other.positions
    belief.after_own_move(moves[ply], Observation.of(positions[ply + 1], 0))
    assert np.array_equal(other.positions, before)


def test_a_rook_captured_in_its_corner_leaves_each_position_once() -> None:
    words = from_fen("1n2k2r/8/8/8/8/8/6N1/K7 b k - 0 1")
    belief = Belief(words, 0)
    # Black's knight went out and back, or the rook did and may not castle any more.
    for ply, uci in enumerate(("b8c6", "g2f4", "c6b8", "f4g6", "b8a6", "g6h8")):
        move = find_move(words, uci)
        assert move is not None
        words = after(words, move)
        seen = Observation.of(words, 0)
        if ply % 2:
            belief.after_own_move(uci, seen)
        else:
            belief.after_opponent_move(seen)
    assert belief.exact and belief.contains(words)
    assert len(np.unique(belief.positions, axis=0)) == len(belief)


def test_nothing_is_expected_on_our_own_turn() -> None:
    with pytest.raises(ValueError, match="turn"):
        Belief(START, 0).expect(Observation.of(START, 0), Event())


# -- the true position ------------------------------------------------------------------------


@pytest.mark.parametrize("batch", quick_among(range(10), lambda batch: batch < 1))
def test_the_true_position_is_believed_in_at_every_ply(batch: int) -> None:
    plies = 0
    for seed in range(30 * batch, 30 * batch + 30):
        game = random_game(seed, 150)
        for side in (0, 1):
            belief = Belief(game.positions[0], side)
            for ply, truth in enumerate(game.positions[1:]):
                update = follow(belief, game, ply)
                assert belief.contains(truth), (seed, side, ply)
                assert update.warning is None
                plies += 1
                if len(belief) > 50_000:
                    break
            assert belief.exact
            assert belief.rebuilds == 0
    assert plies > 1000


def test_starts_from_what_is_known() -> None:
    belief = Belief(START, 0)
    assert as_set(belief.positions) == {row(START)}
    assert belief.our_turn and belief.exact and len(belief) == 1
    assert not Belief(START, 1).our_turn


def test_where_we_captured_the_king_the_game_is_over() -> None:
    belief = Belief(from_fen("k7/8/8/8/8/8/8/KR5R w - - 0 1"), 0)
    assert belief.after_own_move("b1b7").positions == 1
    belief.after_opponent_move(Observation.of(from_fen("8/kR6/8/8/8/8/8/K6R w - - 0 1"), 0))
    assert belief.after_own_move("b7a7").positions == 0


def test_where_the_other_side_cannot_move_the_game_is_over() -> None:
    """Black has one pawn left that can move; we capture it."""
    belief = Belief(from_fen("8/8/8/8/4Kp2/8/pppppppp/bbbbbbbk w - - 0 1"), 0)
    assert belief.after_own_move("e4f4").positions == 0
    belief = Belief(from_fen("8/8/8/8/4Kp2/8/pppppppp/bbbbbbbk w - - 0 1"), 0)
    assert belief.after_own_move("e4e5").positions == 1


# -- moves ------------------------------------------------------------------------------------


def test_own_moves_are_taken_as_words_and_as_text() -> None:
    game = story("castling through and out of attack")
    by_word, by_text = Belief(game.positions[0], 0), Belief(game.positions[0], 0)
    by_word.after_own_move(game.moves[0])
    by_text.after_own_move("e1g1")
    assert np.array_equal(by_word.positions, by_text.positions)


def test_moves_out_of_turn_are_refused() -> None:
    belief = Belief(START, 0)
    with pytest.raises(ValueError, match="turn"):
        belief.after_opponent_move(Observation.of(START, 0))
    belief.after_own_move("e2e4")
    with pytest.raises(ValueError, match="turn"):
        belief.after_own_move("d2d4")


def test_bad_options_are_refused() -> None:
    for options in ({"max_positions": 0}, {"threads": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match=r"\d"):
            Belief(START, 0, **options)


def test_an_own_move_that_is_not_told_leaves_all_positions() -> None:
    belief, positions, moves, ply = large_belief(1000)
    size = len(belief)
    update = belief.after_own_move(moves[ply])
    assert update.parents == size
    assert belief.contains(positions[ply + 1])


# -- threads, seeds -----------------------------------------------------------------------------


def test_content_and_order_do_not_depend_on_threads() -> None:
    one, positions, moves, ply = large_belief(threads=1)
    two = large_belief(threads=2)[0]
    assert np.array_equal(one.positions, two.positions)
    for belief in (one, two):
        follow_on(belief, positions, moves, ply)
    assert np.array_equal(one.positions, two.positions)


def follow_on(belief: Belief, positions: list[Words], moves: list[int], ply: int) -> None:
    for number in (ply, ply + 1):
        observation = Observation.of(positions[number + 1], belief.side)
        if belief.our_turn:
            belief.after_own_move(moves[number], observation, FAR)
        else:
            belief.after_opponent_move(observation, FAR)


def test_a_seed_gives_the_same_sample_and_another_seed_another() -> None:
    same, again, other = (large_belief(999, max_positions=1000, seed=s)[0] for s in (1, 1, 2))
    assert np.array_equal(same.positions, again.positions)
    assert as_set(same.positions) != as_set(other.positions)


def test_full_buffers_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = large_belief(threads=2)[0].positions
    monkeypatch.setattr(update_module, "ROOM", (50, 50))
    monkeypatch.setattr(update_module, "SMALL", 4096)
    assert np.array_equal(large_belief(threads=2)[0].positions, expected)


# -- the cap and the clock ------------------------------------------------------------------------


def test_a_cap_bounds_the_size_and_the_game_goes_on() -> None:
    game = random_game(2, 100, eager=0.0)
    belief = Belief(game.positions[0], 0, max_positions=300)
    sampled = False
    for ply in range(len(game.moves)):
        update = follow(belief, game, ply)
        assert 0 < len(belief) <= 300
        sampled = sampled or not update.exact
        assert belief.exact == (not sampled), "once sampled, never exact again"
        assert as_set(belief.positions)
    assert sampled


def test_a_capped_belief_is_a_part_of_the_exact_one() -> None:
    game = random_game(2, 12, eager=0.0)
    exact, capped = Belief(START, 0), Belief(START, 0, max_positions=200)
    for ply in range(len(game.moves)):
        follow(exact, game, ply)
        follow(capped, game, ply)
        if not capped.rebuilds:
            assert as_set(capped.positions) <= as_set(exact.positions)
    assert not capped.exact


def test_a_capped_belief_is_a_uniform_sample() -> None:
    """Each position of P is as often in the sample as any other: chi-square, with fixed seeds."""
    game = random_game(2, 4, eager=0.0)
    exact = Belief(START, 0)
    for ply in range(4):
        follow(exact, game, ply)
    count, limit, runs = len(exact), len(exact) // 4, 300
    rank = {tuple(words): index for index, words in enumerate(exact.positions.tolist())}
    drawn = np.zeros(count)
    for seed in range(runs):
        # The cap is reached at the last ply only, so that all parents are there.
        belief = Belief(START, 0, max_positions=limit, seed=seed)
        for ply in range(4):
            follow(belief, game, ply)
        assert len(belief) == limit
        for words in belief.positions.tolist():
            drawn[rank[tuple(words)]] += 1
    expected, variance = runs * limit / count, runs * limit / count * (1 - limit / count)
    chi_square = ((drawn - expected) ** 2).sum() / variance
    assert abs(chi_square - count) < 4 * np.sqrt(2 * count)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("own", [True, False])
def test_a_deadline_cuts_the_update_and_leaves_a_sample(
    threads: int, own: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_module, "FILTER_CHUNK", 5000)
    belief, positions, moves, ply = large_belief(threads=threads)
    full = large_belief()[0]
    for one in (belief, full):
        observation = Observation.of(positions[ply + 1], 0)
        update = one.after_own_move(moves[ply], observation, PAST if own and one is belief else FAR)
        if not own:
            observation = Observation.of(positions[ply + 2], 0)
            update = one.after_opponent_move(observation, PAST if one is belief else FAR)
        if one is belief:
            assert 0 < update.visited < update.parents
            assert update.warning is None
    assert 0 < len(belief) < len(full)
    assert as_set(belief.positions) <= as_set(full.positions)
    assert full.exact and not belief.exact


def captures(words: Words) -> list[int]:
    occupied = int(np.bitwise_or.reduce(words[:6]))
    return [int(move) for move in legal_moves(words) if occupied >> (int(move) >> 6 & 63) & 1]


def test_a_deadline_that_leaves_nothing_leads_to_a_rebuild(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Among the few positions looked at in time there may be none that fits."""
    monkeypatch.setattr(update_module, "FIRST_CHUNK", 16)
    grown, positions, moves, ply = large_belief()
    grown.after_own_move(moves[ply], Observation.of(positions[ply + 1], 0))
    rebuilds = 0
    for words in grown.positions[::-3000]:
        for move in captures(words)[:1]:
            belief = copy.copy(grown)
            update = belief.after_opponent_move(Observation.of(after(words, move), 0), PAST)
            assert len(belief) > 0 and not belief.exact
            assert (update.warning is not None) == (belief.rebuilds == 1)
            rebuilds += belief.rebuilds
    assert rebuilds > 0


def test_a_deadline_in_the_future_changes_nothing() -> None:
    game = random_game(2, 8, eager=0.0)
    free, bound = Belief(START, 1), Belief(START, 1)
    for ply in range(len(game.moves)):
        follow(free, game, ply)
        follow(bound, game, ply, FAR)
    assert np.array_equal(free.positions, bound.positions)
    assert bound.exact


def test_a_small_update_is_done_whatever_the_deadline() -> None:
    game = story("both capture en passant")
    belief = Belief(game.positions[0], 0)
    for ply in range(len(game.moves)):
        assert follow(belief, game, ply, PAST).exact
    assert belief.contains(game.positions[-1])


# -- questions ------------------------------------------------------------------------------------


def test_a_sample_takes_in_positions_that_it_lacks_once_each() -> None:
    whole, _, _, _ = large_belief(1_000)
    positions = whole.positions
    assert whole.include(positions[:50]) == 0  # an exact belief has all there are
    belief = whole.copy()
    belief._hold(belief.records[100:].copy(), len(whole) - 100)
    belief.exact = False
    other = positions[0].copy()
    other[:] = START  # our pieces stand otherwise
    offered = np.concatenate((positions[:130], positions[:10], other.reshape(1, -1)))
    lacking = [words for words in positions[:100] if not belief.contains(words)]
    assert len(lacking) == 100
    assert belief.include(offered) == 100
    assert as_set(belief.positions) == as_set(positions) and len(belief) == len(positions)
    assert belief.include(offered) == 0


def test_a_sample_takes_in_no_more_than_its_cap() -> None:
    whole, _, _, _ = large_belief(1_000, max_positions=1_000_000)
    belief = whole.copy()
    belief._hold(belief.records[100:].copy(), len(whole) - 100)
    belief.exact = False
    belief._updater.limit = len(belief) + 7
    assert belief.include(whole.positions[:50]) == 7


def test_sample_draws_without_repeats() -> None:
    belief = large_belief(2_000)[0]
    rng = np.random.default_rng(1)
    for count in (0, 1, 10, 1000, len(belief), len(belief) + 1):
        drawn = as_set(belief.sample(count, rng))
        assert len(drawn) == min(count, len(belief))
        assert drawn <= as_set(belief.positions)


@pytest.mark.parametrize("count", [5, 40])
def test_sample_leaves_out_what_is_excluded(count: int) -> None:
    """Both where few positions are asked for and where nearly all are."""
    belief = large_belief(100)[0]
    rng = np.random.default_rng(2)
    excluded = hashes_of(belief.sample(20, rng))
    for _ in range(20):
        drawn = belief.sample(count, rng, excluded)
        assert len(drawn) == count
        assert not hashes_of(drawn) & excluded
    as_array = np.array(sorted(excluded), dtype=np.uint64)
    assert len(belief.sample(len(belief), rng, as_array)) == len(belief) - 20


@pytest.mark.parametrize("count", [3, 60])
def test_sample_is_uniform(count: int) -> None:
    belief = large_belief(100)[0]
    rng = np.random.default_rng(3)
    rank = {tuple(words): index for index, words in enumerate(belief.positions.tolist())}
    excluded = hashes_of(belief.positions[:10])
    size, runs = len(belief) - 10, 100 * len(belief) // count
    drawn = np.zeros(len(belief))
    for _ in range(runs):
        for words in belief.sample(count, rng, excluded).tolist():
            drawn[rank[tuple(words)]] += 1
    assert not drawn[:10].any()
    expected, variance = runs * count / size, runs * count / size * (1 - count / size)
    chi_square = ((drawn[10:] - expected) ** 2).sum() / variance
    assert abs(chi_square - size) < 4 * np.sqrt(2 * size)


def test_contains_looks_at_all_of_a_position() -> None:
    game = story("both capture en passant")
    belief = Belief(game.positions[0], 0)
    follow(belief, game, 0)
    truth = game.positions[1]
    assert belief.contains(truth)
    for word in range(8):
        other = truth.copy()
        other[word] ^= np.uint64(1 << 5)
        assert not belief.contains(other)


def test_certain_enemy_king_is_where_all_positions_have_it() -> None:
    belief = Belief(from_fen("k7/8/8/8/8/8/8/K6R b - - 0 1"), 0)
    assert belief.certain_enemy_king() == chess.A8
    hidden = from_fen("1k6/8/8/8/8/8/8/K6R w - - 1 2")
    belief.after_opponent_move(Observation.of(hidden, 0))
    assert belief.certain_enemy_king() is None
    belief = Belief(from_fen("8/k7/8/8/8/8/8/KR6 b - - 0 1"), 0)
    belief.after_opponent_move(Observation.of(from_fen("8/1k6/8/8/8/8/8/KR6 w - - 1 2"), 0))
    assert belief.certain_enemy_king() == chess.B7


@pytest.mark.parametrize("name", STORIES)
def test_both_sides_believe_in_what_happened(name: str) -> None:
    game = story(name)
    for side in (0, 1):
        belief = Belief(game.positions[0], side)
        for ply, move in enumerate(game.moves):
            follow(belief, game, ply)
            assert belief.contains(after(game.positions[ply], move))
        assert belief.exact


# -- the compiler -----------------------------------------------------------------------------------


def test_after_warming_up_no_kernel_is_compiled() -> None:
    """In a process of its own, where nothing else has called the kernels."""
    script = """
import sys
from numba.core.dispatcher import Dispatcher
import numpy as np
from obscuro.belief import Belief, warm_up
from tests.belief.games import follow, random_game
from obscuro.rules.observation import Observation

def variants():
    return {
        f"{module.__name__}.{name}": len(kernel.signatures)
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith("obscuro.")
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher)
    }

warm_up()
game = random_game(22, 40, eager=0.0)
before = variants()
for side, weighted in ((0, False), (1, False), (0, True), (1, True)):
    belief = Belief(
        game.positions[0], side, max_positions=20_000, threads=2, seed=1, weighted=weighted
    )
    for ply in range(len(game.moves)):
        follow(belief, game, ply)
        belief.contains(game.positions[ply + 1])
        belief.certain_enemy_king()
        belief.sample(3, np.random.default_rng(), {1, 2})
    belief.rebuild(Observation.of(game.positions[-1], side))
print(*(name for name, count in variants().items() if count != before[name]))
"""
    result = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_SECONDS,
    )
    assert result.stdout.split() == []
