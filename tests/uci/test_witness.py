from __future__ import annotations

import chess
import pytest

from obscuro.rules.account import Ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.uci.parsing import ProtocolError
from obscuro.uci.positions import (
    KING_CAPTURED,
    FogGame,
    History,
    WholeGame,
    fog_position,
    start_board,
)
from tests.uci.games import FENS, START, random_moves, turns_of

AFTER_E4 = "********/********/********/1*****1*/2*3*1/3P4/PPP1PPPP/RNBQKBNR"  # any observation


def account(side: chess.Color, tokens: list[str], fen: str = START) -> History:
    witness = FogGame(side, start_board(fen))
    for token in tokens:
        witness.take(token)
    return witness.history()


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("seed", range(4))
def test_a_sides_account_gives_what_the_whole_game_gives(fen: str, seed: int) -> None:
    moves = random_moves(seed + 10, 60 + seed % 2, fen)
    game = WholeGame(start_board(fen))
    for move in moves:
        game.take(move)
    whole = game.history()
    told = account(whole.side, turns_of(whole.side, moves, fen), fen)
    assert told.plies == whole.plies
    assert (told.side, told.start, told.observation, told.our_turn) == (
        whole.side,
        whole.start,
        whole.observation,
        True,
    )
    if whole.over is None:
        assert sorted(told.moves) == sorted(whole.moves)


@pytest.mark.parametrize("fen", FENS)
@pytest.mark.parametrize("side", chess.COLORS)
def test_what_a_side_sees_gives_its_legal_moves(fen: str, side: chess.Color) -> None:
    for seed in range(6):
        board = FogOfWarBoard(fen)
        witness = FogGame(side, start_board(fen))
        for move in random_moves(seed + 50, 80, fen):
            if board.turn == side:
                legal = sorted(legal.uci() for legal in board.legal_moves)
                assert sorted(witness.history().moves) == legal
                witness.take(move)
            board.push_uci(move)
            witness.take(board.fog_fen(side))


@pytest.mark.parametrize("side", chess.COLORS)
def test_the_turns_of_an_account_are_the_tokens_it_was_read_from(side: chess.Color) -> None:
    for fen in FENS:
        tokens = turns_of(side, random_moves(7, 40, fen), fen)
        text = fog_position(side, account(side, tokens, fen).plies)
        assert text.partition(" turns")[2].split() == tokens
    untold = account(chess.WHITE, ["e2e4", "-"])
    assert fog_position(chess.WHITE, untold.plies) == "position fog white startpos turns e2e4 -"


def test_own_observations_need_not_be_told() -> None:
    moves = random_moves(1, 41)
    tokens = turns_of(chess.BLACK, moves)
    untold = list(tokens)
    for index, token in enumerate(tokens):
        if "/" not in token:
            untold[index + 1] = "-"
    told = account(chess.BLACK, tokens)
    history = account(chess.BLACK, untold)
    assert history.moves == told.moves
    assert history.observation == told.observation
    assert history.plies == tuple(
        ply if ply.move is None else Ply(ply.move, None) for ply in told.plies
    )


def test_untold_leaves_own_pieces_in_sight() -> None:
    history = account(chess.WHITE, ["e2e4", "-"])
    assert not history.our_turn
    assert history.observation.text() == (
        "********/********/********/********/****P***/********/PPPP*PPP/RNBQKBNR"
    )


def test_question_marks_are_stars() -> None:
    tokens = turns_of(chess.WHITE, ["e2e4", "d7d5"])
    questions = [token.replace("*", "?") for token in tokens]
    assert account(chess.WHITE, questions) == account(chess.WHITE, tokens)


def test_black_begins_with_what_it_sees_after_whites_first_move() -> None:
    history = account(chess.BLACK, turns_of(chess.BLACK, ["e2e4"]))
    assert history.our_turn
    assert len(history.moves) == 20
    assert history.plies == (Ply(None, history.observation),)


@pytest.mark.parametrize(
    ("side", "tokens", "wrong"),
    [
        (chess.WHITE, [AFTER_E4], "a move of white must come"),
        (chess.WHITE, ["-"], "a move of white must come"),
        (chess.WHITE, ["e2e5"], "illegal move"),
        (chess.WHITE, ["e7e5"], "illegal move"),
        (chess.WHITE, ["0000"], "illegal move"),
        (chess.WHITE, ["e2e4"], "seen after e2e4 is missing"),
        (chess.WHITE, ["e2e4", "d2d4"], "seen after e2e4 must come"),
        (chess.WHITE, ["e2e4", "-", "d2d4"], "seen after black's move must come"),
        (chess.WHITE, ["e2e4", "-", "-"], "seen after black's move must come"),
        (chess.WHITE, ["e2e4", "8/8"], "8 ranks"),
        (chess.BLACK, ["e7e5"], "seen after white's move must come"),
        (chess.BLACK, ["-"], "seen after white's move must come"),
        (chess.WHITE, ["e2e4", "-", "x" * 5000], "must come, not 'x"),
    ],
)
def test_says_what_is_wrong(side: chess.Color, tokens: list[str], wrong: str) -> None:
    with pytest.raises(ProtocolError, match=wrong):
        account(side, tokens)


def test_a_blocker_in_the_fog_blocks() -> None:
    # Black pawns on e3 and d4, which White's pawns on e2 and d2 do not see.
    fen = "4k3/8/8/8/3p4/4p3/3PP3/4K3 w - - 0 1"
    history = account(chess.WHITE, [], fen)
    assert "d2d3" in history.moves and "d2e3" in history.moves
    assert "e2e3" not in history.moves and "e2e4" not in history.moves
    assert "d2d4" not in history.moves


def test_rights_are_lost_for_good_with_a_captured_rook() -> None:
    # The rook on h1 is taken, and the one from a1 comes to stand there: no castling.
    fen = "4k2r/8/8/8/8/8/6P1/R3K2R w KQ - 0 1"
    moves = ["g2g3", "h8h1", "e1e2", "h1h8", "a1h1", "e8d8", "e2e1", "d8e8"]
    assert "e1g1" not in account(chess.WHITE, turns_of(chess.WHITE, moves, fen), fen).moves


def test_the_game_is_over_when_our_king_is_gone() -> None:
    fen = "4k2r/8/8/8/8/8/8/4R1K1 b - - 0 1"
    gone = "********/********/********/********/********/********/********/4R3"
    history = account(chess.WHITE, [gone], fen)
    assert (history.over, history.moves) == (KING_CAPTURED, ())
    with pytest.raises(ProtocolError, match="after the end of the game"):
        account(chess.WHITE, [gone, "e1e8"], fen)


def test_the_game_is_over_when_we_take_the_king() -> None:
    fen = "4k2r/8/8/8/8/8/8/4R1K1 w - - 0 1"
    tokens = turns_of(chess.WHITE, ["e1e8"], fen)
    assert account(chess.WHITE, tokens, fen).over == KING_CAPTURED
    with pytest.raises(ProtocolError, match="after the end of the game"):
        account(chess.WHITE, [*tokens, tokens[-1]], fen)
