"""Schedules: who plays whom, from which opening, with which seed.

Games 2k and 2k + 1 are a pair: the same two entrants, the same opening, the same seed, with colours
swapped. So neither the better colour nor the better side of an opening favours an entrant.

The openings are shuffled by the event's seed, and used one after the other; if there are more
rounds than openings, they begin again. In one round all pairings have the same opening.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

from obscuro.matches.event import GameTask
from obscuro.matches.openings import Opening

_SEEDS = 2**30
"""Seeds lie below this, so that a player's own, derived from it, fits into 31 bits."""

Pairing = tuple[int, int]


def paired_games(
    pairings: Sequence[Pairing], rounds: int, openings: Sequence[Opening], seed: int
) -> tuple[GameTask, ...]:
    """Let every pairing play a pair of games in each round. All pairings advance together.

    pairings: indices of two entrants; the first has White in even games.
    """
    chance = random.Random(seed)
    book = chance.sample(openings, len(openings))
    tasks: list[GameTask] = []
    for number, (round_, (first, second)) in enumerate(itertools.product(range(rounds), pairings)):
        opening, game_seed = book[round_ % len(book)], chance.randrange(1, _SEEDS)
        for white, black in ((first, second), (second, first)):
            tasks.append(GameTask(len(tasks), white, black, opening, game_seed, number))
    return tuple(tasks)


def match_games(games: int, openings: Sequence[Opening], seed: int) -> tuple[GameTask, ...]:
    """Return the games of entrant 0 against entrant 1. If *games* is odd, one is without its twin."""
    return paired_games([(0, 1)], (games + 1) // 2, openings, seed)[:games]


def round_robin_pairings(entrants: int) -> list[Pairing]:
    """Return every pairing of so many entrants."""
    return list(itertools.combinations(range(entrants), 2))


def gauntlet_pairings(entrants: int, hero: int = 0) -> list[Pairing]:
    """Return the pairings of one entrant, *hero*, with every other one."""
    return [(hero, other) for other in range(entrants) if other != hero]
