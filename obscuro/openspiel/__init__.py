"""The engine, and the search for any game, as bots of OpenSpiel (docs/openspiel.md).

They need the package OpenSpiel (PyPI `open_spiel`). No other room imports this one.
"""

from obscuro.openspiel.any_game_bot import AnyGameBot
from obscuro.openspiel.dark_chess_bot import DarkChessBot

__all__ = ["AnyGameBot", "DarkChessBot"]
