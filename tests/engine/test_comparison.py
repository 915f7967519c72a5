"""Two moves beside each other after a search, and the possible positions that tell them apart."""

from threading import Event

import numpy as np
import pytest

from obscuro.engine.knowledge import GameError
from obscuro.engine.player import Player
from obscuro.engine.report import Choice
from obscuro.engine.turn_report import MOST_REASONS, compare
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_fen
from obscuro.search.root_values import RootValues

from .given_options import EVEN
from .questioned import played
from .test_player import START, after, go, options, tell

# White has seen nothing of Black's last move. Only after Nc6 is d4 attacked.
HIDDEN_KNIGHT = from_fen("1n4k1/5ppp/8/8/8/8/6PP/3Q3K w - - 0 1")
KNIGHT_ON_C6 = "6k1/5ppp/2n5/8/8/8/6PP/3Q2K1 w - -"


@pytest.fixture
def player():
    made = Player(options(), lambda text: None)
    yield made
    made.close()


def stated(*words: np.ndarray) -> np.ndarray:
    """Return states of a search: positions with a word for draws."""
    return np.stack([np.append(each, np.uint64(0)) for each in words])


def test_the_position_in_which_the_queen_is_lost_is_named():
    # With all of the prior at the root every position weighs the same.
    player = Player(options(soft_root=1, **EVEN), lambda text: None)
    tell(player, 0, "h1g1 g7g6", HIDDEN_KNIGHT)
    player.search(go(nodes=30_000), Event())
    possible = len(player.knowledge.belief)
    found = player.compare("d1d4", "d1d2")
    queen, safe = found.moves
    assert (queen.move, safe.move) == ("d1d4", "d1d2") and queen.value < safe.value
    assert queen.nodes > 0 and safe.nodes > 0
    worst, *others = found.reasons
    assert worst.fen == KNIGHT_ON_C6
    assert worst.share == pytest.approx(1 / possible, abs=1e-4) and possible > 5
    assert worst.values[0] < -0.4 and worst.values[1] > 0.4
    assert all(each.values[0] > 0.4 for each in others)
    swapped = player.compare("d1d2", "d1d4")
    assert swapped.moves == (safe, queen)
    assert [each.fen for each in swapped.reasons] == [each.fen for each in found.reasons]
    assert swapped.reasons[0].values == worst.values[::-1]
    player.close()


def test_without_a_second_move_it_is_the_one_that_the_search_would_rather_play(player):
    tell(player, 0, "h1g1 g7g6", HIDDEN_KNIGHT)
    choice = player.search(go(nodes=5000), Event())
    policy = dict(choice.info.policy)
    likeliest = max(policy, key=policy.__getitem__)
    played, better = player.compare("h2h4").moves
    assert played.move == "h2h4" and better.move == likeliest
    assert better.probability == pytest.approx(policy[likeliest], abs=1e-3)
    assert player.compare(likeliest).moves[1].move != likeliest


def test_the_values_fit_the_value_of_the_search(player):
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    choice = player.search(go(nodes=5000), Event())
    for move, share in choice.info.policy:
        (found, _) = player.compare(move).moves
        assert found.value < choice.info.value + 0.05
        assert share < 0.2 or found.value == pytest.approx(choice.info.value, abs=0.05)


def test_a_position_counts_once_with_the_mean_of_its_histories():
    e4, d4 = after(START, "e2e4"), after(START, "d2d4")
    known = RootValues(
        stated(e4, d4, e4),
        np.array([0.25, 0.5, 0.25]),
        np.array([[0.0, 0.5], [0.0, 0.1], [-1.0, 0.5]], dtype=np.float32),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([0, 9]),
    )
    found = compare(known, ["a", "b"], "a", None)
    assert [(each.move, each.nodes) for each in found.moves] == [("a", 0), ("b", 9)]
    assert [each.value for each in found.moves] == pytest.approx([-0.25, 0.3])
    assert [each.share for each in found.reasons] == pytest.approx([0.5, 0.5])
    assert found.reasons[0].values == pytest.approx((-0.5, 0.5))
    assert found.reasons[1].values == pytest.approx((0.0, 0.1))


def test_positions_that_speak_for_the_worse_move_are_no_reasons():
    words = [after(START, f"{file}2{file}4") for file in "abcdefgh"]
    values = np.zeros((8, 2), dtype=np.float32)
    values[:, 0] = [0.9, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, -0.5]
    known = RootValues(
        stated(*words),
        np.full(8, 1 / 8),
        values,
        np.array([0, 1], dtype=np.float32),
        np.ones(2, int),
    )
    found = compare(known, ["a", "b"], "b", "a")
    gains = [each.values[1] - each.values[0] for each in found.reasons]
    assert gains == pytest.approx([0.9, 0.6, 0.5, 0.4, 0.3]) and len(gains) == MOST_REASONS


def test_a_position_that_adds_next_to_nothing_is_no_reason():
    words = [after(START, f"{file}2{file}4") for file in "abc"]
    values = np.array([[0.5, 0.0], [0.005, 0.0], [0.02, 0.0]], dtype=np.float32)
    known = RootValues(
        stated(*words),
        np.full(3, 1 / 3),
        values,
        np.array([0, 1], dtype=np.float32),
        np.ones(2, int),
    )
    found = compare(known, ["a", "b"], "a", "b")
    assert [each.values[0] for each in found.reasons] == pytest.approx([0.5, 0.02])


def test_what_cannot_be_compared_is_said_in_a_line(player):
    player.new_game(0, START)
    with pytest.raises(GameError, match="no search"):
        player.compare("e2e4")
    player.search(go(nodes=300), Event())
    for moves in (("e2e5",), ("e2e4", "e7e5")):
        with pytest.raises(GameError, match="not one of our moves"):
            player.compare(*moves)
    player.own_move("e2e4", None)
    player.update()
    with pytest.raises(GameError, match="gone on"):
        player.compare("e2e4")
    player.new_game(0, from_fen("7k/8/8/8/1p1p4/pP1P4/PP1P4/KRB5 w - - 0 1"))
    choice = player.search(go(nodes=300), Event())
    with pytest.raises(GameError, match="needed no search"):
        player.compare(choice.move)


def test_blacks_first_turn_is_compared_below_the_root(player):
    tell(player, 1, "e2e4")
    choice = player.search(go(nodes=3000), Event())
    found = player.compare("h7h5")
    assert found.moves[1].move == choice.info.policy[0][0]
    assert found.moves[0].value < found.moves[1].value + 0.01


def ask(player: Player, choice: Choice, board: FogOfWarBoard) -> None:
    assert choice.move is not None
    player.compare(choice.move)


def test_play_is_the_same_bit_for_bit_whether_it_is_asked_or_not():
    quiet = played(None)
    assert len(quiet) > 8
    assert played(ask) == quiet
