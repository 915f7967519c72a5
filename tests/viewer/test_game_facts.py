"""What the fog did in a game: each figure by a small game, and all of them against a slow oracle."""

from __future__ import annotations

import random
from pathlib import Path

import chess
import chess.pgn
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_facts import VALUES, FogFacts, game_facts
from tests.viewer.recorded import game_of


def facts_of(text: str, folder: Path) -> FogFacts:
    return game_facts(game_of(text, folder), 1)


def squares_of(board: chess.Board, color: chess.Color) -> set[chess.Square]:
    return {square for square in chess.SQUARES if board.color_at(square) is color}


def test_a_king_falls_to_a_queen_that_its_owner_did_not_see(tmp_path: Path) -> None:
    facts = facts_of("1. e4 f6 2. Qh5 a6 3. Qxe8 1-0", tmp_path)
    black, white = facts.side(chess.BLACK), facts.side(chess.WHITE)
    assert (black.king_lost, black.king_unseen) == (True, True)
    assert (black.lost, white.lost, white.king_lost) == (0, 0, False)
    assert facts.opening == "1. e4 f6 2. Qh5 a6" and facts.plies == 5


def test_an_attacker_that_the_owner_sees_is_no_surprise(tmp_path: Path) -> None:
    facts = facts_of("1. e4 d5 2. exd5 Qxd5 *", tmp_path)
    black, white = facts.side(chess.BLACK), facts.side(chess.WHITE)
    assert (black.lost, black.lost_value, black.unseen) == (1, 1, 0)
    # White's pawn on d5 sees ahead and aside, but not the queen on d8 behind the empty file.
    assert (white.lost, white.unseen, white.unseen_value) == (1, 1, 1)


def test_the_man_taken_en_passant_is_a_pawn(tmp_path: Path) -> None:
    facts = facts_of("1. e4 a6 2. e5 d5 3. exd6 *", tmp_path)
    (man,) = facts.men
    assert (man.kind, man.owner, man.ply, man.value) == (chess.PAWN, chess.BLACK, 5, 1)


@pytest.mark.parametrize(
    ("moves", "found"),
    [
        # The bishop finds the pawn, and wins it.
        ("1. Ba6 Kd8 2. Bxb7", (1, 1, 1)),
        # The bishop is taken at once: nothing is won. It had found the king beside the pawn.
        ("1. Ba6 Kd8 2. Be2 Kc8 3. Ba6 Kb8 4. Bxb7 Kxb7", (2, 0, 0)),
        # Two moves later still counts as soon, three do not.
        ("1. Ba6 Kd8 2. Ke2 Ke8 3. Bxb7", (1, 1, 1)),
        ("1. Ba6 Kd8 2. Ke2 Ke8 3. Ke3 Kd8 4. Bxb7", (1, 0, 0)),
        # The pawn that was found is won where it went.
        ("1. Ba6 b5 2. Bxb5+", (2, 1, 1)),
    ],
)
def test_a_move_that_finds_a_man_pays_if_the_man_is_won_soon(
    tmp_path: Path, moves: str, found: tuple[int, int, int]
) -> None:
    text = f'[FEN "4k3/1p6/8/8/8/8/8/4KB2 w - - 0 1"]\n\n{moves} *'
    white = facts_of(text, tmp_path).side(chess.WHITE)
    assert (white.scouted, white.paid, white.won_value) == found


def test_names_of_openings_come_from_the_file_or_from_the_moves(tmp_path: Path) -> None:
    assert facts_of('[Opening "Gambit"]\n\n1. e4 *', tmp_path).opening == "Gambit"
    assert facts_of('[Opening "?"]\n\n1. e4 *', tmp_path).opening == "1. e4"
    assert facts_of("[Event 'x']\n\n*", tmp_path).opening == "no moves"
    start = '[FEN "4k3/8/8/8/8/8/8/4KB2 w - - 0 1"]\n\n1. Ba6 *'
    assert facts_of(start, tmp_path).opening == "from a position"


def test_the_sums_agree_with_the_boards_of_random_games() -> None:
    captures = 0
    for seed in range(20):
        chance, board = random.Random(seed), FogOfWarBoard()
        men = dict.fromkeys(chess.COLORS, 0)
        unseen = dict.fromkeys(chess.COLORS, 0)
        found = dict.fromkeys(chess.COLORS, 0)
        while not board.is_game_over() and len(board.move_stack) < 150:
            move, mover = chance.choice(list(board.legal_moves)), board.turn
            seen = board.vision(not mover)
            before = {square for square in board.vision(mover) if board.piece_at(square)}
            enemies = squares_of(board, not mover)
            board.push(move)
            left = squares_of(board, not mover)
            if len(left) < len(enemies):
                men[not mover] += 1
                unseen[not mover] += move.from_square not in seen
            new = {square for square in board.vision(mover) if square in left} - before
            found[mover] += bool(new)
        game = chess.pgn.Game.from_board(board)
        facts = game_facts(game, 1)
        for color in chess.COLORS:
            side = facts.side(color)
            assert side.lost + side.king_lost == men[color]
            assert side.unseen + side.king_unseen == unseen[color]
            assert side.scouted == found[color]
            assert side.paid <= side.scouted and side.unseen_value <= side.lost_value
            captures += men[color]
    assert captures > 50 and set(VALUES) == set(range(chess.PAWN, chess.KING))
