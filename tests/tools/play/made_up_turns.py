"""Turns of no real games, whose results come from a known curve."""

from __future__ import annotations

import numpy as np

from tools.play.turn_values import Turns

GAMES = 300
TAU = 2.5


def made_up(games: int = GAMES, danger: float = 0.0) -> Turns:
    """Turns of games of two plies, whose results come from tanh(pawns / TAU).

    danger: the pawns that an unseen attacker of White's king takes from these.
    """
    random = np.random.default_rng(1)
    pawns = np.repeat(random.normal(0, 4, games), 2)
    game, ply = np.divmod(np.arange(2 * games), 2)
    side = 1 - 2 * ply
    count = {name: random.integers(0, 2, 2 * games) for name in Turns._fields}
    unseen = count["unseen_attackers"] = np.where(ply == 0, count["unseen_attackers"], 0)
    mean = np.tanh((pawns - danger * np.repeat(unseen[::2], 2)) / TAU)
    wins = np.repeat(random.random(games), 2) < (1 + mean) / 2
    count |= dict.fromkeys(("takes_king", "loses_king", "wins_king"), 0 * ply)
    count["attacked"] = count["unseen_minor"] + count["unseen_major"]
    leaf = np.tanh(side * pawns / 6)
    return Turns(
        **{
            **count,
            **{"game": game, "ply": ply, "result": side * np.where(wins, 1, -1)},
            **{"leaf": leaf, "best": leaf, "played": leaf},
        }
    )
