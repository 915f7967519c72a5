"""A game of two players who may be asked questions, and all that they decided and held."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

import numpy as np

from obscuro.engine.player import Player
from obscuro.engine.report import Choice
from obscuro.rules.account import play_move
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board

from .test_player import go, options

PLIES = 8

Question = Callable[[Player, Choice, FogOfWarBoard], None]


def played(question: Question | None) -> list[object]:
    """Play both sides of some plies; return what was decided and all that the players held.

    question: what the player is asked after each of its searches, before it moves.
    """
    players = [Player(options(Seed=3 + side, Hash=16), lambda text: None) for side in range(2)]
    board = FogOfWarBoard()
    for side, each in enumerate(players):
        each.new_game(side, from_board(board))
    log: list[object] = []
    for _ in range(PLIES):
        mover = players[not board.turn]
        choice = mover.search(go(nodes=3000), Event())
        assert choice.move is not None and choice.info is not None
        if question is not None:
            question(mover, choice, board)
        info = choice.info
        log.append((choice.move, info.policy, info.play, info.value, info.iterations, info.nodes))
        log.extend(tree_bytes(mover))
        play_move(board, choice.move, players)
        if board.is_game_over():
            break
    for each in players:
        each.update()
        log.extend(tree_bytes(each))
        log.append(each.belief_fens(10**6))
        each.close()
    return log


def tree_bytes(player: Player) -> list[bytes]:
    """Return all arrays of a player's tree."""
    return [np.array(array).tobytes() for array in player.equipment.search.tree]
