"""What the players of a game are told, along one line of actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from obscuro.research.any_game.histories import START, HistoryTable
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation


def random_line(game: ExtensiveForm[Any], random: np.random.Generator) -> list[int]:
    """The actions of a random game, chance's included."""
    state, line = game.start(), []
    while game.player(state) != TERMINAL:
        action = int(random.choice(list(game.actions(state))))
        line.append(action)
        state = game.apply(state, action)
    return line


def told(
    game: ExtensiveForm[Any], line: Sequence[int], seat: int
) -> Iterator[tuple[Any, int | None, Observation]]:
    """Each state after the start that is not terminal, with the seat's own action and view."""
    state = game.start()
    for action in line:
        own = action if game.player(state) == seat else None
        state = game.apply(state, action)
        if game.player(state) != TERMINAL:
            yield state, own, game.observation(state, seat)


def fitting(game: ExtensiveForm[Any], key: int, seat: int) -> set[tuple[int, ...]]:
    """The lines of all histories that first give the seat this information key."""
    table = HistoryTable(game, seat)
    found = set()
    pending = [START]
    for number in pending:
        row = table[number]
        if row.player == TERMINAL:
            continue
        if row.keys[0] == key and (number == START or table[row.parent].keys[0] != key):
            found.add(tuple(table.line(number)))
        pending.extend(table.children(number))
    return found
