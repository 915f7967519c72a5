"""Chess as the search sees it, against the real chain of keys and observations."""

import chess
import numpy as np
import pytest

from obscuro.engine.chess_game import CAPPED, DRAW_WORD, STATE_WORDS, ChessGame, sighting
from obscuro.evaluation.factory import make_evaluator
from obscuro.rules.key import initial_key, key_after_other_move, key_after_own_move
from obscuro.rules.make import make_move
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_fen, legal_moves, move_to_uci
from obscuro.search.game import MAX, MIN

NOTHING_REPEATED = np.zeros(0, dtype=np.uint64)


@pytest.fixture(scope="module")
def game():
    return ChessGame(make_evaluator("material"))


def state_of(fen: str, quiet_plies: int = 0) -> np.ndarray:
    state = np.zeros((1, STATE_WORDS), dtype=np.uint64)
    state[0, :DRAW_WORD] = from_fen(fen)
    state[0, DRAW_WORD] = quiet_plies
    return state


@pytest.mark.parametrize("our_side", [0, 1])
def test_children_carry_the_keys_that_the_real_game_is_chained_by(game, our_side):
    game.set_turn(our_side, NOTHING_REPEATED)
    words = from_fen("r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1")
    columns = (our_side, 1 - our_side)  # the side of each column
    keys = np.array(
        [[int(initial_key(s, np.uint64(Observation.of(words, s).key()))) for s in columns]],
        dtype=np.uint64,
    )
    state = np.zeros((1, STATE_WORDS), dtype=np.uint64)
    state[0, :DRAW_WORD] = words
    expansion = game.expand(state, keys)
    assert expansion.player[0] == (MAX if our_side == 0 else MIN)
    for i, move in enumerate(legal_moves(words)):
        child = np.array(make_move(tuple(words), move), dtype=np.uint64)
        assert (expansion.states[i, :DRAW_WORD] == child).all()
        for column, side in enumerate(columns):
            seen = np.uint64(Observation.of(child, side).key())
            key = np.uint64(keys[0, column])
            wanted = (
                key_after_own_move(key, np.uint64(move), seen)
                if side == 0
                else key_after_other_move(key, seen)
            )
            assert int(expansion.keys[i, column]) == int(wanted), move_to_uci(move)


def test_values_are_ours_whoever_moves(game):
    # White can take the king: +1 for White, whose view is ours or the opponent's.
    fen = "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"
    words = from_fen(fen)
    capture = legal_moves(words).tolist().index(find_move(words, "e7e8"))
    for our_side, value in ((0, 1.0), (1, -1.0)):
        game.set_turn(our_side, NOTHING_REPEATED)
        expansion = game.expand(state_of(fen), np.ones((1, 2), dtype=np.uint64))
        assert expansion.values[capture] == value
        assert expansion.terminal[capture] == 1
        assert expansion.terminal.sum() == 1


def test_after_fifty_moves_values_are_capped_at_a_draw(game):
    game.set_turn(0, NOTHING_REPEATED)
    fen = "7k/8/8/8/8/8/4P3/QQ2K3 w - - 0 1"
    words = from_fen(fen)
    names = [move_to_uci(move) for move in legal_moves(words)]
    quiet, pawn = names.index("e1d1"), names.index("e2e3")
    expansion = game.expand(state_of(fen, 99), np.ones((1, 2), dtype=np.uint64))
    assert expansion.values[quiet] == 0
    assert expansion.values[pawn] > 0.5
    assert int(expansion.states[pawn, DRAW_WORD]) == 0
    below = game.expand(expansion.states[quiet : quiet + 1], np.ones((1, 2), dtype=np.uint64))
    assert (below.values <= 0).all()
    assert (below.states[:, DRAW_WORD] & CAPPED != 0).all()


def test_a_capture_starts_the_fifty_moves_anew(game):
    game.set_turn(0, NOTHING_REPEATED)
    fen = "7k/8/8/8/8/3r4/8/3RK3 w - - 0 1"
    names = [move_to_uci(move) for move in legal_moves(from_fen(fen))]
    expansion = game.expand(state_of(fen, 40), np.ones((1, 2), dtype=np.uint64))
    assert int(expansion.states[names.index("d1d3"), DRAW_WORD]) == 0
    assert int(expansion.states[names.index("e1e2"), DRAW_WORD]) == 41


def test_a_sighting_seen_twice_before_is_a_possible_draw(game):
    fen = "7k/8/8/8/8/8/8/QQ2K3 w - - 0 1"
    words = from_fen(fen)
    moves = legal_moves(words)
    child = np.array(make_move(tuple(words), moves[0]), dtype=np.uint64)
    seen = Observation.of(child, 0).key()
    game.set_turn(0, np.array([int(sighting(np.uint64(seen), child[7]))], dtype=np.uint64))
    expansion = game.expand(state_of(fen), np.ones((1, 2), dtype=np.uint64))
    capped = expansion.states[:, DRAW_WORD] & CAPPED != 0
    assert capped[0] and not capped.all()
    assert (expansion.values[capped] <= 0).all()


@pytest.mark.parametrize("our_side", [0, 1])
@pytest.mark.parametrize(("stalemate", "worth"), [("loss", 1.0), ("draw", 0.0)])
def test_a_stalemating_move_wins_or_draws_as_the_rule_says(our_side, stalemate, worth):
    fen = "8/8/8/8/8/p1p5/ppPpK3/kn6 w - - 0 1"
    names = [move_to_uci(move) for move in legal_moves(from_fen(fen))]
    stalemating = names.index("e2d1")
    game = ChessGame(make_evaluator("material"), stalemate)
    game.set_turn(our_side, NOTHING_REPEATED)
    expansion = game.expand(state_of(fen), np.ones((1, 2), dtype=np.uint64))
    assert expansion.terminal.tolist() == [name == "e2d1" for name in names]
    assert expansion.values[stalemating] == (worth if our_side == 0 else -worth)
    # All else is as it was: a king that can be captured above all.
    hanging = names.index("e2d2")
    assert expansion.values[hanging] == (-1 if our_side == 0 else 1)


def test_a_captured_king_wins_where_stalemate_is_a_draw():
    game = ChessGame(make_evaluator("material"), "draw")
    fen = "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"
    capture = [move_to_uci(move) for move in legal_moves(from_fen(fen))].index("e7e8")
    for our_side, value in ((0, 1.0), (1, -1.0)):
        game.set_turn(our_side, NOTHING_REPEATED)
        expansion = game.expand(state_of(fen), np.ones((1, 2), dtype=np.uint64))
        assert expansion.values[capture] == value


def test_start_position_has_twenty_children(game):
    game.set_turn(1, NOTHING_REPEATED)
    expansion = game.expand(state_of(chess.STARTING_FEN), np.ones((1, 2), dtype=np.uint64))
    assert len(expansion.states) == 20
    assert expansion.player[0] == MIN
