from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.games.extensive_form import TERMINAL
from obscuro.games.kuhn import BET, PASS, KuhnPoker, KuhnState
from obscuro.games.leduc import CALL, FOLD, RAISE, LeducPoker, LeducState
from obscuro.games.tree import NO_INFOSET, GameTree, check, enumerate_game
from obscuro.search.game import CHANCE, MAX, MIN

from .oracle import PLAYERS, information_states, twin_states


def test_enumerated_game_keeps_its_promises(tree: GameTree[Any]) -> None:
    check(tree)


def test_sizes_are_those_of_klss_table(kuhn: GameTree[Any], leduc: GameTree[Any]) -> None:
    assert (len(kuhn.states), len(kuhn.infosets.key)) == (58, 12)
    assert (len(leduc.states), len(leduc.infosets.key)) == (9457, 936)


def test_same_turns_actions_and_chances_as_openspiel(tree: GameTree[Any]) -> None:
    for node, twin in enumerate(twin_states(tree)):
        children = slice(tree.first[node], tree.first[node] + tree.degree[node])
        actions = tree.action[children].tolist()
        assert tree.player[node] == PLAYERS[twin.current_player()]
        assert actions == twin.legal_actions()
        if twin.is_chance_node():
            chances = dict(zip(actions, tree.chance[children], strict=True))
            assert chances == pytest.approx(dict(twin.chance_outcomes()), abs=1e-15)


def test_same_payoffs_as_openspiel(tree: GameTree[Any]) -> None:
    twins = twin_states(tree)
    ends = np.flatnonzero(tree.player == TERMINAL)
    assert len(ends) > 0
    for node in ends:
        assert twins[node].returns() == [tree.payoff[node], -tree.payoff[node]]
    assert np.max(np.abs(tree.payoff)) * tree.game.scale == pytest.approx(1.0)


def test_keys_tell_apart_exactly_openspiels_information_states(tree: GameTree[Any]) -> None:
    twins = twin_states(tree)
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
