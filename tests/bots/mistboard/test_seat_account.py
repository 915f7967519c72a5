"""Our account of a game is, word for word, the one that our own referee would have sent."""

from __future__ import annotations

import random

import chess
import pytest

from obscuro.bots.mistboard.engine_messages import MessageError, WireMove, read_sighting
from obscuro.bots.mistboard.seat_account import SeatAccount
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import observation, played, told_by_ours, transcript


def account_of(board: FogOfWarBoard, side: chess.Color) -> SeatAccount:
    return SeatAccount.of(side, [read_sighting(told) for told in transcript(board, side)])


def random_game(seed: int, plies: int) -> FogOfWarBoard:
    rng, board = random.Random(seed), FogOfWarBoard()
    while not board.is_variant_end() and len(board.move_stack) < plies:
        moves = list(board.legal_moves)
        pawns = [move for move in moves if board.piece_type_at(move.from_square) == chess.PAWN]
        board.push(rng.choice(pawns if pawns and rng.random() < 0.6 else moves))
    return board


@pytest.mark.parametrize("side", chess.COLORS)
@pytest.mark.parametrize("seed", range(12))
def test_random_games_with_many_pawn_moves(seed: int, side: chess.Color) -> None:
    """The transcript alone must tell every chance to capture en passant, also those gone by."""
    board = random_game(seed, 90)
    assert account_of(board, side).position() == told_by_ours(board, side)


def test_the_random_games_have_chances_to_capture_en_passant() -> None:
    boards = [random_game(seed, 90) for seed in range(12)]
    assert sum("," in told_by_ours(b, s) for b in boards for s in chess.COLORS) >= 4


@pytest.mark.parametrize(
    ("moves", "target"),
    [
        ("e2e4 a7a6 e4e5 d7d5", chess.D6),  # two steps beside our pawn
        ("e2e4 a7a6 e4e5 f7f5", chess.F6),
        ("e2e4 d7d6 e4e5 d6d5", None),  # one step beside our pawn
        ("e2e4 a7a6 e4e5 b7b5", None),  # two steps, far from it
        ("e2e4 c7c6 d2d4 c6c5 e4e5 b7b6 d4d5 b6b5", None),
        ("e2e4 c7c6 d1g4 c6c5 e4e5 h7h6 g4d4 c5d4", None),  # a capture on another rank
        ("e2e4 c7c6 e4e5 g7g6 d1g4 c6c5 g4d4 g6g5 d4d5 e7e6 a2a3 e6d5", None),  # it captured
    ],
)
def test_en_passant_is_found_where_it_is(moves: str, target: int | None) -> None:
    board = played(moves)
    assert account_of(board, chess.WHITE).seen.en_passant == target
    assert board.observation(chess.WHITE).en_passant == target


def test_black_captures_en_passant_too() -> None:
    board = played("a2a3 e7e5 a3a4 e5e4 d2d4")
    assert account_of(board, chess.BLACK).seen.en_passant == chess.D3


def test_the_legal_moves_have_the_last_word_on_en_passant() -> None:
    account = account_of(played("e2e4 a7a6 e4e5 d7d5"), chess.WHITE)
    account.correct_en_passant([WireMove(chess.E5, chess.E6)])
    assert account.seen.en_passant is None
    account.correct_en_passant([WireMove(chess.E5, chess.E6), WireMove(chess.E5, chess.D6)])
    assert account.position() == told_by_ours(played("e2e4 a7a6 e4e5 d7d5"), chess.WHITE)


def test_castling_is_written_as_engines_read_it() -> None:
    board = played("g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8")
    for side, castling in ((chess.WHITE, " e1g1 "), (chess.BLACK, " e8g8 ")):
        assert account_of(board, side).position() == told_by_ours(board, side)
        assert castling in told_by_ours(board, side)


def test_a_move_whose_observation_is_not_told() -> None:
    account = account_of(FogOfWarBoard(), chess.WHITE)
    account.add_untold(WireMove(chess.E2, chess.E4))
    account.add(read_sighting(observation(played("e2e4 d7d5"), chess.WHITE)))
    told = played("e2e4 d7d5").fog_fen(chess.WHITE)
    assert account.position() == f"position fog white startpos turns e2e4 - {told}"


def test_another_start_is_refused() -> None:
    told = transcript(FogOfWarBoard(), chess.WHITE)
    told[0]["visible_pieces"].pop()
    with pytest.raises(MessageError, match="the usual start"):
        SeatAccount.of(chess.WHITE, [read_sighting(each) for each in told])


@pytest.mark.parametrize("left_out", [0, 1, 2, 3])
def test_a_transcript_with_a_gap_is_refused(left_out: int) -> None:
    told = transcript(played("e2e4 e7e5 g1f3 b8c6"), chess.WHITE)
    del told[left_out]
    with pytest.raises(MessageError):
        SeatAccount.of(chess.WHITE, [read_sighting(each) for each in told])


def test_a_ply_of_the_wrong_side_is_refused_and_changes_nothing() -> None:
    account = account_of(played("e2e4"), chess.WHITE)
    before = account.position()
    other = observation(played("e2e4 e7e5"), chess.BLACK)
    with pytest.raises(MessageError, match="ply 1 can't be followed by ply 2, own_move"):
        account.add(read_sighting(other))
    assert account.position() == before
