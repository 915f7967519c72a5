"""The weights of a belief against a version that tries every move in every position."""

import itertools

import numpy as np
import pytest

from obscuro.belief import Belief
from obscuro.belief import belief as belief_module
from obscuro.belief import posterior as posterior_module
from obscuro.belief import update as update_module
from obscuro.belief.heaviest import heaviest_first
from obscuro.belief.move_model import make_scratch, probabilities, score_moves
from obscuro.belief.posterior import carry_weights, draw_by_weight, model_of_moves, scaled
from obscuro.belief.record import known_of, packed
from obscuro.rules.layout import KINGS, TO_SHIFT, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import legal_moves
from obscuro.rules.tables import TABLES
from tests.belief.games import STORIES, follow, random_game, story
from tests.sizes import quick_among


def move_probabilities(position, side, recapture):
    """The model's probability of each move word in a position, for `side` that waits."""
    known, scratch = known_of(position, side), make_scratch()
    record = packed(position.reshape(1, -1), side)[0]
    count = score_moves(TABLES, model_of_moves(), known, *record, np.uint64(recapture), scratch)
    probabilities(model_of_moves(), scratch.scores, count)
    moves, shares = scratch.moves[:count].tolist(), scratch.scores[:count].tolist()
    return dict(zip(moves, shares, strict=True))


def naive_weights(before, side, recapture, observation):
    """The weights, by position, after a move of the other side; before: the same, by position."""
    found = {}
    for position, weight in before.items():
        words = np.array(position, dtype=np.uint64)
        shares = move_probabilities(words, side, recapture)
        assert sorted(shares) == sorted(legal_moves(words).tolist())
        for move, share in shares.items():
            child = tuple(int(word) for word in make_move(tuple(words), move))
            if (
                _goes_on(child)
                and Observation.of(np.array(child, dtype=np.uint64), side) == observation
            ):
                found[child] = found.get(child, 0.0) + weight * share
    mean = sum(found.values()) / len(found)
    return {position: weight / mean for position, weight in found.items()}


def _goes_on(child):
    kings = child[KINGS]
    return (
        0 < kings & child[WHITE] < kings and len(legal_moves(np.array(child, dtype=np.uint64))) > 0
    )


def by_position(belief):
    weights = belief.weights
    weights = np.ones(len(belief)) if weights is None else weights
    return {
        tuple(map(int, row)): float(w) for row, w in zip(belief.positions, weights, strict=True)
    }


GAMES = [*STORIES, *range(20)]


@pytest.mark.parametrize("game", quick_among(GAMES, lambda game: game in STORIES or game < 3))
@pytest.mark.parametrize("side", [0, 1])
def test_weights_agree_with_a_version_that_tries_every_move(game, side):
    game = story(game) if game in STORIES else random_game(game, 60)
    belief = Belief(game.positions[0], side, weighted=True)
    recapture = 0
    for ply, move in enumerate(game.moves):
        before = by_position(belief)
        ours = belief.our_turn
        if ours:
            position = belief.any_position()
            target = 1 << (int(move) >> int(TO_SHIFT) & 63)
            enemy = int(position[WHITE]) if side else ~int(position[WHITE])
            pieces = int(np.bitwise_or.reduce(position[:WHITE]))
            en_passant = int(move) >> 18 == 2
            recapture = target if enemy & pieces & target or en_passant else 0
        follow(belief, game, ply)
        if len(belief) > 400:
            break
        found = by_position(belief)
        if ours:
            mean = np.mean(list(found.values()))
            assert mean == pytest.approx(1, rel=1e-4)
            continue
        observation = Observation.of(game.positions[ply + 1], side)
        wanted = naive_weights(before, side, recapture, observation)
        assert found.keys() == wanted.keys()
        if len(found) > 1:
            assert found == {p: pytest.approx(w, rel=1e-3, abs=1e-9) for p, w in wanted.items()}


def test_our_move_keeps_the_weights_of_what_stays():
    game = random_game(5, 60)
    belief = Belief(game.positions[0], 0, weighted=True)
    plain = Belief(game.positions[0], 0)
    for ply in range(len(game.moves)):
        if belief.our_turn and belief.weights is not None:
            weighted = dict(zip(map(bytes, belief.records), belief.weights, strict=True))
            follow(belief, game, ply)
            follow(plain, game, ply)
            assert (belief.records == plain.records).all()
            stayed = dict(zip(map(bytes, belief.records), belief.weights, strict=True))
            common = [key for key in stayed if key in weighted]
            ratios = {round(float(stayed[key] / weighted[key]), 3) for key in common}
            assert len(ratios) <= 1
        else:
            follow(belief, game, ply)
            follow(plain, game, ply)
        if len(belief) > 5000:
            break


def grown_in_game(minimum, *, our_turn, **options):
    """A belief of White that has grown, with weights; its game; and the number of the next ply."""
    game = random_game(22, 40, eager=0.0)
    belief = Belief(game.positions[0], 0, weighted=True, **options)
    for ply in range(len(game.moves)):
        follow(belief, game, ply)
        if len(belief) > minimum and belief.our_turn == our_turn:
            return belief, game, ply + 1
    raise AssertionError("the game is too tame")


def grown(minimum, **options):
    """A belief of White that has grown, with weights, on its turn."""
    return grown_in_game(minimum, our_turn=True, **options)[0]


def test_threads_agree_on_the_weights():
    one, three = grown(20_000), grown(20_000, threads=3)
    assert (one.records == three.records).all()
    assert one.weights == pytest.approx(three.weights, rel=1e-3)


def test_without_time_all_positions_count_alike(monkeypatch):
    monkeypatch.setattr(posterior_module, "CHUNK", 16)
    game = random_game(22, 40, eager=0.0)
    belief = Belief(game.positions[0], 0, weighted=True)
    for ply in range(20):
        if belief.our_turn:
            follow(belief, game, ply)
        else:
            belief.after_opponent_move(Observation.of(game.positions[ply + 1], 0), deadline=0.0)
    assert belief.weights is None
    assert belief.weights_of(belief.positions[:3]).tolist() == [1, 1, 1]


def test_the_heaviest_records_come_first():
    random = np.random.default_rng(5)
    weights = np.exp(random.normal(0, 4, 3000)).astype(np.float32).clip(1e-6)
    records = np.repeat(np.arange(1, 3001, dtype=np.uint64), 3).reshape(-1, 3)
    before = dict(zip(records[:, 0].tolist(), weights.tolist(), strict=True))
    heaviest_first(records, weights.view(np.uint32), 500, 2500)
    assert dict(zip(records[:, 0].tolist(), weights.tolist(), strict=True)) == before
    assert (records == records[:, :1]).all()
    assert records[:500, 0].tolist() == list(range(1, 501))
    assert records[2500:, 0].tolist() == list(range(2501, 3001))
    least_so_far = np.minimum.accumulate(weights[500:2500])
    within = weights[500:2500] < 1000  # all above count alike
    assert (weights[500:2500] <= least_so_far * 1.5)[within].all()


def mass_of_what_stays(monkeypatch, *, best_first):
    """The share of an exact belief's weight that a belief that was cut once has kept, and its size.

    best_first: whether the cut belief visits the likeliest positions first.
    """
    whole, game, ply = grown_in_game(20_000, our_turn=False)
    part = whole.copy()
    if not best_first:
        monkeypatch.setattr(belief_module, "heaviest_first", lambda *arguments: None)
    looks = itertools.count(1)
    monkeypatch.setattr(update_module, "CHUNK_SECONDS", (0.0, 1000.0))
    with monkeypatch.context() as cut:
        cut.setattr(belief_module, "is_late", lambda *limits: lambda seconds: next(looks) == 2)
        follow(part, game, ply)
    follow(whole, game, ply)
    assert not part.exact
    weights = whole.weights_of(part.positions)
    assert (weights > 0).all()  # nothing that is not possible
    assert part.weights is not None
    return float(weights.sum()) / len(whole), len(part) / len(whole)


def test_an_update_that_is_cut_keeps_what_the_likeliest_positions_lead_to(monkeypatch):
    mass, size = mass_of_what_stays(monkeypatch, best_first=True)
    assert mass > 0.8
    assert size < 0.6


def test_in_random_order_it_would_keep_less(monkeypatch):
    mass, size = mass_of_what_stays(monkeypatch, best_first=False)
    assert mass == pytest.approx(size, abs=0.1)


def test_a_belief_that_is_full_holds_the_likeliest_positions():
    game = random_game(22, 40, eager=0.0)
    whole = Belief(game.positions[0], 0, weighted=True)
    capped = Belief(game.positions[0], 0, 2000, weighted=True)
    for ply in range(len(game.moves)):
        follow(whole, game, ply)
        follow(capped, game, ply)
        if not capped.exact:
            break
    assert len(capped) == 2000 < len(whole)
    weights = whole.weights_of(capped.positions)
    assert (weights > 0).all()
    assert weights.mean() > 1.3
    assert capped.weights is not None


def test_where_the_time_for_weights_is_over_the_rest_counts_evenly(monkeypatch):
    monkeypatch.setattr(posterior_module, "CHUNK", 4096)
    belief, game, ply = grown_in_game(20_000, our_turn=False)
    hurried = belief.copy()
    follow(belief, game, ply)
    looks = itertools.count(1)
    with monkeypatch.context() as cut:
        # The first look is before the weights, the second after a chunk of parents.
        cut.setattr(posterior_module, "carry_weights", counted := Counted(carry_weights))
        cut.setattr(belief_module, "is_late", lambda *arguments: late)

        def late(seconds):
            return bool(counted.calls) and next(looks) == 1

        follow(hurried, game, ply)
    assert counted.calls == 1
    assert (hurried.records == belief.records).all()
    assert hurried.exact
    assert hurried.weights.mean() == pytest.approx(1, rel=1e-4)
    assert np.corrcoef(np.log(hurried.weights), np.log(belief.weights))[0, 1] > 0.5


class Counted:
    """A function that counts its calls."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *arguments):
        self.calls += 1
        return self.function(*arguments)


def test_a_stop_takes_no_weights_from_a_small_belief(monkeypatch):
    belief, game, ply = grown_in_game(30, our_turn=False)
    hurried = belief.copy()
    follow(belief, game, ply)
    observation = Observation.of(game.positions[ply + 1], 0)
    monkeypatch.setattr(belief_module, "is_late", lambda *limits: lambda seconds: True)
    hurried.after_opponent_move(observation)
    assert 300 < len(belief) < posterior_module.CHUNK
    assert hurried.exact
    assert (hurried.weights == belief.weights).all()


def test_weights_of_positions_are_those_of_their_records():
    belief = grown(1000)
    positions = belief.positions[[5, 17, 5]]
    assert (belief.weights_of(positions) == belief.weights[[5, 17, 5]]).all()
    stranger = positions[:1].copy()
    free = ~int(np.bitwise_or.reduce(stranger[0, :WHITE]))
    stranger[0, 0] |= np.uint64(free & -free)  # a pawn of Black more
    assert belief.weights_of(stranger).tolist() == [0]


def test_a_copy_has_weights_of_its_own():
    belief = grown(1000)
    other = belief.copy()
    before = belief.weights.copy()
    other.weights[:] = 0
    assert (belief.weights == before).all()


def test_drawing_by_weight_follows_the_weights():
    weights = scaled(np.array([1, 2, 4, 8, 0], dtype=np.float32))
    assert weights.mean() == pytest.approx(1)
    random = np.random.default_rng(3)
    first = [int(draw_by_weight(weights, 1, random)[0]) for _ in range(3000)]
    shares = np.bincount(first, minlength=5) / 3000
    assert shares == pytest.approx(np.array([1, 2, 4, 8, 0]) / 15, abs=0.03)
    assert len(set(draw_by_weight(weights, 4, random).tolist())) == 4


def test_a_sample_by_weight_holds_likely_positions_and_no_repeats():
    belief = grown(5000)
    random = np.random.default_rng(1)
    even = belief.weights_of(belief.sample(200, random))
    drawn = belief.sample(200, random, by_weight=0.5)
    assert len(np.unique(drawn, axis=0)) == 200
    half = belief.weights_of(drawn)
    whole = belief.weights_of(belief.sample(200, random, by_weight=1.0))
    assert even.mean() < half.mean() < whole.mean()
