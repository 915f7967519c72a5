from __future__ import annotations

import numpy as np
import pytest

from obscuro.research.any_game.histories import START, UNNOTICED, HistoryTable
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import enumerate_game
from obscuro.research.games.leduc import LeducPoker
from obscuro.search.game import MAX, MIN

from .faulty_games import Tries


def all_numbers(table: HistoryTable) -> list[int]:
    pending = [START]
    for number in pending:
        pending.extend(table.children(number))
    return pending


def test_keys_are_those_of_the_enumerated_game() -> None:
    tree = enumerate_game(LeducPoker())
    table = HistoryTable(LeducPoker())
    numbers = all_numbers(table)
    assert [table[number].state for number in numbers] == tree.states
    keys = np.array([table[number].keys for number in numbers], np.uint64)
    inner = tree.player != TERMINAL
    assert np.array_equal(keys[inner], tree.keys[inner])


def test_the_second_seat_exchanges_players_keys_and_payoffs() -> None:
    first, second = HistoryTable(LeducPoker(), MAX), HistoryTable(LeducPoker(), MIN)
    for number, other in zip(all_numbers(first), all_numbers(second), strict=True):
        assert first[number].keys == second[other].keys[::-1]
        if first[number].player == TERMINAL:
            assert first.payoff(number) == -second.payoff(other)
        if first[number].player in (MAX, MIN):
            assert first[number].player + second[other].player == 1


def test_a_history_keeps_its_number() -> None:
    table = HistoryTable(LeducPoker())
    children = table.children(START)
    assert table.children(START) == children
    assert table.number(table.after(START, 3)) == children[3]
    assert len(table) == 1 + len(children)


def test_a_line_leads_to_its_history() -> None:
    table = HistoryTable(LeducPoker())
    number = START
    for action in (0, 5, 1, 2):
        number = table.number(table.after(number, action))
    assert table.line(number) == [0, 5, 1, 2]


@pytest.mark.parametrize("guesses", [(1,), (1, 2), (2, 1)])
def test_a_ply_that_shows_nothing_does_not_change_a_players_key(guesses: tuple[int, ...]) -> None:
    table = HistoryTable(Tries())
    number = table.number(table.after(START, 0))
    before = table[number].keys[MAX]
    for guess in guesses:
        number = table.number(table.after(number, guess))
        assert table[number].events[MAX] == UNNOTICED
        assert table[number].keys[MAX] == before
    number = table.number(table.after(number, 0))
    assert table[number].keys[MAX] != before
