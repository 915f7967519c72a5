"""Twins: two games that look the same to one side, ply by ply, and differ in the fog.

A channel keeps the fog if it tells this side the same bytes of both. `twins` makes pairs at random.
`NAMED` has one pair for each leak that real servers had.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

import chess

from obscuro.rules.board import FogOfWarBoard

STARTS = (
    chess.STARTING_FEN,
    # Castling, en passant and promotions come soon from these.
    "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",
    "4k3/3pppp1/8/1P2P2P/1p2p2p/8/3PPPP1/4K3 w - - 0 1",
    "rn2k2r/1P1p2p1/8/2P1pP2/1Pp3p1/8/P2P1Pp1/RN2K2R w KQkq - 0 1",
    "8/1P3kP1/2n1b3/8/8/2N1B3/1p3Kp1/8 b - - 0 1",
)
"""Where random pairs begin."""


class Twins(NamedTuple):
    """Two games, both of which go on, and the side that can't tell them apart."""

    side: chess.Color
    one: tuple[str, ...]
    other: tuple[str, ...]
    start: str = chess.STARTING_FEN

    @property
    def games(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The moves of both games."""
        return self.one, self.other

    @property
    def differences(self) -> int:
        """The number of plies in which they differ."""
        return sum(a != b for a, b in zip(self.one, self.other, strict=True))

    def boards(self, plies: int | None = None) -> tuple[FogOfWarBoard, FogOfWarBoard]:
        """Return both boards after so many plies, at the end by default."""
        one, other = (after(self.start, moves[:plies]) for moves in self.games)
        return one, other


def after(start: str, moves: Iterable[str]) -> FogOfWarBoard:
    """Return the board after moves."""
    board = FogOfWarBoard(start)
    for uci in moves:
        board.push_uci(uci)
    return board


def plies_of(position: str) -> int:
    """Return the number of plies that a command `position fog` tells of; each has an observation."""
    return sum("/" in word for word in position.partition(" turns")[2].split())


def check(pair: Twins) -> None:
    """Fail unless the side sees the same in both games after each ply, and both go on."""
    assert len(pair.one) == len(pair.other)
    one, other = FogOfWarBoard(pair.start), FogOfWarBoard(pair.start)
    for first, second in zip(*pair.games, strict=True):
        if one.turn == pair.side:
            assert first == second
            assert list(one.legal_moves) == list(other.legal_moves)
        for board, uci in ((one, first), (other, second)):
            board.push_uci(uci)
            assert board.outcome() is None
        assert one.observation(pair.side) == other.observation(pair.side)


def twins(seed: int, side: chess.Color, start: str = chess.STARTING_FEN, plies: int = 100) -> Twins:
    """Return a random pair. Hidden moves of unlike kinds are preferred."""
    chance = random.Random(seed)
    boards = FogOfWarBoard(start), FogOfWarBoard(start)
    pair: tuple[list[str], list[str]] = ([], [])
    while len(pair[0]) < plies:
        own = boards[0].turn == side
        chosen = _next_moves(*boards, side, chance, own=own)
        if chosen is None:
            break
        for board, move, made in zip(boards, chosen, pair, strict=True):
            board.push(move)
            made.append(move.uci())
    return Twins(side, tuple(pair[0]), tuple(pair[1]), start)


def _next_moves(
    one: FogOfWarBoard,
    other: FogOfWarBoard,
    side: chess.Color,
    chance: random.Random,
    *,
    own: bool,
) -> tuple[chess.Move, chess.Move] | None:
    """Return a move for each game after which they look the same; None if there is none."""
    first, second = _by_view(one, side), _by_view(other, side)
    pairs = [
        (move, answer)
        for seen in first.keys() & second.keys()
        for move in first[seen]
        for answer in second[seen]
        if not own or move == answer
    ]
    if not pairs:
        return None
    pairs.sort(key=str)
    chance.shuffle(pairs)
    if own or chance.random() < 0.2:
        return pairs[0]
    return max(pairs, key=lambda both: _unlikeness(one, both[0], other, both[1]))


def _by_view(board: FogOfWarBoard, side: chess.Color) -> dict[object, list[chess.Move]]:
    """Return the legal moves that do not end the game, by what the side sees after them."""
    found: dict[object, list[chess.Move]] = defaultdict(list)
    for move in list(board.legal_moves):
        board.push(move)
        if board.outcome() is None:
            found[board.observation(side)].append(move)
        board.pop()
    return found


def _unlikeness(
    one: FogOfWarBoard, first: chess.Move, other: FogOfWarBoard, second: chess.Move
) -> int:
    """Rate how much two hidden moves differ: by their kinds first, then by the move."""
    kinds = kinds_of(one, first), kinds_of(other, second)
    return 2 * len(kinds[0] | kinds[1]) + (first != second)


def kinds_of(board: FogOfWarBoard, move: chess.Move) -> frozenset[str]:
    """Return what is special about a move."""
    found = {
        "promotion": move.promotion is not None,
        "capture": board.is_capture(move),
        "en passant": board.is_en_passant(move),
        "castling": board.is_castling(move),
        "double step": board.piece_type_at(move.from_square) == chess.PAWN
        and chess.square_distance(move.from_square, move.to_square) == 2,
    }
    return frozenset(name for name, holds in found.items() if holds)


def hidden_kinds(pair: Twins) -> frozenset[str]:
    """Return the kinds of the other side's moves that differ between the games."""
    found: set[str] = set()
    for moves in pair.games:
        board = FogOfWarBoard(pair.start)
        for uci, first, second in zip(moves, *pair.games, strict=True):
            if first != second:
                found |= kinds_of(board, chess.Move.from_uci(uci))
            board.push_uci(uci)
    return frozenset(found)


_LAIR = "/PP6/K7"
"""White's king in its corner sees little."""

NAMED: dict[str, Callable[[], tuple[Twins, ...]]] = {
    "material that shows a promotion": lambda: tuple(
        Twins(
            chess.WHITE,
            ("a2a3", "h2h1q", "a3a4"),
            ("a2a3", hidden, "a3a4"),
            "4k3/8/8/8/8/8/PP5p/K7 w - - 0 1",
        )
        for hidden in ("h2h1n", "h2h1r", "e8e7")
    ),
    "the sound of a capture in the fog": lambda: (
        # A piece of ours is lost: to a bishop, a knight, or a rook.
        *(
            Twins(
                chess.WHITE,
                ("a2a3", "f7h5", "a3a4"),
                ("a2a3", hidden, "a3a4"),
                f"4k2r/5b2/5n2/7N/8/8{_LAIR} w - - 0 1",
            )
            for hidden in ("f6h5", "h8h5")
        ),
        # A pawn of ours is lost: in passing, or to a knight.
        Twins(
            chess.WHITE,
            ("e2e4", "d4e3", "a2a3", "e8e7", "a3a4"),
            ("e2e4", "f6e4", "a2a3", "e8e7", "a3a4"),
            "4k3/8/5n2/8/3p4/8/PP2P3/K7 w - - 0 1",
        ),
    ),
    "the moves of a piece that was touched in the fog": lambda: (
        # The pawn stands, is gone, or has become a piece: what can be touched is the same.
        *(
            Twins(
                chess.WHITE,
                ("b2b3", "d7d5", "b3b4", "d5d4", "a2a3"),
                ("b2b3", "e8f7", "b3b4", hidden, "a2a3"),
                f"r3k2r/3p4/8/8/8/8{_LAIR} w kq - 0 1",
            )
            for hidden in ("f7e8", "h8h7", "d7d5")
        ),
        Twins(
            chess.WHITE,
            ("a2a3", "e8g8", "a3a4"),
            ("a2a3", "e8c8", "a3a4"),
            "r3k2r/3p4/8/8/8/8/PP6/K7 w kq - 0 1",
        ),
    ),
    "an en passant pawn that one may not know": lambda: (
        # Black's double step in the fog, beside a single one.
        Twins(
            chess.WHITE,
            ("a2a3", "h7h5", "a3a4"),
            ("a2a3", "h7h6", "a3a4"),
            f"4k3/7p/8/8/8/8{_LAIR} w - - 0 1",
        ),
        # White's own double step: whether a hidden pawn could take it in passing.
        Twins(
            chess.WHITE,
            ("b2b3", "d6d5", "a2a3", "d5d4", "e2e4", "e8e7", "b3b4"),
            ("b2b3", "e8e7", "a2a3", "e7e8", "e2e4", "e8f8", "b3b4"),
            "4k3/8/3p4/8/8/8/PP2P3/K7 w - - 0 1",
        ),
    ),
    "the count of moves without a capture or a pawn's move": lambda: (
        Twins(
            chess.WHITE,
            ("a1b1", "h7h6", "b1a1", "h6h5", "a1b1"),
            ("a1b1", "e8d8", "b1a1", "d8e8", "a1b1"),
            f"4k3/7p/8/8/8/8{_LAIR} w - - 0 1",
        ),
    ),
}
"""Pairs by the leak that they would show. White can't tell them apart."""


def named_twins() -> list[tuple[str, Twins]]:
    """Return all pairs of `NAMED` with their names."""
    return [(name, pair) for name, make in NAMED.items() for pair in make()]
