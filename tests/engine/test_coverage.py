"""What the player says of a position after its search, and that the question changes nothing."""

from threading import Event

import pytest

from obscuro.engine.knowledge import GameError
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import Choice, Coverage
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board, from_fen

from .questioned import played
from .test_player import START, after, go, options, tell


@pytest.fixture
def player():
    made = Player(options(), lambda text: None)
    yield made
    made.close()


def test_a_known_position_is_all_of_the_root(player):
    player.new_game(0, START)
    player.search(go(nodes=500), Event())
    told = player.coverage(START)
    assert told.root is not None
    assert told == Coverage(True, True, True, pytest.approx(1.0), 1.0, told.root)
    assert told.root.fresh == 1.0
    assert told.root.star is None and told.root.slack is None
    other = after(after(START, "e2e4"), "e7e5")
    assert player.coverage(other) == Coverage(False, False, False, 0.0, None, told.root)


def test_the_ranks_are_those_of_the_weights(player):
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    player.search(go(nodes=3000), Event())
    answers = [player.coverage(words) for words in player.knowledge.belief.positions]
    ranks = [answer.rank or 0 for answer in answers]
    assert sum(ranks) == len(ranks) * (len(ranks) + 1) / 2
    by_rank = sorted(answers, key=lambda answer: answer.rank or 0)
    weights = [answer.weight or 0 for answer in by_rank]
    assert weights == sorted(weights, reverse=True)


def test_the_whole_belief_shares_the_root_where_it_is_small(player):
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    player.search(go(nodes=3000), Event())
    positions = player.knowledge.belief.positions
    assert len(positions) > 5
    answers = [player.coverage(words) for words in positions]
    assert all(answer.in_belief and answer.in_infoset for answer in answers)
    assert all(answer.expanded for answer in answers)
    assert sum(answer.weight or 0 for answer in answers) == pytest.approx(1, abs=1e-5)


def test_a_root_of_few_positions_leaves_the_others_out():
    player = Player(options(min_infoset_size=3), lambda text: None)
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    player.search(go(nodes=3000), Event())
    answers = [player.coverage(words) for words in player.knowledge.belief.positions]
    inside = [answer for answer in answers if answer.in_infoset]
    assert all(answer.in_belief for answer in answers)
    assert len(inside) == 3
    assert all(answer.weight == 0 for answer in answers if not answer.in_infoset)
    player.close()


def test_a_position_that_was_expanded_while_it_searched_does_not_count_as_expanded():
    player = Player(options(), lambda text: None)
    tell(player, 0, "e2e4 d7d5 e4d5 g8f6")
    build = player.begin_search

    def without_expansions(search, deadline, stop):
        begin = search.begin
        expand_ours = search.expand_our_infoset
        search.begin = lambda key, new, expansions, root_key=None, **more: begin(
            key, new, [], root_key, **more
        )
        search.expand_our_infoset = lambda chunk, late: None
        build(search, deadline, stop)
        search.begin, search.expand_our_infoset = begin, expand_ours

    player.begin_search = without_expansions
    choice = player.search(go(nodes=20_000), Event())
    assert choice.info is not None and choice.info.expansions > 100
    answers = [player.coverage(words) for words in player.knowledge.belief.positions]
    assert all(answer.in_infoset for answer in answers)
    assert not any(answer.expanded for answer in answers)
    player.close()


def test_our_first_turn_as_black_is_asked_about_below_the_root(player):
    words = tell(player, 1, "e2e4")
    player.search(go(nodes=3000), Event())
    answers = [player.coverage(each) for each in player.knowledge.belief.positions]
    assert player.coverage(words).in_belief
    assert all(answer.in_infoset and answer.expanded for answer in answers)
    assert sum(answer.weight or 0 for answer in answers) == pytest.approx(1, abs=1e-5)


def test_a_move_without_a_search_tells_of_the_belief_alone(player):
    words = from_fen("7k/8/8/8/1p1p4/pP1P4/PP1P4/KRB5 w - - 0 1")
    player.new_game(0, words)
    player.search(go(nodes=1000), Event())
    assert player.coverage(words) == Coverage(True, None, None, None)


def test_there_must_have_been_a_search_in_this_game_and_on_this_turn(player):
    player.new_game(0, START)
    with pytest.raises(GameError, match="no search"):
        player.coverage(START)
    player.search(go(nodes=300), Event())
    words = after(START, "e2e4")
    player.own_move("e2e4", None)
    assert player.coverage(START).in_belief  # what was told still waits
    player.update()
    with pytest.raises(GameError, match="gone on"):
        player.coverage(words)
    player.new_game(0, START)
    with pytest.raises(GameError, match="no search"):
        player.coverage(START)
    player.search(go(nodes=300), Event())
    player.set_options(Options())
    with pytest.raises(GameError, match="no search"):
        player.coverage(START)


def ask(player: Player, choice: Choice, board: FogOfWarBoard) -> None:
    assert player.coverage(from_board(board)).in_belief
    player.coverage(START)


def test_play_is_the_same_bit_for_bit_whether_it_is_asked_or_not():
    quiet = played(None)
    assert len(quiet) > 8
    assert played(ask) == quiet
