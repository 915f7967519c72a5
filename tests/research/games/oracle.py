"""OpenSpiel's side of the tests, and a plain CFR+ that solves an enumerated game."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import NO_INFOSET, GameTree
from obscuro.research.games.goofspiel import Goofspiel
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.matching_pennies import MatchingPennies
from obscuro.search.game import CHANCE, MAX, MIN

PLAYERS = {
    int(pyspiel.PlayerId.CHANCE): CHANCE,
    int(pyspiel.PlayerId.TERMINAL): TERMINAL,
    0: MAX,
    1: MIN,
}


_POINTS_ORDER = {"increasing": "ascending", "decreasing": "descending", "random": "random"}
_RETURNS = {"win": "win_loss", "points": "point_difference"}


def spiel_game(tree: GameTree[Any]) -> pyspiel.Game:
    """OpenSpiel's game of the same rules."""
    match tree.game:
        case LiarsDice(sides=sides):
            return pyspiel.load_game(f"liars_dice(numdice=1,dice_sides={sides})")
        case Goofspiel(cards=cards, order=order, rounds=rounds, stake=stake):
            simultaneous = (
                f"goofspiel(imp_info=True,num_cards={cards},points_order={_POINTS_ORDER[order]},"
                f"num_turns={rounds if rounds < cards else -1},returns_type={_RETURNS[stake]})"
            )
            return pyspiel.load_game(f"turn_based_simultaneous_game(game={simultaneous})")
        case MatchingPennies(numbers=numbers):
            return pyspiel.load_efg_game(matching_pennies_in_gambit_format(numbers))
        case game:
            return pyspiel.load_game(game.name)


def matching_pennies_in_gambit_format(numbers: int) -> str:
    """N-matching pennies written from the paper (K, Section 4); OpenSpiel has no such game."""
    draws = " ".join(f'"{n}" 1/{numbers}' for n in range(1, numbers + 1))
    lines = ['EFG 2 R "pennies" { "MAX" "MIN" }', f'c "" 1 "" {{ {draws} }} 0']
    sides = '{ "heads" "tails" }'
    for n in range(1, numbers + 1):
        scores = {"hh": n, "ht": 0, "th": 0, "tt": numbers - n}
        lines.append(f'p "" 1 {n // 2 + 1} "" {sides} 0')
        for mine in "ht":
            lines.append(f'p "" 2 {(n + 1) // 2} "" {sides} 0')
            for theirs in "ht":
                score = scores[mine + theirs]
                outcome = 4 * n + 2 * (mine == "t") + (theirs == "t")
                lines.append(f't "" {outcome} "" {{ {score} {-score} }}')
    return "\n".join(lines) + "\n"


def twin_states(tree: GameTree[Any]) -> list[pyspiel.State]:
    """OpenSpiel's state at each node, reached by the same actions (its numbers are ours)."""
    states = [spiel_game(tree).new_initial_state()]
    for node in range(1, len(tree.states)):
        states.append(states[tree.parent[node]].child(int(tree.action[node])))
    return states


def information_states(tree: GameTree[Any], twins: list[pyspiel.State]) -> dict[str, int]:
    """Our infoset for each of OpenSpiel's information states where a player moves."""
    return {
        twins[node].information_state_string(int(tree.player[node])): int(tree.infoset[node])
        for node in np.flatnonzero(tree.infoset != NO_INFOSET)
    }


def random_policy(tree: GameTree[Any], rng: np.random.Generator) -> NDArray[np.float64]:
    """Random probabilities [S], every third infoset pure."""
    offsets = tree.infosets.offsets
    policy = np.zeros(offsets[-1])
    for begin, end in pairwise(offsets):
        if rng.random() < 1 / 3:
            policy[rng.integers(begin, end)] = 1.0
        else:
            policy[begin:end] = rng.dirichlet(np.ones(end - begin))
    return policy


def cfr_plus(tree: GameTree[Any], iterations: int) -> NDArray[np.float64]:
    """The average policy [S] of textbook CFR+: alternating updates, linear averaging."""
    slots = tree.infosets.offsets[-1]
    regrets, total = np.zeros(slots), np.zeros(slots)

    def policy(infoset: int) -> tuple[slice, NDArray[np.float64]]:
        choices = slice(*tree.infosets.offsets[infoset : infoset + 2])
        positive = regrets[choices]
        mass = positive.sum()
        return choices, positive / mass if mass > 0 else np.full_like(positive, 1 / positive.size)

    def walk(node: int, reach: tuple[float, float, float], learner: int, weight: int) -> float:
        mover = int(tree.player[node])
        if mover == TERMINAL:
            return float(tree.payoff[node]) * (1 if learner == MAX else -1)
        children = range(tree.first[node], tree.first[node] + tree.degree[node])
        if mover == CHANCE:
            chances = tree.chance[children.start : children.stop]
        else:
            choices, chances = policies[tree.infoset[node]]
        values = np.empty(len(children))
        for i, child in enumerate(children):
            below = list(reach)
            below[mover] *= chances[i]
            values[i] = walk(child, (below[0], below[1], below[2]), learner, weight)
        value = float(chances @ values)
        if mover == learner:
            gains[choices] += reach[1 - learner] * reach[CHANCE] * (values - value)
            total[choices] += weight * reach[learner] * chances
        return value

    for iteration in range(1, iterations + 1):
        for learner in (MAX, MIN):
            policies = [policy(i) for i in range(len(tree.infosets.key))]
            gains = np.zeros(slots)
            walk(0, (1.0, 1.0, 1.0), learner, iteration)
            regrets = np.maximum(regrets + gains, 0.0)
    sums = np.add.reduceat(total, tree.infosets.offsets[:-1])
    degrees = np.diff(tree.infosets.offsets)
    average: NDArray[np.float64] = total / np.repeat(sums, degrees)
    return average


def spiel_policy(
    tree: GameTree[Any], infosets: dict[str, int], policy: NDArray[np.float64]
) -> dict[str, list[tuple[int, float]]]:
    """`policy` [S] in OpenSpiel's terms."""
    offsets, action = tree.infosets.offsets, tree.infosets.action
    return {
        name: [(int(action[s]), float(policy[s])) for s in range(offsets[i], offsets[i + 1])]
        for name, i in infosets.items()
    }
