from __future__ import annotations

import chess
import pytest

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_board
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import KING_CAPTURED, NO_MOVE, History, WholeGame, start_board
from tests.uci.games import FENS, START, look_alikes, random_moves


def account(moves: list[str], fen: str = START) -> History:
    game = WholeGame(start_board(fen))
    for move in moves:
        game.take(move)
    return game.history()


def seen_by_kernels(board: FogOfWarBoard, side: chess.Color) -> Observation:
    return Observation.of(from_board(board), 0 if side == chess.WHITE else 1)


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("seed", range(4))
def test_passes_on_what_the_side_to_move_did_and_saw(fen: str, seed: int) -> None:
    board = FogOfWarBoard(fen)
    moves = random_moves(seed, 60 + seed % 2, fen)
    expected: dict[chess.Color, list[Ply]] = {chess.WHITE: [], chess.BLACK: []}
    for move in moves:
        mover = board.turn
        board.push_uci(move)
        for side in chess.COLORS:
            own = move if side == mover else None
            expected[side].append(Ply(own, seen_by_kernels(board, side)))
    history = account(moves, fen)
    assert history.side == board.turn
    assert history.plies == tuple(expected[board.turn])
    assert history.observation == seen_by_kernels(board, board.turn)
    assert sorted(history.moves) == sorted(move.uci() for move in board.legal_moves)


def test_games_that_look_the_same_give_the_same_account() -> None:
    first, second = look_alikes(6)
    assert first != second
    assert account(first) == account(second)


@pytest.mark.parametrize(
    ("fen", "moves", "over"),
    [
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", [], None),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", ["e1e8"], KING_CAPTURED),
        ("k7/8/8/8/1p6/pPp5/PRP5/KB6 b - - 0 1", [], None),
        ("k7/8/8/8/1p6/pPp5/PRP5/KB6 b - - 0 1", ["a8b8"], NO_MOVE),
        ("4k3/8/8/8/8/8/8/4K3 w - - 98 80", ["e1e2"], None),
        ("4k3/8/8/8/8/8/8/4K3 w - - 98 80", ["e1e2", "e8e7"], "fifty moves"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 100 80", [], "fifty moves"),
        (START, ["g1f3", "g8f6", "f3g1", "f6g8"], None),
        (START, ["g1f3", "g8f6", "f3g1", "f6g8"] * 2, "threefold repetition"),
    ],
)
def test_knows_when_the_game_is_over(fen: str, moves: list[str], over: str | None) -> None:
    history = account(moves, fen)
    assert history.over == over
    assert (history.moves == ()) == (over is not None)


def test_a_game_may_be_played_on_past_a_draw() -> None:
    drawn = ["g1f3", "g8f6", "f3g1", "f6g8"] * 2
    assert account([*drawn, "e2e4"]).over is None


@pytest.mark.parametrize(
    "move",
    [
        *("e2e5", "e7e5", "e2e4q", "e1e2", "e1h1", "e1g1", "a1a1"),
        *("0000", "xx", "", "e2", "E2E4", "e2-e4", "P@e4", "e2e4\0"),
    ],
)
def test_refuses_what_is_not_legal(move: str) -> None:
    with pytest.raises(ProtocolError, match="illegal move"):
        account([move])


def test_castling_is_the_kings_two_steps_and_nothing_else() -> None:
    fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    assert account(["e1g1", "e8c8"], fen).side == chess.WHITE
    with pytest.raises(ProtocolError):
        account(["e1h1"], fen)


def test_nothing_is_legal_once_a_king_is_gone() -> None:
    with pytest.raises(ProtocolError, match="the game is over: king captured"):
        account(["e1e8", "h8h7"], "4k2r/8/8/8/8/8/8/4RK2 w - - 0 1")
