"""The player as a whole: what it is told, what it plays, and that it knows nothing else."""

import itertools
import time
from threading import Event

import chess
import numpy as np
import pytest

from obscuro.belief import update
from obscuro.engine.knowledge import GameError
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits, SearchInfo
from obscuro.rules.layout import KINGS
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_fen, legal_moves, move_to_uci, to_fen
from tests.search.invariants import check

from .given_options import EVEN, options

START = from_fen(chess.STARTING_FEN)


@pytest.fixture
def player():
    made = Player(options(), lambda text: None)
    yield made
    made.close()


def go(**limits: int) -> GoLimits:
    return GoLimits(time.monotonic(), **limits)


def after(words: np.ndarray, uci: str) -> np.ndarray:
    move = find_move(words, uci)
    assert move is not None, uci
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def tell(player: Player, side: int, moves: str, start: np.ndarray = START) -> np.ndarray:
    """Start a game and tell the player its side of `moves`; returns the true position."""
    player.new_game(side, start)
    words = start
    for uci in moves.split():
        ours = (int(words[7]) & 1) == side
        words = after(words, uci)
        seen = Observation.of(words, side)
        if ours:
            player.own_move(uci, seen)
        else:
            player.opponent_move(seen)
    return words


def same_looking_games() -> list[tuple[str, str]]:
    """Pairs of games that look the same to White: Black's moves differ where White doesn't look."""
    quiet = ("a7a6", "h7h6", "b7b6", "g8f6", "d7d6", "e7e6")
    looks: dict[tuple[Observation, ...], list[str]] = {}
    for first, second in itertools.permutations(quiet, 2):
        moves = f"b1c3 {first} g1f3 {second}"
        words, seen = START, []
        for uci in moves.split():
            words = after(words, uci)
            seen.append(Observation.of(words, 0))
        looks.setdefault(tuple(seen), []).append(moves)
    return [(group[0], group[-1]) for group in looks.values() if len(group) > 1]


@pytest.mark.parametrize("pair", same_looking_games()[:2])
def test_games_that_look_the_same_get_the_same_belief_policy_and_move(pair):
    results = []
    for moves in pair:
        player = Player(options(), lambda text: None)
        tell(player, 0, moves)
        choice = player.search(go(nodes=20_000), Event())
        assert choice.info is not None
        results.append(
            (player.belief_fens(10**6), choice.info.policy, choice.info.play, choice.move)
        )
        player.close()
    assert results[0] == results[1]
    assert len(results[0][0]) > 100


def test_same_looking_games_exist():
    assert same_looking_games()


def test_one_thread_and_one_seed_repeat_a_whole_game_and_another_seed_does_not():
    def play(seed: int) -> list[tuple[str, list[tuple[str, float]]]]:
        player = Player(options(Seed=seed), lambda text: None)
        player.new_game(0, START)
        words, made = START, []
        for reply in ("e7e5", "b8c6", "g8f6"):
            choice = player.search(go(nodes=4000), Event())
            assert choice.move is not None and choice.info is not None
            made.append((choice.move, choice.info.policy))
            for uci, ours in ((choice.move, True), (reply, False)):
                words = after(words, uci)
                seen = Observation.of(words, 0)
                if ours:
                    player.own_move(uci, seen)
                else:
                    player.opponent_move(seen)
        player.close()
        return made

    assert play(3) == play(3)
    assert play(3) != play(4)


def test_the_tree_is_kept_and_whole_from_turn_to_turn(player):
    words = START
    player.new_game(0, words)
    carried = []
    for _ in range(6):
        choice = player.search(go(nodes=5000), Event())
        assert choice.info is not None and choice.move is not None
        check(player.equipment.search.tree)
        carried.append(choice.info.carried)
        words = after(words, choice.move)
        if int(words[KINGS]).bit_count() < 2:
            break  # what is played differs between machines
        player.own_move(choice.move, Observation.of(words, 0))
        words = after(words, move_to_uci(legal_moves(words)[3]))
        if int(words[KINGS]).bit_count() < 2:
            break
        player.opponent_move(Observation.of(words, 0))
        assert player.belief_contains(words)
    assert len(carried) >= 3
    assert carried[0] == 0 and max(carried[1:]) > 50


def test_a_king_that_is_certainly_there_is_taken_without_a_search(player):
    player.new_game(0, from_fen("4k3/8/8/8/8/8/4Q3/3K4 w - - 0 1"))
    choice = player.search(go(nodes=1000), Event())
    assert choice.move == "e2e8"
    assert choice.info is not None and choice.info.expansions == 0


def test_an_only_move_is_played_without_a_search(player):
    player.new_game(0, from_fen("7k/8/8/8/1p1p4/pP1P4/PP1P4/KRB5 w - - 0 1"))
    assert player.legal_moves() == ["b2a3"]
    choice = player.search(go(nodes=1000), Event())
    assert choice.move == "b2a3"
    assert choice.info is not None and choice.info.expansions == 0
    assert choice.info.value == 0  # it wins nothing, although the enemy king's square is known


def test_it_is_an_error_to_search_when_it_is_not_our_turn_or_there_is_no_game(player):
    with pytest.raises(GameError, match="no game"):
        player.search(go(nodes=10), Event())
    player.new_game(1, START)
    with pytest.raises(GameError, match="turn"):
        player.search(go(nodes=10), Event())


def test_an_impossible_own_move_is_an_error_and_the_game_goes_on(player):
    player.new_game(0, START)
    player.own_move("e2e5", Observation.of(START, 0))
    with pytest.raises(GameError, match="e2e5"):
        player.update()
    assert player.search(go(nodes=500), Event()).move is not None


def test_a_contradictory_observation_is_warned_of_once_and_play_goes_on():
    warnings: list[str] = []
    player = Player(options(), warnings.append)
    player.new_game(0, START)
    words = after(START, "e2e4")
    player.own_move("e2e4", Observation.of(words, 0))
    # Black's king walks out at once: no game leads there.
    lie = from_fen("rnbq1bnr/pppppppp/8/8/4k3/8/PPPP1PPP/RNBQKBNR w KQ - 0 2")
    player.opponent_move(Observation.of(lie, 0))
    for _ in range(2):
        choice = player.search(go(nodes=2000), Event())
        assert choice.move in {move_to_uci(move) for move in legal_moves(lie)}
        assert choice.info is not None and not choice.info.exact
    assert len(warnings) == 1 and "\n" not in warnings[0]
    player.close()


def test_of_a_large_belief_a_sample_is_listed(monkeypatch):
    player = Player(options(**EVEN), lambda text: None)
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    player.update()
    whole = list(player.belief_fens(1000))
    monkeypatch.setattr("obscuro.engine.game_follower.MOST_SORTED", len(whole) - 1)
    written = []
    monkeypatch.setattr(
        "obscuro.engine.game_follower.to_fen", lambda words: written.append(0) or to_fen(words)
    )
    drawn = list(player.belief_fens(3))
    assert len(drawn) == len(written) == 3 and set(drawn) < set(whole) and drawn == sorted(drawn)
    player.close()


def test_positions_are_listed_by_their_probabilities_where_the_search_asks_for_weights(player):
    even = Player(options(**EVEN), lambda text: None)
    for each in (even, player):
        tell(each, 0, "e2e4 d7d5 e4d5 g8f6")
        each.update()
    fens = even.belief_fens(1000)
    assert list(fens) == sorted(fens) and set(fens.values()) == {None}
    listed = player.belief_fens(1000)
    assert set(listed) == set(fens) and sum(listed.values()) == pytest.approx(1, abs=1e-5)
    shares = list(listed.values())
    assert shares == sorted(shares, reverse=True) and shares[0] > 2 * shares[-1] > 0
    belief = player.knowledge.belief
    for words, weight in zip(belief.positions, belief.weights, strict=True):
        assert listed[to_fen(words)] == pytest.approx(weight / len(belief))
    for count in range(len(listed) + 1):
        assert list(player.belief_fens(count).items()) == list(listed.items())[:count]
    even.close()


def test_an_own_move_whose_sight_was_not_told_keeps_every_position(player):
    told, untold = [], []
    for kept, observation in ((told, True), (untold, False)):
        words = tell(player, 0, "e2e4 b7b6")
        words = after(words, "f1c4")
        player.own_move("f1c4", Observation.of(words, 0) if observation else None)
        assert player.belief_contains(words)
        kept.extend(player.belief_fens(10**6))
        words = after(words, "g8f6")
        player.opponent_move(Observation.of(words, 0))
        assert player.belief_contains(words)
        assert player.search(go(nodes=1000), Event()).move is not None
    assert set(told) < set(untold)


def test_every_switch_of_the_paper_changes_the_search_and_still_plays():
    def outcome(**values: object) -> tuple[object, ...]:
        return *played("", **values), *played("b1c3 a7a6", **values)

    def played(opening: str, **values: object) -> tuple[object, ...]:
        """From the start the first moves are mixed; later, positions are added at the root."""
        player = Player(options(**values), lambda text: None)
        words = tell(player, 0, opening)
        seen: list[object] = []
        for nodes in (20_000, 20_000, 6000):
            choice = player.search(go(nodes=nodes), Event())
            check(player.equipment.search.tree)
            assert choice.info is not None and choice.move is not None
            seen += [choice.info.policy, choice.info.value, choice.info.infosets]
            words = after(words, choice.move)
            player.own_move(choice.move, Observation.of(words, 0))
            words = after(words, move_to_uci(legal_moves(words)[0]))
            if int(words[KINGS]).bit_count() < 2:
                break
            player.opponent_move(Observation.of(words, 0))
        player.close()
        return tuple(seen)

    base = outcome()
    for switch in (
        {"unfrozen": False},
        {"one_sided": False},
        {"min_infoset_size": 5},
        {"puct_c": 3},
    ):
        assert outcome(**switch) != base, switch


@pytest.mark.parametrize("prior", ["mixed", "uniform"])
def test_the_resolve_prior_follows_the_last_strategy_or_not(prior):
    player = Player(
        options(resolve_prior=prior, posterior_prior=0, ours_prior=0), lambda text: None
    )
    words = tell(player, 0, "")
    choice = player.search(go(nodes=20_000), Event())
    for uci in choice.info.line[:2]:  # the reply that the last strategy holds likeliest
        words = after(words, uci)
        seen = Observation.of(words, 0)
        if uci == choice.info.line[0]:
            player.own_move(uci, seen)
        else:
            player.opponent_move(seen)
    player.search(go(nodes=1000), Event())
    alpha = player.equipment.search.gadget.prior
    assert alpha.sum() == pytest.approx(1, abs=1e-4)
    assert (alpha.min() < alpha.max()) == (prior == "mixed")
    player.close()


def test_reports_come_in_the_protocols_units(player):
    reports: list[SearchInfo] = []
    tell(player, 1, "e2e4 e7e5 g1f3")
    choice = player.search(go(nodes=5000), Event(), reports.append)
    last = reports[-1]
    assert choice.info == last
    assert last.belief == player.belief_size >= 20
    assert last.sampled == min(256, last.belief)
    assert last.nodes >= 5000 and last.iterations > 0 and last.expansions > 0
    assert sum(p for _, p in last.policy) == pytest.approx(1, abs=1e-3)
    assert sum(p for _, p in last.play) == pytest.approx(1)
    assert choice.move in dict(last.play)
    assert last.line and last.line[0] == last.policy[0][0]
    assert set(dict(last.policy)) <= set(player.legal_moves())


def test_a_search_stopped_during_the_belief_update_loses_nothing(player, monkeypatch):
    monkeypatch.setattr(update, "BEST_CHUNK", 16)
    monkeypatch.setattr(update, "SMALL", 0)
    stop, words = Event(), START
    stop.set()
    player.new_game(0, START)
    for own, other in (("b1c3", "g8f6"), ("g1f3", "b8c6"), ("a2a3", "f6g8"), ("a3a4", "c6b8")):
        words = after(words, own)
        player.own_move(own, Observation.of(words, 0))
        words = after(words, other)
        player.opponent_move(Observation.of(words, 0))
        choice = player.search(go(infinite=True), stop)
        if choice.move is not None:  # so few positions that one chunk held them all
            continue
        assert player.search(go(infinite=True), stop).move is None
    assert choice.move is None
    assert player.search(go(nodes=500), Event()).move in player.legal_moves()
    assert player.belief_exact
    assert player.belief_size > 1000
    assert player.belief_contains(words)


def test_a_stopped_search_still_answers(player):
    stop = Event()
    stop.set()
    tell(player, 0, "e2e4 e7e5")
    assert (
        player.search(GoLimits(time.monotonic(), infinite=True), stop).move in player.legal_moves()
    )


def test_threads_and_evaluator_can_change_between_searches():
    player = Player(options(), lambda text: None)
    tell(player, 0, "e2e4 e7e5")
    player.search(go(nodes=1000), Event())
    player.set_options(options(Threads=3))
    assert player.search(go(nodes=3000), Event()).move is not None
    player.set_options(options(Threads=1, Hash=16))
    assert player.search(go(nodes=1000), Event()).move is not None
    player.close()
    player.close()


def test_a_full_tree_ends_expansion_and_not_the_search():
    player = Player(options(Hash=16), lambda text: None)
    player.new_game(0, START)
    choice = player.search(go(nodes=10**7), Event())
    assert choice.move is not None and choice.info is not None
    assert choice.info.nodes < 10**6
    check(player.equipment.search.tree)
    player.close()


def test_the_options_are_a_copy():
    given = options(Hash=16)
    player = Player(given, lambda text: None)
    given.set("Hash", "32")
    assert player.options.integer("Hash") == player.equipment.options.integer("Hash") == 16
