"""Rebuilding a belief from what is known now: what is drawn explains it, and play goes on."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from obscuro.belief import Belief, ContradictionError
from obscuro.belief.placement import (
    BOARD_OF_KIND,
    DARK_BISHOP,
    KINDS,
    LIGHT_BISHOP,
    PAWN_KIND,
    QUEEN_KIND,
    ROOK_KIND,
)
from obscuro.belief.rebuild import census, hidden_pieces
from obscuro.rules.observation import Observation
from obscuro.rules.position import find_move, from_board, from_fen, to_fen
from tests.belief.games import Game, after, as_set, follow, random_game
from tests.belief.rebuilding import assert_explains
from tests.sizes import quick_among
from tests.well_formed import is_well_formed

START = from_board(chess.Board())


def lost(game: Game, side: int, ply: int) -> Belief:
    """The belief at this ply of the game, had all its positions been lost just before."""
    belief = Belief(game.positions[0], side)
    for number in range(ply):
        follow(belief, game, number)
    return belief


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("seed", quick_among(range(8), lambda seed: seed < 2))
def test_what_is_drawn_explains_what_is_seen(seed: int, side: int) -> None:
    game = random_game(seed, 80)
    belief = Belief(game.positions[0], side)
    for ply in range(len(game.moves)):
        if len(belief) > 20_000:
            break
        follow(belief, game, ply)
        if ply % 7 == 0:
            warning = belief.rebuild(Observation.of(game.positions[ply + 1], side))
            assert_explains(
                belief.positions, belief.side, game.positions[ply + 1], game.positions[0]
            )
            assert str(len(belief)) in warning
            assert belief.exact is False
            as_set(belief.positions)


def test_many_positions_are_drawn_if_there_are_many() -> None:
    belief = lost(random_game(3, 30), 0, 20)
    belief.rebuild(Observation.of(random_game(3, 30).positions[20], 0))
    assert len(belief) >= 1000


def test_the_cap_holds_for_a_rebuild() -> None:
    belief = Belief(START, 1, max_positions=50)
    belief.after_opponent_move(Observation.of(from_fen("8/8/8/8/8/k7/8/7K b - - 0 1"), 1))
    assert 0 < len(belief) <= 50


def test_a_lie_leads_to_a_rebuild_and_play_goes_on() -> None:
    """Black is shown a position that no move of White leads to; then the game takes its course."""
    belief = Belief(START, 1)
    game = random_game(5, 20, "rnbqkbnr/1ppppppp/8/p7/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2")
    update = belief.after_opponent_move(Observation.of(game.positions[0], 1))
    assert update.warning is not None
    assert belief.rebuilds == 1 and not update.exact
    assert_explains(belief.positions, belief.side, game.positions[0], START)
    for ply in range(len(game.moves)):
        follow(belief, game, ply)
        assert len(belief) > 0


def test_an_own_move_that_no_position_allows_leads_to_a_rebuild() -> None:
    truth = from_fen("rnbqkbnr/pppppppp/8/8/8/4P3/PPPP1PPP/RNBQKBNR b KQkq - 0 1")
    belief = Belief(START, 0)
    update = belief.after_own_move("e3e4", Observation.of(truth, 0))
    assert update.warning is not None
    assert_explains(belief.positions, belief.side, truth, START)
    for move in ("e3e4", 0x12345, 0):
        belief = Belief(START, 0)
        assert belief.after_own_move(move).positions == 0
        assert not belief.exact
        assert belief.certain_enemy_king() is None
        assert len(belief.sample(3, np.random.default_rng(0))) == 0
        update = belief.after_opponent_move(Observation.of(START, 0))
        assert update.warning is not None and len(belief) > 0


def test_a_rebuild_repeats_itself_under_the_same_seed() -> None:
    observation = Observation.of(from_fen("8/8/8/8/8/k7/8/7K b - - 0 1"), 1)
    drawn = []
    for seed in (1, 1, 2):
        belief = Belief(START, 1, seed=seed)
        belief.after_opponent_move(observation)
        drawn.append(belief.positions)
    assert np.array_equal(drawn[0], drawn[1])
    assert as_set(drawn[0]) != as_set(drawn[2])


def test_what_was_believed_is_kept_where_possible() -> None:
    """All White knows is that a1 holds no rook; half of the draws leave all else where it was."""
    start = from_fen("r3k3/ppp2ppp/8/8/8/8/8/R3K3 b - - 0 1")
    truth = from_fen("4k3/ppp2ppp/8/8/8/8/8/R3Kr2 w - - 0 1")
    belief = Belief(start, 0)
    assert belief.after_opponent_move(Observation.of(truth, 0)).warning is not None
    assert belief.contains(truth)


# -- material -------------------------------------------------------------------------------------


def counts(text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A census, by letters; l and d are bishops on light and on dark squares."""
    return np.array([text.count(letter) for letter in "pnldrqk"], dtype=np.int64)


def test_a_census_tells_bishops_by_the_colour_of_their_squares() -> None:
    assert census(START, 0).tolist() == [8, 2, 1, 1, 2, 1, 1]
    only_f1 = from_fen("4k3/8/8/8/8/8/8/4KB2 w - - 0 1")
    assert census(only_f1, 0)[LIGHT_BISHOP] == 1
    assert census(only_f1, 0)[DARK_BISHOP] == 0


@pytest.mark.parametrize(
    ("remaining", "seen", "hidden"),
    [
        ("ppnldrrqk", "pr", "pnldrqk"),
        ("ppqk", "qqk", "p"),  # a pawn was promoted
        ("ppqk", "qqq", "k"),  # both were
        ("pk", "qqq", "k"),  # there are more than there can be
        ("pplk", "dk", "pl"),
    ],
)
def test_hidden_pieces_are_what_remains_less_what_is_seen(
    remaining: str, seen: str, hidden: str
) -> None:
    assert hidden_pieces(counts(remaining), counts(seen)).tolist() == counts(hidden).tolist()


def test_a_captured_promoted_piece_was_a_pawn() -> None:
    remaining = counts("pppk")
    remaining[QUEEN_KIND] = -1
    assert hidden_pieces(remaining, counts("")).tolist() == counts("ppk").tolist()


def test_captures_count() -> None:
    """White captures a rook, and a pawn en passant; what is hidden afterwards has neither."""
    fen = "r3k3/4p3/8/3P4/8/8/8/R3K3 w - - 0 1"
    belief = Belief(from_fen(fen), 0)
    truth = from_fen(fen)
    for uci in ("a1a8", "e7e5", "d5e6", "e8f8"):
        word = find_move(truth, uci)
        assert word is not None
        follow(belief, Game([truth, truth := after(truth, word)], [word]), 0)
    belief.rebuild(Observation.of(truth, 0))
    left = {tuple(census(words, 1).tolist()) for words in belief.positions}
    assert left == {tuple(counts("k").tolist())}


def test_no_pawn_is_put_on_a_back_rank_and_no_piece_on_a_seen_square() -> None:
    belief = Belief(START, 0)
    truth = from_fen("rnbqkbnr/pppppppp/8/8/8/8/8/K6Q w kq - 0 1")
    belief.after_own_move("e2e4")
    belief.after_opponent_move(Observation.of(truth, 0))
    assert belief.rebuilds == 1
    assert_explains(belief.positions, belief.side, truth, START)
    assert all(census(words, 1)[PAWN_KIND] == 8 for words in belief.positions)


def test_blockers_and_pawn_diagonals_are_respected() -> None:
    """Something hidden blocks e4, and nothing black can stand on d5 or f5."""
    truth = from_fen("4k3/8/8/4n3/4P3/8/8/K7 w - - 0 1")
    first = from_fen("4k3/8/6n1/8/4P3/8/8/K7 b - - 0 1")
    belief = Belief(first, 0)
    belief.rebuild(Observation.of(first, 0))
    belief.after_opponent_move(Observation.of(truth, 0))
    belief.rebuild(Observation.of(truth, 0))
    assert_explains(belief.positions, belief.side, truth, first)
    for words in belief.positions:
        occupied = int(np.bitwise_or.reduce(words[:6]))
        assert occupied >> chess.E5 & 1
        assert not occupied >> chess.D5 & 1 and not occupied >> chess.F5 & 1


def test_castling_rights_need_king_and_rook_at_home_and_a_past() -> None:
    truth = from_fen("r3k2r/8/8/8/8/8/8/K7 w kq - 0 1")
    belief = Belief(from_fen("r3k2r/8/8/8/8/8/8/K7 w k - 0 1"), 0)
    belief.rebuild(Observation.of(truth, 0))
    rights = {int(words[7]) >> 1 & 15 for words in belief.positions}
    assert rights == {0, 4}
    for words in belief.positions:
        assert is_well_formed(words)


def test_our_double_push_can_be_answered_en_passant() -> None:
    truth = from_fen("4k3/8/8/8/3pP3/8/8/K7 b - e3 0 1")
    first = from_fen("4k3/8/8/8/3p4/8/4P3/K7 w - - 0 1")
    belief = Belief(first, 0)
    belief.after_own_move("e2e4", Observation.of(truth, 0))
    assert belief.contains(truth)
    belief.rebuild(Observation.of(truth, 0))
    assert_explains(belief.positions, belief.side, truth, first)
    for words in belief.positions:
        beside = int(words[0]) & ~int(words[6]) & (1 << chess.D4 | 1 << chess.F4)
        assert (int(words[7]) >> 5 == chess.E3) == bool(beside)


def test_where_we_can_capture_en_passant_the_pawn_has_just_come_from_its_home() -> None:
    truth = from_fen("4k3/8/8/3Pp3/8/8/8/K7 w - e6 0 1")
    belief = Belief(truth, 0)
    belief.rebuild(Observation.of(truth, 0))
    assert_explains(belief.positions, belief.side, truth, truth)
    for words in belief.positions:
        assert not int(np.bitwise_or.reduce(words[:6])) >> chess.E7 & 1


# -- contradictions -------------------------------------------------------------------------------


def test_too_many_enemies_are_accepted_as_seen() -> None:
    """More queens than Black can ever have had: the numbers give way, not the observation."""
    truth = from_fen("qqqqqqqq/qqqqqqqq/8/8/8/8/8/R3K2R w - - 0 1")
    belief = Belief(from_fen("4k3/8/8/8/8/8/8/R3K2R b - - 0 1"), 0)
    belief.after_opponent_move(Observation.of(truth, 0))
    for words in belief.positions:
        assert Observation.of(words, 0) == Observation.of(truth, 0)


def test_missing_blockers_are_invented() -> None:
    """Two pawns are blocked, but Black has nothing left but its king."""
    truth = from_fen("4k3/8/8/1n2n3/1P2P3/8/8/K7 w - - 0 1")
    belief = Belief(from_fen("4k3/8/8/8/1P2P3/8/8/K7 w - - 0 1"), 0)
    belief.rebuild(Observation.of(truth, 0))
    assert len(belief) > 0
    for words in belief.positions:
        assert Observation.of(words, 0) == Observation.of(truth, 0)
        assert is_well_formed(words)


# What the text of an observation cannot say, but a belief must not stumble over.
IMPOSSIBLE = ["kkk5/8/8/8/8/8/8/KK6", "PPPP4/8/8/8/8/8/8/Kppp4"]
SENSELESS = [
    Observation.parse("********/********/********/********/********/********/********/K*******"),
    Observation.parse("8/8/8/8/8/8/8/K7"),  # all is seen, and there is no black king
    *(Observation.on(chess.BaseBoard(placement), chess.BB_ALL) for placement in IMPOSSIBLE),
    Observation.parse("********/********/********/****q***/********/********/********/K*******,e6"),
    Observation.parse("8/8/8/8/8/8/8/K7,a1"),
    Observation.parse("8/8/8/8/8/8/8/K7,h8"),
]


@pytest.mark.parametrize("observation", SENSELESS, ids=Observation.text)
@pytest.mark.parametrize("ours", [True, False])
def test_an_observation_that_makes_no_sense_still_gives_positions_to_play_in(
    observation: Observation, ours: bool
) -> None:
    belief = Belief(START, 0)
    if not ours:
        belief.after_own_move("e2e4")
        update = belief.after_opponent_move(observation)
    else:
        update = belief.after_own_move("e2e4", observation)
    assert update.warning is not None and "contradict" in update.warning
    assert len(belief) > 0
    for words in belief.positions:
        assert is_well_formed(words), to_fen(words)


def test_after_a_lie_nothing_is_certain_any_more() -> None:
    """All of Black is seen, as far as we are told; but we were told wrong before."""
    truth = from_fen("4k3/8/8/8/8/8/8/R3K2R b - - 0 1")
    belief = Belief(truth, 0)
    elsewhere = from_fen("8/8/k7/8/8/8/8/R3K2R w - - 0 1")  # four squares in one move
    belief.after_opponent_move(Observation.of(elsewhere, 0))
    assert len(belief) == 1 and belief.rebuilds == 1
    assert not belief.exact


def test_without_our_king_nothing_can_be_done() -> None:
    belief = Belief(START, 0)
    belief.after_own_move("e2e4")
    with pytest.raises(ContradictionError, match="king"):
        belief.after_opponent_move(Observation.parse("8/8/8/8/8/8/8/7k"))
    assert len(belief) == 0
    assert belief.our_turn
    belief.rebuild(Observation.of(START, 0))
    assert len(belief) > 0


def test_every_kind_has_its_board() -> None:
    assert len(BOARD_OF_KIND) == KINDS == len(census(START, 0))
    assert BOARD_OF_KIND[ROOK_KIND] == 3
