"""The message that shows a game to its player. It is all that the browser gets during the game."""

from __future__ import annotations

from typing import Any

import chess

from obscuro.web.game_setup import GameSetup
from obscuro.web.hosted_game import GameResult, HostedGame
from obscuro.web.player_notes import PlayerNotes, color_name


def state_message(game: HostedGame, engine: str, now: float) -> dict[str, Any]:
    """Return the message of the type `state`. engine: what it does, in a word.

    The game must have a player.
    """
    assert game.notes is not None
    over = game.result is not None
    return {
        "type": "state",
        "game": game.id,
        "version": game.version,
        "status": game.status.value,
        "engine": engine,
        "note": game.note,
        "can_take_back": game.can_take_back,
        "draw_offered": game.draw_offered and not over,
        **_setup_part(game.setup),
        **_known_part(game.notes, over=over),
        "clocks": _clocks(game, now),
        "result": None if game.result is None else result_part(game, game.result),
    }


def _setup_part(setup: GameSetup) -> dict[str, Any]:
    """Return what the player chose at the start."""
    assert setup.human is not None
    move = setup.control.movetime
    return {
        "you": color_name(setup.human),
        "start": setup.start,
        "level": setup.levels[not setup.human],
        "movetime": None if move is None else move / 1000,
        "takebacks": setup.takebacks,
        "stalemate": setup.stalemate,
    }


def _known_part(notes: PlayerNotes, *, over: bool) -> dict[str, Any]:
    """Return what the player knows of the game: it follows from the player's account alone."""
    side = notes.side
    return {
        "turn": color_name(side if notes.own_turn else not side),
        "ply": len(notes.sheet),
        "seen": notes.observation.text().partition(",")[0],
        "moves": [] if over else list(notes.moves()),
        "sheet": list(notes.sheet),
        "last": [chess.square_name(square) for square in notes.marked],
        "captured": {"you": _symbols(notes.taken), "enemy": _symbols(notes.lost)},
    }


def result_part(game: HostedGame, result: GameResult) -> dict[str, Any]:
    """Return how a game ended; the fog is lifted then."""
    return {
        "winner": None if result.winner is None else color_name(result.winner),
        "ending": result.ending,
        "score": result.text,
        "placement": game.board.board_fen(),
        "rematch": result.rematch,
    }


def _clocks(game: HostedGame, now: float) -> dict[str, Any] | None:
    if not game.clock.timed:
        return None
    running = game.clock.running
    shown = game.clock.shown(now)
    return {
        **{color_name(color): shown[color] for color in chess.COLORS},
        "running": None if running is None else color_name(running),
    }


def _symbols(pieces: list[chess.Piece]) -> str:
    return "".join(piece.symbol() for piece in pieces)
