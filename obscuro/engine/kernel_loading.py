"""Compiling everything once, so that later processes load it from the cache."""

import time
from collections.abc import Callable
from threading import Event

from obscuro.belief.warming import warm_up
from obscuro.board.position import from_board
from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.fog.account import last_ply
from obscuro.fog.board import FogOfWarBoard

# A short game that needs every kernel: both kinds of belief update, a capture, a kept tree.
GAME = ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3")


_loaded = False  # in this process


def load_kernels(tell: Callable[[str], None]) -> None:
    """Play both sides of a few moves with small limits, by the same code as real games.

    tell: told in a few words what comes next. Does nothing when called again.
    """
    global _loaded  # noqa: PLW0603 - kernels are loaded once a process
    if _loaded:
        return
    from obscuro.engine.player import Player  # noqa: PLC0415 - it imports this module

    tell("following a belief")
    warm_up()
    for side, threads in ((0, "1"), (1, "2")):
        options = Options()
        for name, value in (("Evaluator", "material"), ("Threads", threads), ("Hash", "16")):
            options.set(name, value)
        options.set("Seed", "1")
        player = Player(options, lambda text: None)
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
    _loaded = True
