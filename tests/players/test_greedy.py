"""The rules of `greedy`, one by one, and that it knows no more than its side sees."""

from __future__ import annotations

import random
import time
from threading import Event

import chess
import pytest

from obscuro.engine.options import Options
from obscuro.engine.report import GoLimits
from obscuro.players.roster import PLAYERS
from obscuro.players.view_player import ViewPlayer, gain, greedy_move, risk
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.side_view import SideView


def choices(fen: str) -> set[str | None]:
    """Return the moves that the side to move chooses, over many draws."""
    board = FogOfWarBoard(fen)
    view = SideView(board.turn, board)
    return {greedy_move(view, random.Random(seed)) for seed in range(30)}


@pytest.mark.parametrize(
    ("what", "fen", "expected"),
    [
        ("the king before the queen", "4k3/8/8/1B1q4/4N3/2N5/8/4K3 w - -", {"b5e8"}),
        ("the queen before the rook", "7k/8/8/3q4/8/2N5/4r3/7K w - -", {"c3d5"}),
        ("the cheapest capturer", "7k/8/8/3r4/4P3/2N5/8/7K w - -", {"e4d5"}),
        ("a free pawn before a protected one", "7k/8/1p6/p7/1R6/R4p2/8/7K w - -", {"b4b6"}),
        ("what it cannot see protected", "6k1/8/2p5/3p4/8/8/8/3Q3K w - -", {"d1d5"}),
        ("the best promotion", "1n5k/P7/8/8/8/8/8/7K w - -", {"a7b8q"}),
        ("a promotion before a rook", "7k/P7/8/8/8/5r2/4P3/7K w - -", {"a7a8q"}),
        ("a pawn en passant", "7k/8/8/3pP3/8/8/8/7K w - d6", {"e5d6"}),
        ("an attacker of its king", "k7/8/8/8/8/1n6/r7/K6r w - -", {"a1a2"}),
    ],
)
def test_it_takes_by_value(what: str, fen: str, expected: set[str]) -> None:
    assert choices(fen) == expected, what


def test_it_does_not_give_a_queen_for_a_pawn_that_it_sees_protected() -> None:
    assert choices("k7/8/2p5/3p4/8/8/2R5/3Q3K w - -") == {"c2c6"}
    assert choices("k7/8/8/1p1p4/8/8/2R5/3Q3K w - -") == {"d1d5"}


def test_it_moves_its_queen_that_a_protected_pawn_attacks() -> None:
    # The rooks see three pawns. The one on d5 attacks the queen, and each protects the next.
    fen = "k7/1p6/2p4R/3p3R/4Q3/8/8/1R5K w - -"
    board = FogOfWarBoard(fen)
    for move in choices(fen):
        assert move is not None and move.startswith("e4")
        board.push_uci(move)
        assert not board.is_attacked_by(chess.BLACK, chess.parse_square(move[2:4]))
        board.pop()


@pytest.mark.parametrize(
    ("fen", "side", "expected"),
    [
        ("7k/8/8/3p4/4N3/8/8/7K b - -", chess.WHITE, 3),  # unprotected
        ("7k/8/8/3p4/4N3/5P2/8/7K b - -", chess.WHITE, 2),  # a knight for a pawn
        ("7k/8/8/3r4/4n3/3P1P2/8/7K b - -", chess.WHITE, 1),  # only the pawn d3, unprotected
        ("7k/8/8/8/8/8/1r6/2K4R b - -", chess.WHITE, 0),
        ("7k/8/8/8/8/8/2r5/2K4R b - -", chess.WHITE, 100),  # a king is never exchanged
        ("7k/8/8/8/8/8/8/7K b - -", chess.BLACK, 0),
    ],
)
def test_the_risk_is_the_worst_capture(fen: str, side: chess.Color, expected: int) -> None:
    assert risk(chess.Board(fen), side) == expected


def test_the_gain_of_a_promotion_is_the_difference() -> None:
    board = FogOfWarBoard("1n5k/P7/8/8/8/8/8/7K w - -")
    assert gain(board, chess.Move.from_uci("a7a8q")) == 8
    assert gain(board, chess.Move.from_uci("a7b8q")) == 11
    assert gain(board, chess.Move.from_uci("h1h2")) == 0


@pytest.mark.parametrize(
    ("what", "fen", "expected"),
    [
        ("centre pawns", chess.STARTING_FEN, {"d2d4", "e2e4"}),
        (
            "then knights",
            "rnbqkbnr/pppppppp/8/8/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -",
            {"b1c3", "b1d2", "g1e2", "g1f3"},
        ),
        (
            "then castling",
            "r1bqk2r/pppppppp/8/8/3PP3/2N2N2/PPPBBPPP/R2QK2R w KQkq -",
            {"e1g1"},
        ),
        (
            "then rooks to open files",
            "7k/8/8/8/8/2NBBN2/PPPQ1PPP/R4RK1 w - -",
            {"a1d1", "a1e1", "f1d1", "f1e1"},
        ),
        ("then pawns, but not those that shield its king", "7k/8/8/8/8/8/P5PP/7K w - -", {"a2a4"}),
    ],
)
def test_it_develops(what: str, fen: str, expected: set[str]) -> None:
    assert choices(fen) == expected, what


def test_black_plays_as_white_does() -> None:
    for fen in (
        chess.STARTING_FEN,
        "r1bqk2r/pppppppp/8/8/3PP3/2N2N2/PPPBBPPP/R2QK2R w KQkq -",
        "7k/8/1p6/p7/1R6/R4p2/8/7K w - -",
    ):
        mirrored = chess.Board(fen).mirror().fen()
        moves = {chess.Move.from_uci(str(move)) for move in choices(fen)}
        turned = {
            chess.Move(chess.square_mirror(m.from_square), chess.square_mirror(m.to_square)).uci()
            for m in moves
        }
        assert choices(mirrored) == turned


def player(seed: int) -> ViewPlayer:
    options = Options(PLAYERS["greedy"].options)
    options.set("Seed", str(seed))
    return ViewPlayer(options, greedy_move)


def play(seed: int, most_plies: int) -> FogOfWarBoard:
    """Play a game of greedy against itself; every move must be legal."""
    board = FogOfWarBoard()
    players = [player(2 * seed + 1), player(2 * seed + 2)]
    for side, one in enumerate(players):
        one.new_game_from_fen(side, board.epd(en_passant="fen"))
    while board.outcome() is None and len(board.move_stack) < most_plies:
        one = players[0 if board.turn else 1]
        move = one.search(GoLimits(time.monotonic()), Event(), lambda info: None).move
        assert move is not None
        board.push(board.parse_uci(move))
        if not board.is_variant_end():
            for side, one in enumerate(players):
                last_ply(board, side == 0).tell(one)
    return board


def test_it_plays_legal_games_to_their_end() -> None:
    ended = [play(seed, 400).outcome() is not None for seed in range(10)]
    assert sum(ended) >= 9


def test_what_it_cannot_see_changes_nothing() -> None:
    """Two boards that look the same to a side get the same move, whatever the fog hides."""
    chance = random.Random(5)
    changed = 0
    for seed in range(12):
        board = play(seed, 30)
        if board.outcome() is not None:
            continue
        side = board.turn
        other = board.copy(stack=False)
        for square in chess.scan_forward(board.occupied_co[not side] & ~board.kings):
            if chance.random() < 0.5:
                without = other.copy(stack=False)
                without.remove_piece_at(square)
                if without.observation(side) == board.observation(side):
                    other = without
                    changed += 1
        moves = [
            greedy_move(SideView(side, shown), random.Random(seed))
            for shown in (board.copy(stack=False), other)
        ]
        assert moves[0] == moves[1]
    assert changed > 20
