from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
import pytest

from obscuro.research.games.catalog import CATALOG
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import (
    NO_INFOSET,
    GameTree,
    check,
    enumerate_game,
    join_ranges,
)
from obscuro.research.games.goofspiel import Goofspiel, GoofspielState
from obscuro.research.games.kuhn import BET, PASS, KuhnPoker, KuhnState
from obscuro.research.games.leduc import CALL, FOLD, RAISE, LeducPoker, LeducState
from obscuro.research.games.liars_dice import LiarsDice, LiarsDiceState
from obscuro.research.games.matching_pennies import HEADS, TAILS, MatchingPennies, PenniesState
from obscuro.search.game import CHANCE, MAX, MIN

from .oracle import PLAYERS, information_states, twin_states


def test_enumerated_game_keeps_its_promises(tree: GameTree[Any]) -> None:
    check(tree)


def test_sizes_are_those_of_klss_table(name: str, tree: GameTree[Any]) -> None:
    known = CATALOG[name]
    assert (len(tree.states), len(tree.infosets.key)) == (known.histories, known.infosets)


def test_same_turns_actions_and_chances_as_openspiel(
    tree: GameTree[Any], twins: list[pyspiel.State]
) -> None:
    for node, twin in enumerate(twins):
        children = slice(tree.first[node], tree.first[node] + tree.degree[node])
        actions = tree.action[children].tolist()
        assert tree.player[node] == PLAYERS[twin.current_player()]
        assert actions == twin.legal_actions()
        if twin.is_chance_node():
            chances = dict(zip(actions, tree.chance[children], strict=True))
            assert chances == pytest.approx(dict(twin.chance_outcomes()), abs=1e-15)


def test_same_payoffs_as_openspiel(tree: GameTree[Any], twins: list[pyspiel.State]) -> None:
    ends = np.flatnonzero(tree.player == TERMINAL)
    assert len(ends) > 0
    for node in ends:
        assert twins[node].returns() == [tree.payoff[node], -tree.payoff[node]]
    assert np.max(np.abs(tree.payoff)) * tree.game.scale == pytest.approx(1.0)


def test_keys_tell_apart_exactly_openspiels_information_states(
    tree: GameTree[Any], twins: list[pyspiel.State]
) -> None:
    for side in (MAX, MIN):
        own = np.flatnonzero(tree.player == side)
        names = [twins[node].information_state_string(side) for node in own]
        keys = tree.keys[own, side].tolist()
        pairs = set(zip(names, keys, strict=True))
        assert len(pairs) == len(set(names)) == len(set(keys))
        assert len(pairs) == np.count_nonzero(tree.infosets.player == side)
    assert len(information_states(tree, twins)) == len(tree.infosets.key)


def test_infosets_hold_their_key_and_actions(tree: GameTree[Any]) -> None:
    infosets = tree.infosets
    for node in np.flatnonzero(tree.infoset != NO_INFOSET):
        i, mover = tree.infoset[node], tree.player[node]
        children = slice(tree.first[node], tree.first[node] + tree.degree[node])
        slots = range(infosets.offsets[i], infosets.offsets[i + 1])
        assert infosets.player[i] == mover
        assert infosets.key[i] == tree.keys[node, mover]
        assert tree.slot[children].tolist() == list(slots)
        assert np.array_equal(infosets.action[slots], tree.action[children])


def test_enumeration_is_deterministic(kuhn: GameTree[Any]) -> None:
    again = enumerate_game(KuhnPoker())
    assert again.states == kuhn.states
    assert np.array_equal(again.keys, kuhn.keys)


class ForgetfulKuhn(KuhnPoker):
    """Kuhn poker in which nobody is shown the betting, nor so much as whose turn it is."""

    def observation(self, state: KuhnState, player: int) -> tuple[int, ...]:
        return super().observation(state, player)[:2]


def test_check_finds_players_who_do_not_know_whose_turn_it_is() -> None:
    with pytest.raises(AssertionError):
        check(enumerate_game(ForgetfulKuhn()))


@pytest.mark.parametrize(
    "game",
    [
        Goofspiel(5, "random", 2),
        Goofspiel(5, "increasing", 2),
        Goofspiel(4, "decreasing", stake="points"),
        Goofspiel(5, "decreasing", 3, "points"),
        Goofspiel(3, "random", 1, "points"),
    ],
    ids=lambda game: game.name,
)
def test_variants_of_goofspiel_are_openspiels(game: Goofspiel) -> None:
    tree = enumerate_game(game)
    check(tree)
    twins = twin_states(tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    share = 1.0 if game.stake == "win" else 0.5  # OpenSpiel subtracts the mean of both players
    for node in ends:
        assert twins[node].returns()[MAX] == share * tree.payoff[node]
    assert np.max(np.abs(tree.payoff)) * game.scale <= 1.0
    assert len(information_states(tree, twins)) == len(tree.infosets.key)


@pytest.mark.parametrize("rounds", [0, 5])
def test_goofspiel_refuses_rounds_that_cannot_be_played(rounds: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 4 rounds"):
        Goofspiel(4, "random", rounds)


def test_kuhn_showdown_pays_two_after_a_called_bet() -> None:
    game = KuhnPoker()
    state = game.start()
    for action in (2, 0, PASS, BET, BET):
        state = game.apply(state, action)
    assert game.player(state) == TERMINAL
    assert game.payoff(state) == 2.0


def test_leduc_pair_beats_the_higher_card() -> None:
    game = LeducPoker()
    state = game.start()
    for action in (0, 5, CALL, RAISE, CALL, 1, RAISE, CALL):
        state = game.apply(state, action)
    assert state == LeducState((0, 5, 1), (CALL, RAISE, CALL), (RAISE, CALL))
    assert game.payoff(state) == 1 + 2 + 4


def test_leduc_public_card_is_dealt_between_the_rounds() -> None:
    game = LeducPoker()
    state = LeducState((0, 5), (CALL, CALL))
    assert game.player(state) == CHANCE
    assert game.actions(state) == [1, 2, 3, 4]
    assert game.player(game.apply(state, 3)) == MAX


def test_leduc_folds_only_to_a_raise_and_raises_twice() -> None:
    game = LeducPoker()
    assert game.actions(LeducState((0, 5))) == [CALL, RAISE]
    assert game.actions(LeducState((0, 5), (RAISE,))) == [FOLD, CALL, RAISE]
    assert game.actions(LeducState((0, 5), (RAISE, RAISE))) == [FOLD, CALL]


def test_leduc_raises_in_several_sizes() -> None:
    game = LeducPoker(3, 2)
    double = RAISE + 1
    assert game.actions(LeducState((0, 5), (double,))) == [FOLD, CALL, RAISE, double]
    assert game.actions(LeducState((0, 5), (double, RAISE, double))) == [FOLD, CALL]
    folded = LeducState((0, 5, 1), (double, RAISE, CALL), (CALL, double, RAISE, FOLD))
    assert game.payoff(folded) == 1 + 4 + 2 + 8  # ▼ folds to the last raise, of 4
    called = LeducState((0, 5, 2), (double, RAISE, CALL), (RAISE, double, CALL))
    assert game.payoff(called) == -(1 + 4 + 2 + 4 + 8)
    assert game.scale == 1 / (1 + 3 * 4 + 3 * 8)


def test_leduc_deals_ranks_by_how_many_cards_are_left() -> None:
    game = LeducPoker(ranks=True)
    state = game.apply(game.start(), 2)
    assert game.actions(state) == [0, 3, 4]
    assert game.chances(state) == pytest.approx([2 / 5, 1 / 5, 2 / 5])
    assert game.observation(state, MAX)[1] == 1 + 1


def test_liars_dice_counts_the_highest_face_as_every_face() -> None:
    game = LiarsDice(5)
    two_twos, two_threes = 6, 7
    assert game.payoff(LiarsDiceState((1, 4), (two_twos, game.liar))) == 1.0
    assert game.payoff(LiarsDiceState((1, 4), (two_threes, game.liar))) == -1.0
    assert game.payoff(LiarsDiceState((1, 4), (0, two_threes, game.liar))) == 1.0


def test_liars_dice_bids_rise_until_only_doubt_is_left() -> None:
    game = LiarsDice(5)
    assert list(game.actions(LiarsDiceState((0, 0)))) == list(range(10))
    assert list(game.actions(LiarsDiceState((0, 0), (7,)))) == [8, 9, game.liar]
    assert list(game.actions(LiarsDiceState((0, 0), (7, 9)))) == [game.liar]


@pytest.mark.parametrize("player", [MAX, MIN])
def test_goofspiel_shows_who_won_but_not_by_what(player: int) -> None:
    game = Goofspiel(4, "random")
    narrowly, clearly = (GoofspielState((2,), ((3,), (bid,))) for bid in (2, 0))
    equal = GoofspielState((2,), ((3,), (3,)))
    assert game.observation(narrowly, player) == game.observation(clearly, player)
    assert game.observation(narrowly, player) != game.observation(equal, player)


def test_goofspiel_hides_the_first_of_two_simultaneous_bids() -> None:
    game = Goofspiel(4, "increasing")
    seen = {game.observation(game.apply(game.start(), bid), MIN) for bid in range(4)}
    assert len(seen) == 1


def test_goofspiel_plays_the_last_cards_by_itself() -> None:
    game = Goofspiel(3, "increasing")
    state = game.start()
    for bid in (2, 1, 0, 0):  # ▲ wins 1, nobody 2, and then ▼ wins 3 with 3 against 2
        state = game.apply(state, bid)
    assert game.player(state) == TERMINAL
    assert game.payoff(state) == -1.0


def test_matching_pennies_tells_each_player_one_half() -> None:
    game = MatchingPennies(100)
    two, three, four = (game.apply(game.start(), number - 1) for number in (2, 3, 4))
    assert game.observation(two, MAX) == game.observation(three, MAX)
    assert game.observation(three, MAX) != game.observation(four, MAX)
    assert game.observation(two, MIN) != game.observation(three, MIN)
    assert game.observation(three, MIN) == game.observation(four, MIN)


@pytest.mark.parametrize(("pennies", "score"), [("hh", 30), ("tt", 70), ("ht", 0), ("th", 0)])
def test_matching_pennies_scores(pennies: str, score: float) -> None:
    sides = tuple({"h": HEADS, "t": TAILS}[penny] for penny in pennies)
    assert MatchingPennies(100).payoff(PenniesState(30, sides)) == score


@pytest.mark.parametrize("ranges", [[], [(4, 0)], [(7, 2), (0, 0), (1, 3), (1, 3)]])
def test_ranges_follow_each_other(ranges: list[tuple[int, int]]) -> None:
    starts, lengths = np.array(ranges, np.int64).reshape(-1, 2).T
    expected = [start + k for start, length in ranges for k in range(length)]
    assert join_ranges(starts, lengths).tolist() == expected
