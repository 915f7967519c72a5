"""A game of the web server as a record, for PGN files and for the viewer."""

from __future__ import annotations

import chess
import chess.pgn

from obscuro import __version__
from obscuro.engine.strength import level_numbered
from obscuro.matches.game_record import GameRecord, PlayedPly
from obscuro.matches.pgn import to_pgn, write_comment
from obscuro.web.game_setup import GameSetup
from obscuro.web.game_store import StoredGame

EVENT = "Obscuro web"
_UNFINISHED = "unfinished"


def record_of(stored: StoredGame) -> GameRecord:
    """Return the record of a game. One that goes on has no winner and the ending `unfinished`."""
    board, plies = stored.setup.board(), []
    for ply in stored.plies:
        move = chess.Move.from_uci(ply.turn.uci)
        plies.append(PlayedPly(board.turn, ply.turn, board.san(move)))
        board.push(move)
    result = stored.result
    return GameRecord(
        white=player_name(stored.setup, chess.WHITE),
        black=player_name(stored.setup, chess.BLACK),
        board=board,
        winner=None if result is None else result.winner,
        ending=_UNFINISHED if result is None else result.ending,
        regular=result is not None and board.outcome() is not None,
        plies=plies,
        controls=dict.fromkeys(chess.COLORS, stored.setup.control),
        started=stored.started,
    )


def pgn_of(stored: StoredGame) -> chess.pgn.Game:
    """Return a game as PGN, with the engines' reports in comments."""
    record = record_of(stored)
    game = to_pgn(record, event=EVENT)
    for node, ply, played in zip(game.mainline(), stored.plies, record.plies, strict=True):
        node.comment = write_comment(ply.turn, played.color, ply.clock)
    if stored.result is None or not stored.result.scored:
        game.headers["Result"] = "*"
    return game


def player_name(setup: GameSetup, color: chess.Color) -> str:
    """Return the name of a side's player."""
    if color == setup.human:
        return "you"
    level = setup.levels[color]
    name = f"Obscuro {__version__}"
    return name if level is None else f"{name} ({level_numbered(level).name})"
