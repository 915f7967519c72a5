"""Solve a small game whole: equilibrium strategies by the search, and how exploitable they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from obscuro.research.any_game.histories import GameFaultError, check_game
from obscuro.research.games.extensive_form import TERMINAL, ExtensiveForm, Observation
from obscuro.research.games.game_tree import (
    NO_INFOSET,
    GameTree,
    Strategy,
    enumerate_game,
    exploitability,
    policy_of,
)
from obscuro.research.games.search_game import Method
from obscuro.research.games.search_game import solve as solve_tree
from obscuro.search.game import CHANCE, MAX, MIN

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


class SeatedPlayer(Protocol):
    """Who takes a seat in `play`; `GamePlayer` is one."""

    def new_game(self, seat: int, seed: int) -> None:
        """Begin a game as the first (`MAX`) or the second player (`MIN`)."""

    def observe(self, own_action: int | None, observation: Observation) -> None:
        """Take in one ply: the own action, or None, and what the player then saw."""

    def choose(self) -> int:
        """Return a legal action; it is this player's turn."""


class PlayedGame(NamedTuple):
    """How a game went."""

    actions: list[int]  # of players and chance
    payoff: float  # the first player's, in the game's units


def play(
    game: ExtensiveForm[Any],
    first: SeatedPlayer,
    second: SeatedPlayer,
    seed: int = 1,
    watch: Callable[[Any], None] | None = None,
) -> PlayedGame:
    """Play one game between two players.

    Parameters
    ----------
    game : ExtensiveForm
        The game.
    first, second : SeatedPlayer
        Who plays; two objects.
    seed : int
        Of chance and of the players' random numbers.
    watch : callable, optional
        Called with every state of the game, which no player sees.

    Raises
    ------
    GameFaultError
        If a player chooses an action that is not legal, or if chance's probabilities do not fit
        its actions.

    """
    players: Sequence[SeatedPlayer] = (first, second)
    random = np.random.default_rng(seed)
    for seat, player in enumerate(players):
        player.new_game(seat, seed)
    state = game.start()
    actions: list[int] = []
    if watch is not None:
        watch(state)
    while (mover := game.player(state)) != TERMINAL:
        legal = game.actions(state)
        if mover == CHANCE:
            chances = game.chances(state)
            try:
                action = legal[int(random.choice(len(legal), p=chances))]
            except ValueError as error:
                fault = f"chance's probabilities {list(chances)} do not fit {list(legal)}"
                raise GameFaultError(game.name, fault, actions) from error
        else:
            action = players[mover].choose()
            if action not in legal:
                raise GameFaultError(game.name, f"{action} is not among {list(legal)}", actions)
        state = game.apply(state, action)
        actions.append(action)
        if watch is not None:
            watch(state)
        if game.player(state) != TERMINAL:
            for seat in (MAX, MIN):
                own = action if mover == seat else None
                players[seat].observe(own, game.observation(state, seat))
    return PlayedGame(actions, game.payoff(state))
