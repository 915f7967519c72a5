"""Beliefs in Chess960: castling of both kinds in the fog, and starts that one side does not know."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from obscuro.belief import Belief
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, from_fen, legal_moves
from tests import reference
from tests.belief.comparison import Counts, compare_game
from tests.belief.games import after, as_set, goes_on
from tests.sizes import quick_among

OPEN = [  # castling soon, or soon in the way
    "nrk1r3/pp1ppppp/8/8/8/8/PPPPP1PP/1RK2RN1 w FBeb - 0 1",
    "rk4r1/8/8/3pp3/3PP3/8/8/RK4R1 w GAga - 0 1",
    "1r2k1r1/p6p/8/8/8/8/P6P/2R1KR2 w FCgb - 0 1",
    "5krn/pppp4/8/8/8/8/PPPP4/5KRN w Gg - 0 1",
    "3rk2r/8/8/8/8/8/8/RK5R w HAhd - 0 1",
]


@pytest.mark.parametrize("seed", quick_among(range(30), lambda seed: seed < 10))
def test_beliefs_equal_the_reference(seed: int) -> None:
    rng = random.Random(seed)
    fen = OPEN[seed % len(OPEN)]
    if seed % 3 == 0:
        fen = chess.Board.from_chess960_pos(rng.randrange(960)).fen()
    *_, board = reference.random_game(rng, fen, plies=40, chess960=True)
    counts = Counts()
    for color in chess.COLORS:
        counts += compare_game(
            fen, board.move_stack, color, limit=60, alone=2, largest=5000, naive=True, chess960=True
        )
    assert counts.equal > 0


def hidden_starts(rng: random.Random, count: int) -> list[str]:
    """FENs with one back rank for White and several for Black, without pawns on the c to f files."""
    white, *black = rng.sample(range(960), count + 1)
    ours = chess.Board.from_chess960_pos(white)
    fens = []
    for number in black:
        theirs = chess.Board.from_chess960_pos(number).fen().split("/")[0]
        board = chess.Board(f"{theirs}/pp4pp/8/8/8/8/PP4PP/{ours.fen().split('/')[-1]}")
        board.chess960 = True
        board.set_castling_fen("KQkq")
        fens.append(board.fen())
    return fens


@pytest.mark.parametrize("seed", quick_among(range(12), lambda seed: seed < 4))
def test_a_start_that_one_side_does_not_know(seed: int) -> None:
    rng = random.Random(seed)
    fens = hidden_starts(rng, 12)
    seen = FogOfWarBoard(fens[0], chess960=True).observation(chess.WHITE)
    fens = [
        fen for fen in fens if FogOfWarBoard(fen, chess960=True).observation(chess.WHITE) == seen
    ]
    *_, board = reference.random_game(rng, fens[0], plies=24, chess960=True)
    counts = compare_game(
        fens[0],
        board.move_stack,
        chess.WHITE,
        limit=60,
        alone=2,
        largest=3000,
        naive=True,
        chess960=True,
        starts=fens,
    )
    assert counts.plies > 0


def test_all_960_starts_are_thought_possible() -> None:
    fens = [chess.Board.from_chess960_pos(number).fen(shredder=True) for number in range(960)]
    black = [fen.split("/")[0] for fen in fens]
    ours = fens[518].split("/")[-1].split()[0]
    words = np.array(
        [
            from_fen(f"{theirs}/pppppppp/8/8/8/8/PPPPPPPP/{ours} w KQkq - 0 1", chess960=True)
            for theirs in black
        ]
    )
    belief = Belief(words, 0)
    assert len(belief) == 960 and belief.exact
    assert as_set(belief.positions) == {tuple(row) for row in words.tolist()}
    assert len(Belief(words, 0, max_positions=100)) == 100
    assert not Belief(words, 0, max_positions=100).exact
    with pytest.raises(ValueError, match="same in all starts"):
        Belief(words, 1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", quick_among(range(4), lambda batch: batch == 0))
def test_the_truth_never_drops_out(batch: int, weighted: bool) -> None:
    """Whole random games from random starts; also by a belief that was rebuilt on the way."""
    castled = 0
    for seed in range(batch, 40, 4):
        rng = random.Random(seed)
        words = from_board(chess.Board.from_chess960_pos(rng.randrange(960)))
        beliefs = [Belief(words, side, 200_000, weighted=weighted) for side in (0, 1)]
        for ply in range(80):
            moves = [int(move) for move in legal_moves(words)]
            castling = [move for move in moves if move >> 18 >= 3]
            castled += bool(castling)
            move = rng.choice(castling or moves)
            words = after(words, move)
            if not goes_on(words):
                break
            for belief in beliefs:
                seen = Observation.of(words, belief.side)
                if belief.our_turn:
                    belief.after_own_move(move, seen)
                else:
                    belief.after_opponent_move(seen)
                assert belief.rebuilds == 0
                assert not belief.exact or belief.contains(words)
            if any(len(belief) > 50_000 for belief in beliefs):
                break
            if ply % 10 == 9:
                rebuilt = beliefs[0].copy()
                rebuilt.rebuild(Observation.of(words, 0))
                for position in rebuilt.positions[:50]:
                    assert Observation.of(position, 0) == Observation.of(words, 0)
    assert castled > 0


def test_a_rebuilt_belief_has_the_castling_rights_that_there_may_be() -> None:
    words = from_fen("1r2k1r1/8/8/8/8/8/8/1RK2R2 w FBgb - 0 1")
    belief = Belief(words, 0)
    belief.rebuild(Observation.of(words, 0))
    assert belief.contains(words)
    for uci in ("c1f1", "c1b1"):
        assert find_move(belief.any_position(), uci) is not None
