"""The strategy that a player plays, at every infoset of its seat in a small game.

A player with limits by nodes or iterations does the same whenever it was told the same. So one game
told to it along each line of its own infosets gives what it plays at all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from obscuro.research.any_game.game_player import GamePlayer
from obscuro.research.games.extensive_form import TERMINAL
from obscuro.research.games.game_tree import GameTree
from obscuro.research.games.strategy import Strategy
from obscuro.search.game import MAX, MIN


def played_strategy(
    tree: GameTree[Any],
    player: GamePlayer,
    seed: int = 1,
    report: Callable[[int, int], None] | None = None,
) -> Strategy:
    """Return what a player would play in both seats, {information key: probabilities}.

    Parameters
    ----------
    tree : GameTree
        The enumerated game, whose players always know how many plies were made.
    player : GamePlayer
        The player, without a limit of time.
    seed : int
        Of the player.
    report : callable, optional
        Called after each line with how many infosets are done, of how many.

    Raises
    ------
    ValueError
        If the player has a limit of time.

    """
    if player.settings.seconds is not None:
        raise ValueError("a player with a limit of time plays no fixed strategy")
    found: dict[int, list[float]] = {}
    for seat in (MAX, MIN):
        for node in _last_turns(tree, seat):
            if int(tree.keys[node, seat]) in found:
                continue
            _follow(tree, player, seat, node, seed, found)
            if report is not None:
                report(len(found), len(tree.infosets.key))
    return found


def _last_turns(tree: GameTree[Any], seat: int) -> list[int]:
    """Return the nodes where a seat moves, the deepest first."""
    nodes: list[int] = np.flatnonzero(tree.player == seat)[::-1].tolist()
    return nodes


def _follow(
    tree: GameTree[Any],
    player: GamePlayer,
    seat: int,
    node: int,
    seed: int,
    found: dict[int, list[float]],
) -> None:
    """Tell the player the line to a node where it moves, and note what it plays on the way."""
    line = [node]
    while tree.parent[line[-1]] >= 0:
        line.append(int(tree.parent[line[-1]]))
    player.new_game(seat, seed)
    mover = TERMINAL
    for number in line[::-1]:
        if number:
            own = int(tree.action[number]) if mover == seat else None
            player.observe(own, tree.game.observation(tree.states[number], seat))
        mover = int(tree.player[number])
        if mover == seat:
            decision = player.decide()
            found.setdefault(int(tree.keys[number, seat]), list(decision.policy.values()))
