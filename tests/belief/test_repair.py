"""Positions drawn from what was believed before: valid, many, and near to the true one."""

from __future__ import annotations

from collections.abc import Iterator

import chess
import numpy as np
import numpy.typing as npt
import pytest

from obscuro.belief import Belief
from obscuro.belief.placement import QUEEN_KIND, STRICT
from obscuro.belief.rebuild import KEPT, LEAST, census
from obscuro.rules.layout import KINGS, KNIGHTS, PAWNS, QUEENS, ROOKS, STATE, WHITE
from obscuro.rules.position import from_fen
from tests.belief.games import Words, as_set, follow, random_game
from tests.belief.rebuilding import START, assert_explains, pawns_of, rebuilt
from tests.sizes import quick_among

CASTLING = "r3k2r/p1p2ppp/8/3nb3/3NB3/8/PPP2P1P/R3K2R w KQkq - 0 1"


def losses(
    seed: int, side: int, fen: str = chess.STARTING_FEN, few: int = 8
) -> Iterator[tuple[Words, Words, int]]:
    """Times at which a belief that is cut to a few positions may well have lost the true one.

    Yields positions believed in, the true one after the next move, and whether the enemy made it.
    """
    game = random_game(seed, 60, fen)
    belief = Belief(game.positions[0], side)
    rng = np.random.default_rng(seed)
    for ply in range(len(game.moves)):
        sample = belief.sample(few, rng)
        if not belief.our_turn:
            yield sample, game.positions[ply + 1], 1
        elif ply % 3 == 0:
            yield sample, game.positions[ply + 1], 0
        follow(belief, game, ply)
        if len(belief) > 20_000:
            break


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("seed", quick_among(range(4), lambda seed: seed == 0))
@pytest.mark.parametrize("fen", [chess.STARTING_FEN, CASTLING])
def test_what_is_drawn_explains_what_is_seen(fen: str, seed: int, side: int) -> None:
    first = from_fen(fen)
    for number, (earlier, truth, moves) in enumerate(losses(seed, side, fen)):
        if number % 4:
            continue
        result = rebuilt(earlier, truth, side, first, enemy_moves=moves, limit=300)
        assert result.level == STRICT
        assert_explains(result.positions, side, truth, first)
        rights = np.bitwise_or.reduce(np.array(earlier)[:, STATE])
        for words in result.positions:
            assert int(words[STATE]) & ~int(rights) & 0b11110 == 0


@pytest.mark.parametrize("side", quick_among([0, 1], lambda side: side == 1))
def test_there_are_enough_even_if_hardly_anything_was_believed(side: int) -> None:
    game = random_game(2, 30)
    for ply in range(8, 30, 2):
        earlier, truth = game.positions[ply - 8 + side], game.positions[ply + side]
        result = rebuilt([earlier], truth, side, enemy_moves=4, remaining=census(truth, 1 - side))
        assert LEAST <= len(result.positions) <= KEPT
        as_set(result.positions)


def test_the_same_seed_draws_the_same() -> None:
    earlier, truth, moves = list(losses(1, 0))[10]
    first, second, other = (
        rebuilt(earlier, truth, 0, enemy_moves=moves, seed=seed).positions for seed in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert as_set(first) != as_set(other)


def misplaced(positions: Words, truth: Words, colour: int) -> npt.NDArray[np.int64]:
    """How many pieces of `colour` are not where they are in the true position: int64[n]."""
    count = []
    for words in positions:
        number = 0
        for board in range(WHITE):
            theirs, there = (
                int(w[board]) & (int(w[WHITE]) if colour == 0 else ~int(w[WHITE]))
                for w in (truth, words)
            )
            number += (theirs & ~there).bit_count()
        count.append(number)
    return np.array(count)


def test_what_is_drawn_is_as_near_to_the_truth_as_what_was_believed() -> None:
    """Also after its repair, and with all the variety that is added to few positions."""
    before, now = [], []
    for seed in range(6):
        for earlier, truth, moves in list(losses(seed, seed % 2))[12:40:4]:
            result = rebuilt(earlier, truth, seed % 2, enemy_moves=moves, limit=100)
            before.append(misplaced(earlier, truth, 1 - seed % 2).mean())
            now.append(misplaced(result.positions, truth, 1 - seed % 2).mean())
    assert len(before) >= 20
    assert np.mean(now) < np.mean(before) + 0.5


# -- what the past tells --------------------------------------------------------------------------


def share(positions: Words, kind: int, square: int) -> float:
    """In how many of the positions a black piece of a board stands on a square, as a fraction."""
    boards = positions[:, kind] & ~positions[:, WHITE]
    return float((boards >> np.uint64(square) & np.uint64(1)).mean())


def occupied(positions: Words, square: int) -> float:
    return sum(share(positions, board, square) for board in range(WHITE))


def test_where_a_piece_of_ours_was_captured_an_enemy_stands() -> None:
    """Our knight on h6 has gone, and we don't see who took it: not one that we thought could."""
    earlier = from_fen("rnbqk2r/pppp1p1p/7N/8/8/8/PPPPPPPP/RNBQKB1R b KQkq - 0 1")
    truth = from_fen("rnbqk2r/pppp1p1p/7n/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1")
    result = rebuilt([earlier], truth, 0, enemy_moves=1)
    assert occupied(result.positions, chess.H6) == 1.0
    assert pawns_of(truth, 1) and share(result.positions, KINGS, chess.E8) > 0.5


def test_our_pawn_may_have_been_captured_en_passant() -> None:
    """It has just made its double push, and Black's pawn may now stand behind where it stood."""
    earlier = from_fen("4k3/8/8/8/2p1P1p1/8/8/7K b - - 0 1")
    truth = from_fen("4k3/8/8/8/2p3p1/4p3/8/7K w - - 0 1")
    result = rebuilt([earlier], truth, 0, earlier, enemy_moves=1, remaining=census(earlier, 1))
    assert 0 < occupied(result.positions, chess.E4) < 1


def test_a_move_that_explains_what_is_seen_is_played() -> None:
    """The queen comes from d8; only Black's knight was not where it was thought to be."""
    earlier = from_fen("rnbqkb1r/pppp1ppp/4p3/8/6P1/5N2/PPPPPP1P/RNBQKB1R b KQkq - 0 1")
    truth = from_fen("rnb1kb1r/pppp1ppp/4pn2/8/6Pq/5N2/PPPPPP1P/RNBQKB1R w KQkq - 0 1")
    positions = rebuilt([earlier], truth, 0, enemy_moves=1).positions
    assert share(positions, QUEENS, chess.H4) == 1.0
    assert share(positions, QUEENS, chess.D8) == 0.0
    assert np.median(misplaced(positions, truth, 1)) <= 2  # no other piece has moved in most


def test_what_we_have_just_seen_is_still_there() -> None:
    """Our queen leaves d4, and sees a rook on c6 where none was thought to be."""
    earlier = from_fen("1r2k3/pp1n1pp1/8/8/3Q4/8/3P4/4K3 w - - 0 1")
    truth = from_fen("4k3/pp1n1pp1/2r5/8/8/8/2QP4/4K3 b - - 0 1")
    positions = rebuilt([earlier], truth, 0, earlier).positions
    assert share(positions, KNIGHTS, chess.D7) == 1.0
    assert share(positions, PAWNS, chess.A7) == 1.0
    assert share(positions, PAWNS, chess.G7) == 1.0
    assert occupied(positions, chess.D6) == 0.0
    assert share(positions, ROOKS, chess.C6) == 1.0
    assert share(positions, ROOKS, chess.B8) == 0.0


def test_a_pawn_captured_en_passant_is_not_still_there() -> None:
    """We saw it before our move, and do not see its square afterwards."""
    earlier = from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    truth = from_fen("8/4k3/3P4/8/8/8/8/4K3 b - - 0 1")
    positions = rebuilt([earlier], truth, 0, earlier).positions
    assert occupied(positions, chess.D5) == 0.0
    assert share(positions, KINGS, chess.E7) == 1.0


def test_what_was_seen_gives_way_if_it_cannot_be() -> None:
    """As before, but two positions believed in disagree about what we saw."""
    one = from_fen("1r2k3/pp1n1pp1/8/8/3Q4/8/3P4/4K3 w - - 0 1")
    other = from_fen("1r2k3/pp3pp1/8/8/3Q4/8/3P4/4K1n1 w - - 0 1")
    truth = from_fen("4k3/pp3pp1/2r4n/8/8/8/2QP4/4K3 b - - 0 1")
    result = rebuilt([one, other], truth, 0, one)
    assert result.level == STRICT
    assert 0 < share(result.positions, KNIGHTS, chess.D7) < 1


def test_without_captures_every_pawn_is_on_its_file() -> None:
    truth = from_fen("rnbqkb1r/ppp2ppp/3pp3/8/4P1n1/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1")
    result = rebuilt([START], truth, 0, enemy_moves=3)
    assert result.level == STRICT
    for words in result.positions:
        pawns = int(pawns_of(words, 1))
        assert all((pawns & file).bit_count() == 1 for file in chess.BB_FILES)


def test_promoted_pieces_stay() -> None:
    """A pawn has become a queen out of our sight; it does not become a pawn again."""
    first = from_fen("r1bqkbnr/pppppp1p/8/8/8/8/PPPPPP2/RNBQKB2 b Qkq - 0 1")
    earlier = from_fen("r1bqkbnr/pppppp2/8/8/8/8/PPPPPP2/RNBQKBq1 b Qkq - 0 1")
    truth = from_fen("r1bqkb1r/pppppp2/8/5n2/2B1P1q1/8/PPPP1P2/RNBQK3 w Qkq - 0 1")
    positions = rebuilt([earlier], truth, 0, first, enemy_moves=1).positions
    assert {int(census(words, 1)[QUEEN_KIND]) for words in positions} == {2}


def test_a_king_that_moved_is_not_far() -> None:
    """We see the square where it stood, empty."""
    earlier = from_fen("4k3/pppp1ppp/8/8/8/8/8/K3R3 b - - 0 1")
    truth = from_fen("5k2/pppp1ppp/8/8/8/8/8/K3R3 w - - 0 1")
    positions = rebuilt([earlier, earlier], truth, 0, earlier, enemy_moves=1).positions
    shares = [share(positions, KINGS, square) for square in chess.SQUARES]
    near = shares.pop(chess.F8), shares.pop(chess.D8)
    assert min(near) > 1.5 * max(shares)
