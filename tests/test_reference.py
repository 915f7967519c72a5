"""The reference itself: against python-chess, by hand, and against its own definition."""

from __future__ import annotations

import random

import chess
import pytest

from tests import reference


@pytest.mark.parametrize("seed", range(6))
def test_moves_are_the_pseudo_legal_ones_of_python_chess(seed: int) -> None:
    # Apart from castling, which python-chess refuses where a square is attacked.
    for board in reference.random_game(random.Random(seed)):
        ours = {move for move in reference.fog_moves(board) if not board.is_castling(move)}
        theirs = {move for move in board.pseudo_legal_moves if not board.is_castling(move)}
        assert ours == theirs, board.fen()
        castling = {move for move in board.pseudo_legal_moves if board.is_castling(move)}
        assert castling <= set(reference.fog_moves(board)), board.fen()


def test_castling_out_of_through_and_into_check_is_a_move() -> None:
    board = chess.Board("4rrr1/k7/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert {"e1g1", "e1c1"} <= {move.uci() for move in reference.fog_moves(board)}
    board = chess.Board("k7/8/8/8/8/8/8/RN2KR2 w KQ - 0 1")
    assert not {"e1g1", "e1c1"} & {move.uci() for move in reference.fog_moves(board)}


def test_observation_reads_as_the_protocol_says() -> None:
    board = chess.Board("4k3/8/8/1PpP4/7p/8/7P/4K3 w - c6 0 1")
    assert reference.observation_text(board, chess.WHITE) == (
        "********/********/*3****/*PpP****/********/*******1/***3*P/***1K1**,c6"
    )
    assert reference.observation_text(board, chess.BLACK) == (
        "***1k1**/***3**/********/**p*****/**1****p/*******1/********/********"
    )


def test_a_position_counts_en_passant_only_where_it_can_be_captured() -> None:
    board = chess.Board()
    board.push_san("e4")
    assert reference.key(board) == reference.Key(
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR", chess.BLACK, "KQkq", "-"
    )
    board = chess.Board("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1")
    board.push_san("e4")
    assert reference.key(board).ep == "e3"
    assert reference.key(reference.key(board).board()) == reference.key(board)


def test_the_game_is_over_without_a_king_or_a_move() -> None:
    assert reference.goes_on(chess.Board("8/8/8/8/8/8/8/Kk6 w - - 0 1"))
    assert not reference.goes_on(chess.Board("8/8/8/8/8/8/8/K7 w - - 0 1"))
    assert not reference.goes_on(chess.Board("8/8/8/8/8/p1p5/ppPp4/kn1K4 b - - 0 1"))


@pytest.mark.parametrize("color", chess.COLORS)
def test_belief_is_the_set_of_positions_of_all_histories_that_look_the_same(
    color: chess.Color,
) -> None:
    """Three plies, by walking every history and comparing what was done and seen."""
    rng = random.Random(3)
    for _ in range(3):
        game = chess.Board()
        belief = reference.Belief(game, color)
        seen: list[tuple[chess.Move | None, reference.Sight]] = []
        for _ in range(3):
            move = rng.choice(reference.fog_moves(game))
            own = game.turn == color
            game.push(move)
            shown = reference.sight(game, color)
            seen.append((move if own else None, shown))
            if own:
                belief.after_own_move(move, shown)
            else:
                belief.after_opponent_move(shown)

        level = [chess.Board()]
        for own_move, shown in seen:
            moves = [
                (board, move)
                for board in level
                for move in reference.fog_moves(board)
                if own_move in (None, move)
            ]
            level = []
            for board, move in moves:
                after = board.copy(stack=False)
                after.push(move)
                if reference.sight(after, color) == shown and reference.goes_on(after):
                    level.append(after)
        assert belief.positions == {reference.key(board) for board in level}
        assert reference.key(game) in belief.positions


@pytest.mark.parametrize("seed", range(3))
def test_the_true_position_is_always_believed_in(seed: int) -> None:
    fen = "4k2r/pp3ppp/8/8/8/8/PPP3PP/R3K3 w Qk - 0 1"
    beliefs = {color: reference.Belief(chess.Board(fen), color) for color in chess.COLORS}
    for board in reference.random_game(random.Random(seed), fen, plies=12):
        if not reference.goes_on(board) or any(len(b.positions) > 500 for b in beliefs.values()):
            break
        if board.move_stack:
            for color, belief in beliefs.items():
                shown = reference.sight(board, color)
                if color != board.turn:
                    belief.after_own_move(board.peek(), shown)
                else:
                    belief.after_opponent_move(shown)
        for belief in beliefs.values():
            assert reference.key(board) in belief.positions


def test_belief_not_told_what_it_saw_keeps_all_positions() -> None:
    told = reference.Belief(chess.Board("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"), chess.WHITE)
    told.positions.add(reference.Key("k7/8/8/8/8/8/8/R3K3", chess.WHITE, "-", "-"))
    told.after_own_move(chess.Move.from_uci("a1a7"))
    assert {position.placement for position in told.positions} == {
        "4k3/R7/8/8/8/8/8/4K3",
        "k7/R7/8/8/8/8/8/4K3",
    }
