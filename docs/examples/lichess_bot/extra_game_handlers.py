"""Fog of War chess for lichess-bot: put this file in place of the `extra_game_handlers.py` there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import chess

import obscuro.rules.board  # noqa: F401 (importing it registers the variant with python-chess)

if TYPE_CHECKING:  # these are lichess-bot's
    from lib.lichess_types import OPTIONS_TYPE
    from lib.model import Challenge, Game


def game_specific_options(game: Game) -> OPTIONS_TYPE:
    """Return the engine's options that depend on the game: none."""
    return {}


def is_supported_extra(challenge: Challenge) -> bool:
    """Accept the usual start only: lichess-bot sets up no other one for this variant."""
    return challenge.initial_fen in ("startpos", chess.STARTING_FEN)
