"""Scenarios of takebacks. In a game with a bot they take effect at once, and the bot is not told."""

from __future__ import annotations

import time

from tools.proofs.pychess.human import HumanGame
from tools.proofs.pychess.stage import Scenario, Stage, expect

SWALLOWED_SECONDS = 6.0
"""By then the engine has answered to a move that was taken back, and the server ignored it."""


def _go_on(stage: Stage, game: HumanGame) -> str:
    """Play on, and return how far the game came."""
    game.exchange(2)
    plies = game.board["ply"]
    game.resign()
    stage.end_of(game.name)
    return f"to ply {plies}"


def on_our_turn(stage: Stage, colour: str) -> str:
    """Take back the bot's move and our own on our turn; move otherwise."""
    game = stage.human().play(colour)
    game.wait_for_turn()
    game.exchange()
    game.wait_for_turn()
    uci = game.calm_move()
    game.wait_for_turn()
    before = game.board["ply"]
    ply = game.take_back()
    expect(ply == before - 2, f"the server went from ply {before} to {ply}")
    game.calm_move(avoid=uci)
    game.wait_for_turn()
    return f"the server went from ply {before} to {ply}; another move, and on {_go_on(stage, game)}"


def to_the_start(stage: Stage) -> str:
    """Take back the first move of each."""
    game = stage.human().play("w")
    uci = game.calm_move()
    game.wait_for_turn()
    ply = game.take_back()
    expect(ply == 0, f"the server is at ply {ply}")
    game.calm_move(avoid=uci)
    game.wait_for_turn()
    return f"back at ply 0; another move, and on {_go_on(stage, game)}"


def twice(stage: Stage) -> str:
    """Take back twice in a row."""
    game = stage.human().play("w")
    game.exchange(3)
    before = game.board["ply"]
    game.take_back()
    ply = game.take_back()
    expect(ply == before - 4, f"the server went from ply {before} to {ply}")
    game.calm_move(avoid="h2h3")
    game.wait_for_turn()
    return f"the server went from ply {before} to {ply}; another move, and on {_go_on(stage, game)}"


def while_thinking(stage: Stage, same: bool, pause: float) -> str:
    """Take back our move while the engine thinks about it; move again after a pause."""
    game = stage.human().play("w", minutes=1, increment=2)
    game.exchange(2)
    before = game.board["ply"]
    uci = game.calm_move()
    ply = game.take_back()
    expect(ply == before, f"too late, the bot had moved: ply {ply}")
    time.sleep(pause)
    expect(game.look()["ply"] == before, "the bot moved out of turn")
    if same:
        expect(game.move(uci), "the server does not take the same move again")
    else:
        game.calm_move(avoid=uci)
    game.wait_for_turn()
    what = "the same move" if same else "another move"
    return f"back at ply {ply}; {what}, answered; on {_go_on(stage, game)}"


TAKEBACKS = (
    Scenario(
        "takeback on the human's turn, bot as Black",
        "two plies are taken back, another move is made",
        "the bot answers it",
        lambda stage: on_our_turn(stage, "w"),
    ),
    Scenario(
        "takeback on the human's turn, bot as White",
        "two plies are taken back, another move is made",
        "the bot answers it",
        lambda stage: on_our_turn(stage, "b"),
    ),
    Scenario(
        "takeback to the start",
        "the first two plies are taken back, another move is made",
        "the bot answers it",
        to_the_start,
    ),
    Scenario(
        "two takebacks",
        "four plies are taken back in two steps, another move is made",
        "the bot answers it",
        twice,
    ),
    Scenario(
        "takeback while the engine thinks",
        "one ply is taken back and another move made at once",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=False, pause=0.0),
    ),
    Scenario(
        "takeback while the engine thinks, the same move",
        "one ply is taken back and the same move made at once",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=True, pause=0.0),
    ),
    Scenario(
        "late answer to a move taken back, another move",
        f"one ply is taken back; {SWALLOWED_SECONDS:g} s later, when the server has ignored the "
        "bot's move, another move is made",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=False, pause=SWALLOWED_SECONDS),
    ),
    Scenario(
        "late answer to a move taken back, the same move",
        f"one ply is taken back; {SWALLOWED_SECONDS:g} s later the same move is made again",
        "the bot answers it",
        lambda stage: while_thinking(stage, same=True, pause=SWALLOWED_SECONDS),
    ),
)
