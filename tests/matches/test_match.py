"""What the games of a match say, and the statistics of moves."""

import sys
from pathlib import Path

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.matches.elo import Tally
from obscuro.matches.event import Event
from obscuro.matches.game_record import GameRecord, Turn
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.standings import MatchResult, Statistics
from obscuro.matches.uci_player import UciPlayer
from obscuro.rules.board import FogOfWarBoard
from tests.matches.events import match_event, scripted_workers
from tests.matches.scripted import Scripted

FAKE = [sys.executable, "-m", "tests.matches.fake_engine"]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


def won_by(winner: chess.Color | None) -> GameRecord:
    return GameRecord("w", "b", FogOfWarBoard(), winner, "decided")


def result_of(
    scores: str, order: list[int] | None = None, event: Event | None = None
) -> MatchResult:
    """A match with these scores of the first player, a digit a game: 0 lost, 1 drawn, 2 won."""
    event = event or match_event(len(scores))
    result = MatchResult(event)
    for number in order or range(len(scores)):
        first = event.tasks[number].white == 0
        winner = {"0": not first, "1": None, "2": first}[scores[number]]
        result.add(event.tasks[number], won_by(winner))
    return result


def test_the_first_player_is_credited_with_either_colour() -> None:
    # A resigns at once; with Black it does so after the other's move.
    event = match_event(4)
    ended = play_event(
        event,
        scripted_workers(lambda name: Scripted([] if name == "a" else ["e2e4"], name)),
    )
    result = MatchResult(event, ended.games)
    assert result.tally() == Tally(0, 0, 4)
    assert result.tally(chess.WHITE) == result.tally(chess.BLACK) == Tally(0, 0, 2)
    assert [n for n, _ in result.irregular()] == [0, 1, 2, 3]
    assert (result.first, result.second) == ("a", "b")


def test_an_engine_process_plays_both_colours() -> None:
    event = match_event(2, max_plies=30)
    ended = play_event(
        event,
        scripted_workers(
            lambda name: UciPlayer(FAKE, name=name) if name == "a" else RandomPlayer(name)
        ),
    )
    result = MatchResult(event, ended.games)
    statistics = result.statistics(0)
    assert statistics.means["infosets"] == 20
    assert statistics.means["evaluations"] == 50
    assert statistics.largest_belief == 2
    assert result.statistics(1).means["nodes"] is None
    assert result.statistics(0).moves + result.statistics(1).moves == sum(
        len(game.plies) for game in ended.games.values()
    )


def test_pairs_are_two_games_with_one_opening() -> None:
    result = result_of("2012", order=[2, 0, 3, 1])
    assert result.pairs == [(0.5, 1.0), (1.0, 0.0)]
    assert result.pair_counts() == [0, 0, 1, 1, 0]


def test_a_game_without_its_twin_counts_in_the_score_only() -> None:
    result = result_of("202")
    assert result.tally() == Tally(2, 0, 1)
    assert result.pairs == [(1.0, 0.0)]
    assert result.elo().difference == 0


def test_without_a_pair_games_are_the_samples() -> None:
    result = result_of("2..2", order=[0, 3])
    assert result.pairs == []
    assert result.elo().low > 0 or result.elo().high == float("inf")


def test_the_sequential_test_ends_the_match_at_its_first_bound() -> None:
    event = match_event(100, sprt=SprtBounds(0, 200))
    result = MatchResult(event)
    reasons = []
    for task in event.tasks:
        reasons.append(result.add(task, won_by(task.white == 0)))
        if reasons[-1] is not None:
            break
    assert reasons[-1] == "SPRT accepted H1"
    assert result.test is not None and result.test.llr >= result.test.bounds.upper
    assert len(reasons) % 2 == 0, "only a complete pair can decide"
    again = MatchResult(event, result.games)
    assert again.test is not None and again.test.llr == result.test.llr


def test_what_a_player_was_told() -> None:
    result = result_of("20")
    assert (result.told(0), result.told(1)) == ("own observations", "own observations")


def test_statistics_average_over_the_moves_that_said_something() -> None:
    turns = [
        Turn("a", 0.1, Report(belief=10, exact=True, nodes=100, depth=2.0), belief_checks=2),
        Turn("b", 0.3, Report(belief=30, exact=False, depth=4.0), belief_checks=1),
        Turn("c", 0.2),
    ]
    statistics = Statistics.of(turns, movetime=250)
    assert statistics.moves == 3
    assert statistics.means["belief"] == 20
    assert statistics.means["nodes"] == 100
    assert statistics.means["depth"] == 3
    assert statistics.means["carried"] is None
    assert (statistics.largest_belief, statistics.inexact) == (30, 1)
    assert statistics.overrun == pytest.approx(50)
    assert statistics.seconds == pytest.approx(0.2)
    assert statistics.belief_checks == 3


def test_no_moves_no_statistics() -> None:
    statistics = Statistics.of([], movetime=250)
    assert (statistics.moves, statistics.overrun, statistics.largest_belief) == (0, None, None)
