"""Two short lost games, in a file as a match writes it, and a player that replays them quickly."""

from __future__ import annotations

from pathlib import Path

import chess

from obscuro.engine.report import Coverage
from obscuro.matches.game_record import GameRecord, PlayedPly, Turn
from obscuro.matches.pgn import write_pgn
from obscuro.rules.board import FogOfWarBoard

SMALL = ("Evaluator=material", "Threads=1", "Seed=1", "Hash=16")
WORDS = [word for option in SMALL for word in ("--option", option)]

# Black overlooks the queen: it takes the king.
SHORT = ("e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
# White gives the queen for a pawn, and later its king.
QUEEN = ("e2e4", "e7e5", "d1h5", "g8f6", "h5h7", "h8h7", "a2a3", "f6e4", "a3a4", "e4c5")
QUEEN += ("a4a5", "c5d3", "a5a6", "d3e1")

# White's first move, in a position that both know, takes a pawn that the rook protects.
ROOK_START = "2k4r/7p/8/7Q/8/8/5PPP/6K1 w - - 0 1"
ROOK = ("h5h7", "h8h7", "h2h3", "h7d7", "h3h4", "d7d1", "h4h5", "d1g1")


def record(
    white: str,
    black: str,
    moves: tuple[str, ...],
    winner: chess.Color | None,
    start: str = chess.STARTING_FEN,
) -> GameRecord:
    """A game; its fifth ply was chosen without the true position at the root."""
    board = FogOfWarBoard(start)
    plies = []
    for uci in moves:
        move = chess.Move.from_uci(uci)
        coverage = Coverage(True, False, False, 0.0) if len(plies) == 4 else None
        plies.append(PlayedPly(board.turn, Turn(uci, coverage=coverage), board.san(move)))
        board.push(move)
    return GameRecord(
        white,
        black,
        board,
        winner,
        "king captured",
        plies=plies,
        started="2026-11-25T00:00:00+00:00",
    )


RECORDS = [
    record("one", "two", SHORT, chess.WHITE),
    record("two", "one", QUEEN, chess.BLACK),
]


def write_games(path: Path, records: list[GameRecord] = RECORDS) -> Path:
    """Write games as PGN and return the path."""
    with path.open("w", encoding="utf-8") as stream:
        for number, game in enumerate(records, 1):
            write_pgn(stream, game, round_=number)
    return path


def rook_game(folder: Path) -> Path:
    """Write the game that White loses by its first move."""
    game = record("one", "two", ROOK, chess.BLACK, ROOK_START)
    return write_games(folder / "rook.pgn", [game])
