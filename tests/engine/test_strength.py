"""Levels of strength: what they limit, and that they play on sensibly."""

import itertools
from threading import Event

import pytest

from obscuro.engine.options import OptionError, Options
from obscuro.engine.player import Player
from obscuro.engine.strength import (
    LEAST_ELO,
    LEVELS,
    MOST_ELO,
    Level,
    Strength,
    level_numbered,
    strength_of,
)
from obscuro.matches.players import InProcessPlayer
from obscuro.matches.referee import play_game
from obscuro.rules.observation import Observation
from obscuro.rules.position import from_fen
from obscuro.search.parameters import SearchParameters

from .given_options import DEFAULTS
from .test_player import go, options, tell

WARMEST = LEVELS[0]


def quiet(text: str) -> None:
    del text


def at(level: Level, **values: object) -> Options:
    made = options(**values)
    for name, text in level.settings.items():
        made.set(name, text)
    return made


def amounts(strength: Strength) -> tuple[int, ...]:
    """All limits, each the larger the stronger."""
    return strength.nodes, strength.roots, strength.positions, -strength.temperature


# -- the table -------------------------------------------------------------------------------------


def test_each_level_is_stronger_than_the_one_before_and_limits_nothing_further():
    assert [level.number for level in LEVELS] == list(range(1, len(LEVELS) + 1))
    assert len({level.name for level in LEVELS}) == len(LEVELS)
    for one, other in itertools.pairwise(LEVELS):
        assert one.elo < other.elo
        pairs = list(zip(amounts(one.strength), amounts(other.strength), strict=True))
        assert all(less <= more for less, more in pairs)
        assert one.strength.nodes < other.strength.nodes


def test_a_level_is_found_by_its_number():
    assert [level_numbered(level.number) for level in LEVELS] == list(LEVELS)
    for wrong in (0, len(LEVELS) + 1):
        with pytest.raises(ValueError, match="between 1 and"):
            level_numbered(wrong)


def test_the_elo_of_a_level_gives_its_limits_and_one_between_lies_between():
    for level in LEVELS:
        assert strength_of(level.elo) == level.strength
    rows = [amounts(strength_of(elo)) for elo in range(LEAST_ELO, MOST_ELO + 1)]
    for one, other in itertools.pairwise(rows):
        assert all(less <= more for less, more in zip(one, other, strict=True))
    assert len(set(rows)) > 100
    for wrong in (LEAST_ELO - 1, MOST_ELO + 1):
        with pytest.raises(ValueError, match="between"):
            strength_of(wrong)


# -- the options -----------------------------------------------------------------------------------


def test_without_the_limit_every_option_counts_as_it_was_set():
    made = options(Threads=2, min_infoset_size=77)
    made.set("UCI_Elo", str(LEAST_ELO))
    effective = made.effective()
    assert effective.strength is None
    assert all(effective.get(option.name) == made.get(option.name) for option in made.table)
    assert Options().effective().search_parameters() == DEFAULTS


def test_a_strength_takes_one_thread_and_lowers_what_is_larger():
    strength = LEVELS[4].strength
    effective = at(LEVELS[4], Threads=2, max_kept_infosets=0).effective()
    assert effective.integer("Threads") == 1
    assert effective.integer("Max Positions") == strength.positions
    parameters = effective.search_parameters()
    roots = strength.roots
    assert parameters == SearchParameters(min_infoset_size=roots, max_kept_infosets=roots)
    assert at(LEVELS[8]).effective().integer("min_infoset_size") == LEVELS[8].strength.roots
    smaller = at(LEVELS[4], min_infoset_size=1, Max_Positions=1000).effective()
    assert smaller.integer("min_infoset_size") == 1
    assert at(LEVELS[4], posterior_draw=0.3).effective().number("posterior_draw") == 0.3
    assert smaller.integer("Max Positions") == 1000


@pytest.mark.parametrize("text", [str(LEAST_ELO - 1), str(MOST_ELO + 1), "", "strong"])
def test_an_elo_that_nobody_measured_is_refused(text):
    made = Options()
    before = made.get("UCI_Elo")
    with pytest.raises(OptionError, match="UCI_Elo must be"):
        made.set("UCI_Elo", text)
    assert made.get("UCI_Elo") == before


# -- play ------------------------------------------------------------------------------------------


def nodes_added(made: Options, **limits: int) -> int:
    player = Player(made, quiet)
    tell(player, 0, "e2e4 d7d5 b1c3 g8f6")
    choice = player.search(go(**limits), Event())
    player.close()
    assert choice.info is not None
    return choice.info.nodes


@pytest.mark.parametrize("limits", [{"nodes": 100_000}, {"movetime": 60_000}, {"infinite": True}])
def test_a_search_adds_the_nodes_of_its_level_whatever_else_it_may_take(limits):
    most = LEVELS[5].strength.nodes
    expansions = 16 * 60  # the last batch of leaves may go past the limit
    assert most <= nodes_added(at(LEVELS[5]), **limits) <= most + expansions


def test_a_search_adds_fewer_nodes_if_go_says_so():
    assert nodes_added(at(LEVELS[-1]), nodes=200) < LEVELS[-1].strength.nodes / 2


def test_the_belief_holds_no_more_than_the_level_remembers():
    sizes = {}
    for level in (LEVELS[0], LEVELS[-1]):
        player = Player(at(level), quiet)
        tell(player, 0, "a2a3 b8c6 a3a4 g8f6 a4a5 e7e6 h2h3 d7d6")
        player.update()
        sizes[level] = player.belief_size
        player.close()
    assert sizes[LEVELS[0]] <= LEVELS[0].strength.positions < sizes[LEVELS[-1]]


@pytest.mark.parametrize("level", [None, WARMEST])
def test_a_rebuilt_belief_is_news_at_full_strength_only(level):
    """The small belief of a weak level is rebuilt in many games."""
    warnings: list[str] = []
    player = Player(at(level) if level else options(), warnings.append)
    tell(player, 0, "e2e4")
    seen = from_fen("rnb1kbnr/pppppppp/8/8/4P2q/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2")
    player.opponent_move(Observation.of(seen, 0))  # no game leads there
    assert player.search(go(nodes=300), Event()).move is not None
    assert player.belief_rebuilds == 1
    assert len(warnings) == (0 if level else 1)
    player.close()


def test_the_weakest_level_takes_a_king_that_it_sees():
    start = from_fen("4k3/pppp1ppp/8/8/8/8/PPPPRPPP/3K4 w - - 0 1")
    for seed in range(1, 9):
        player = Player(at(WARMEST, Seed=seed), quiet)
        tell(player, 0, "", start)
        assert player.search(go(movetime=1000), Event()).move == "e2e8"
        player.close()


def played_at(level: Level | None) -> dict[str, float]:
    """What is played with a queen that may take a rook or be taken by a pawn."""
    start = from_fen("3rk3/ppp2ppp/4p3/3Q4/8/8/PPP2PPP/3RK3 w - - 0 1")
    player = Player(at(level) if level else options(), quiet)
    tell(player, 0, "", start)
    choice = player.search(go(nodes=2000), Event())
    player.close()
    assert choice.info is not None and choice.move in dict(choice.info.play)
    return dict(choice.info.play)


def test_a_weak_level_prefers_good_moves_and_the_stronger_one_more():
    plays = [played_at(level) for level in (LEVELS[0], LEVELS[2], LEVELS[4])]
    good = [play["d5d8"] for play in plays]
    bad = [play.get("d5e6", 0.0) for play in plays]
    assert good == sorted(good) and good[0] > 2 / len(plays[0])
    assert bad == sorted(bad, reverse=True) and bad[0] < 1 / len(plays[0])
    for play in plays:
        assert sum(play.values()) == pytest.approx(1)
        assert all(share <= play["d5d8"] for share in play.values())


def test_the_strongest_level_plays_what_its_search_says():
    assert LEVELS[-1].strength.temperature == 0
    assert len(played_at(LEVELS[-1])) <= SearchParameters().max_support


def test_at_a_level_the_same_seed_gives_the_same_moves():
    def moves() -> list[str | None]:
        found = []
        player = Player(at(LEVELS[1]), quiet)
        for line in ("", "e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6"):
            tell(player, 0, line)
            found.append(player.search(go(movetime=60_000), Event()).move)
        player.close()
        return found

    assert moves() == moves()


def test_a_game_between_two_levels_ends_by_the_rules():
    players = [InProcessPlayer(Player(at(level, Seed=3), quiet)) for level in LEVELS[:2]]
    record = play_game(*players, control=60_000)
    for player in players:
        player.close()
    assert record.regular and record.ending
