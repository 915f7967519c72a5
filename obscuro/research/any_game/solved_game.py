"""Solve a small game whole: equilibrium strategies by the search, and how exploitable they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from obscuro.research.any_game.game_check import check_game
from obscuro.research.any_game.game_fault import GameFaultError
from obscuro.research.games.best_response import exploitability
from obscuro.research.games.extensive_form import ExtensiveForm
from obscuro.research.games.game_tree import NO_INFOSET, GameTree, enumerate_game
from obscuro.research.games.solve import Method
from obscuro.research.games.solve import solve as solve_tree
from obscuro.research.games.strategy import Strategy, policy_of

MOST_TO_SOLVE: Final = 1_000_000
"""A game with more histories is not enumerated unless the caller asks for it."""
ITERATIONS: Final = 2_000


class SolvedGame:
    """A game with a strategy for both players.

    Attributes
    ----------
    tree : GameTree
        The enumerated game.
    strategy : {information key: probabilities}
        The average strategy of both players.
    value : float
        The first player's value as the search found it, in the game's units.
    exploitability : float
        The strategy's mean loss to a best response, computed exactly, in the game's units.

    """

    def __init__(self, tree: GameTree[Any], strategy: Strategy, value: float) -> None:
        """Compute the exploitability."""
        self.tree = tree
        self.strategy = strategy
        self.value = value
        self.exploitability = exploitability(tree, strategy)

    def policy_after(self, history: Sequence[int]) -> dict[int, float]:
        """Return the probability of each action after a history, chance's actions included.

        Raises ValueError if no player is to move there, or if there is no such history.
        """
        tree, node = self.tree, 0
        for action in history:
            below = range(int(tree.first[node]), int(tree.first[node] + tree.degree[node]))
            matching = [child for child in below if tree.action[child] == action]
            if not matching:
                raise ValueError(f"{tree.game.name}: there is no history {list(history)}")
            node = matching[0]
        infoset = int(tree.infoset[node])
        if infoset == NO_INFOSET:
            raise ValueError(f"{tree.game.name}: no player is to move after {list(history)}")
        slots = slice(*tree.infosets.offsets[infoset : infoset + 2])
        policy = policy_of(tree, self.strategy)[slots]
        return dict(zip(tree.infosets.action[slots].tolist(), policy.tolist(), strict=True))


def solve(
    game: ExtensiveForm[Any],
    iterations: int = ITERATIONS,
    method: Method = "one-sided",
    *,
    seed: int = 1,
    most_histories: int = MOST_TO_SOLVE,
) -> SolvedGame:
    """Solve a small game by PCFR+ on a tree that GT-CFR grows.

    Parameters
    ----------
    game : ExtensiveForm
        The game. It is checked first.
    iterations : int
        Of the solver. In the last quarter the tree does not grow.
    method : Method
        How the tree grows: "one-sided" as in play, "two-sided", or "whole" from the beginning.
    seed : int
        Of the search.
    most_histories : int
        The largest game to enumerate.

    Raises
    ------
    GameFaultError
        If the game breaks a promise (`game_check.check_game`), if it is larger than that, or if
        its players do not know how many plies were made.

    """
    facts = check_game(game, most_histories)
    if not facts.whole:
        raise GameFaultError(game.name, f"it has more than {most_histories} histories; play it")
    if facts.untimed_pair is not None:
        fault = "a player does not know how many plies were made; play it"
        raise GameFaultError(game.name, fault, *facts.untimed_pair)
    tree = enumerate_game(game)
    solution = solve_tree(tree, iterations, method, seed=seed)
    return SolvedGame(tree, solution.average, solution.value)
