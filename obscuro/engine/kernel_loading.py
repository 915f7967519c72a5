"""Loading all kernels before the first move; those that are not in the cache are compiled."""

import time
from collections.abc import Callable
from threading import Event
from typing import Protocol

import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import warm_up
from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.rules.account import PlyListener, last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board
from obscuro.search.k_centre import k_centres

# A short game that needs every kernel: both kinds of belief update, a capture, a kept tree.
GAME = ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3")


_loaded = False  # in this process


class TrialPlayer(PlyListener, Protocol):
    """What is asked of a player here. `obscuro.engine.player.Player` is one, and uses this."""

    def new_game(self, side: int, start: npt.NDArray[np.uint64]) -> None:
        """Start a game as `side` (0 = White) from the position `start`, uint64[8]."""

    def update(self) -> None:
        """Bring the belief up to date."""

    def search(self, limits: GoLimits, stop: Event) -> object:
        """Choose a move."""

    def close(self) -> None:
        """Release what the player holds."""


def trial_options() -> Options:
    """Return options for a small search that is always the same."""
    options = Options()
    for name, value in (("Evaluator", "material"), ("Threads", "1"), ("Hash", "16"), ("Seed", "1")):
        options.set(name, value)
    return options


def load_kernels(
    make_player: Callable[[Options], TrialPlayer], tell: Callable[[str], None]
) -> None:
    """Play both sides of a few moves with small limits, by the same code as real games.

    tell: called with a few words on what comes next. A second call does nothing.
    """
    global _loaded  # noqa: PLW0603 - kernels are loaded once a process
    if _loaded:
        return
    tell("following a belief")
    warm_up()
    play_trial_game(make_player, tell)
    _loaded = True


def play_trial_game(
    make_player: Callable[[Options], TrialPlayer], tell: Callable[[str], None]
) -> None:
    """Play both sides of a few moves. The arguments are those of `load_kernels`."""
    k_centres(np.zeros(2), 1)  # of the key sampling, which the game would not need
    for side, threads in ((0, "1"), (1, "2")):
        options = trial_options()
        options.set("Threads", threads)
        player = make_player(options)
        board, color = FogOfWarBoard(), side == 0
        player.new_game(side, from_board(board))
        for uci in GAME:
            tell(f"playing {uci} as {'black' if side else 'white'}")
            if board.turn == color:
                player.search(GoLimits(time.monotonic(), nodes=3000), Event())
            board.push_uci(uci)
            last_ply(board, color).tell(player)
        player.update()
        player.close()
