"""Games for the tests of beliefs: random ones, and some in which the rare rules occur."""

from __future__ import annotations

import random
from typing import NamedTuple

import chess
import numpy as np
import numpy.typing as npt

from obscuro.belief.belief import Belief, Update
from obscuro.rules.layout import KINGS, WHITE
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_fen, legal_moves, to_fen

Words = npt.NDArray[np.uint64]


class Game(NamedTuple):
    """Positions, each uint64[8], and the move words between them; the game goes on in all."""

    positions: list[Words]
    moves: list[int]


# From a position, by moves in UCI.
STORIES = {
    "both capture en passant": (
        "4k3/2p2p2/8/3P2n1/4p1N1/8/3P1P2/4K3 w - - 0 1",
        "d2d4 e4d3 g4e5 c7c5 d5c6 d3d2 e1d2 f7f5 e5f7 g5f7 c6c7 e8d7 c7c8q",
    ),
    "both promote, to all pieces": (
        "4k3/P5P1/8/8/8/8/p5p1/4K3 w - - 0 1",
        "a7a8n g2g1r e1d2 a2a1b g7g8q e8d7 a8b6 d7c6 g8d5",
    ),
    "promotion by capture, unseen": (
        "rn2k1nr/P6P/8/8/8/8/p6p/RN2K1NR b - - 0 1",
        "a2b1q a1b1 e8d7 a7b8n d7c7 h7g8q h2g1r",
    ),
    "castling through and out of attack": (
        "r3k2r/8/8/1b2Q3/1B2q3/8/8/R3K2R w KQkq - 0 1",
        "e1g1 e8c8 a1a8 c8d7 e5d5",
    ),
    "kings walk into check": (
        "4k3/8/8/q7/7Q/8/8/4K3 w - - 0 1",
        "e1d2 e8e7 d2c3 e7f6 h4g4 a5a4 c3b3 f6f5",
    ),
    "double pushes past capturing pawns": (
        "4k3/p1p1p1p1/8/1P1P4/4p1p1/8/3P1P1P/4K3 w - - 0 1",
        "f2f4 a7a5 d2d4 c7c5 h2h4 e7e6 b5b6 g7g5",
    ),
    "a rook is captured at home, with its castling right": (
        "r3k2r/8/8/8/8/8/6B1/R3K2R b KQkq - 0 1",
        "h8h7 g2a8 h7h1 e1d2 h1a1",
    ),
    "the wrong of two capturing pawns may have moved": (
        "4k3/8/8/8/1p1p4/8/2P5/4K1N1 w - - 0 1",
        "c2c4 d4c3 g1e2 c3c2 e2d4 c2c1q",
    ),
    "a blocked pawn and an unseen blocker": (
        "4k3/8/8/3n4/3P4/3R4/8/4K3 w - - 0 1",
        "d3a3 d5b4 a3a8 e8d7 d4d5 b4d5",
    ),
    "the Scandinavian, with a queen that comes and goes": (
        chess.STARTING_FEN,
        "e2e4 d7d5 e4d5 d8d5 b1c3 d5d8 d2d4 g8f6 c1g5 c8g4 f2f3",
    ),
}
# Where random games meet castling, en passant and promotions soon.
MIDDLE_GAMES = [
    "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 4 5",
    "4k3/pp3ppp/3p4/2pPp3/2P1P3/5P2/PP4PP/4K3 w - c6 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/P1k5/8/2p5/3p4/8/1P2K1p1/8 w - - 0 1",
    "r3k2r/8/8/3pP3/3Pp3/8/8/R3K2R b KQkq d3 0 1",
]


def story(name: str) -> Game:
    fen, moves = STORIES[name]
    return play(fen, moves.split())


def play(fen: str, moves: list[str]) -> Game:
    """The game of these moves, which must be legal."""
    game = Game([from_fen(fen)], [])
    for uci in moves:
        word = find_move(game.positions[-1], uci)
        assert word is not None, f"{uci} in {to_fen(game.positions[-1])}"
        game.moves.append(word)
        game.positions.append(after(game.positions[-1], word))
    return game


def after(words: Words, move: int) -> Words:
    return np.array(make_move(tuple(words), move), dtype=np.uint64)


def random_game(seed: int, plies: int, fen: str = chess.STARTING_FEN, eager: float = 0.3) -> Game:
    """A random game; a share `eager` of the moves is drawn from the captures, if there are any."""
    rng = random.Random(seed)
    game = Game([from_fen(fen)], [])
    while len(game.moves) < plies:
        words = game.positions[-1]
        moves = [int(move) for move in legal_moves(words)]
        occupied = int(np.bitwise_or.reduce(words[:WHITE]))
        captures = [move for move in moves if occupied >> (move >> 6 & 63) & 1]
        move = rng.choice(captures if captures and rng.random() < eager else moves)
        child = after(words, move)
        if not goes_on(child):
            break
        game.moves.append(move)
        game.positions.append(child)
    return game


def goes_on(words: Words) -> bool:
    white_kings = int(words[KINGS] & words[WHITE])
    return white_kings not in (0, int(words[KINGS])) and len(legal_moves(words)) > 0


def follow(belief: Belief, game: Game, ply: int, deadline: float | None = None) -> Update:
    """Let the belief see move number `ply` of the game."""
    observation = Observation.of(game.positions[ply + 1], belief.side)
    if belief.our_turn:
        return belief.after_own_move(game.moves[ply], observation, deadline)
    update = belief.after_opponent_move(observation, deadline)
    assert update is not None  # nothing stops it
    return update


def as_set(positions: Words) -> set[tuple[int, ...]]:
    """The positions as a set; they must be different."""
    rows = {tuple(row) for row in positions.tolist()}
    assert len(rows) == len(positions)
    return rows


def row(words: Words) -> tuple[int, ...]:
    return tuple(int(word) for word in words)
