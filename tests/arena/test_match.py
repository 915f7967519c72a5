"""Matches end to end, and the statistics that come of them."""

import sys
from pathlib import Path

import chess
import pytest

from obscuro.arena.elo import Tally
from obscuro.arena.game_record import Turn
from obscuro.arena.match import MatchResult, play_match
from obscuro.arena.move_report import Report
from obscuro.arena.players import RandomPlayer
from obscuro.arena.statistics import Statistics
from obscuro.arena.time_control import TimeControl
from obscuro.arena.uci_player import UciPlayer
from obscuro.arena.uci_process import EngineError
from tests.arena.scripted import Scripted

FAKE = [sys.executable, "-m", "tests.arena.fake_engine"]


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[2])


def test_random_against_random() -> None:
    heard = []
    result = play_match(
        lambda: RandomPlayer("one"),
        lambda: RandomPlayer("two"),
        games=6,
        movetime=1,
        on_game=lambda number, game: heard.append((number, game.white)),
    )
    assert heard == [(n, "one" if n % 2 == 0 else "two") for n in range(6)]
    tally, white = result.tally(), result.tally(chess.WHITE)
    black = result.tally(chess.BLACK)
    assert (tally.games, white.games, black.games) == (6, 3, 3)
    assert tally.points == white.points + black.points
    assert result.irregular() == []
    assert result.statistics(True).moves + result.statistics(False).moves == sum(
        len(game.plies) for game in result.games.values()
    )


def test_concurrent_games_are_the_same_games() -> None:
    results = [
        play_match(
            RandomPlayer, RandomPlayer, games=5, movetime=1, concurrency=concurrency, max_plies=50
        )
        for concurrency in (1, 3)
    ]
    moves = [{n: g.board.move_stack for n, g in r.games.items()} for r in results]
    assert moves[0] == moves[1]
    assert len(moves[0]) == 5


def test_the_first_player_is_credited_with_either_colour() -> None:
    # A resigns at once; with Black it does so after the other's move.
    result = play_match(
        lambda: Scripted([], "quitter"), lambda: Scripted(["e2e4"]), games=4, movetime=1
    )
    assert result.tally() == Tally(0, 0, 4)
    assert [n for n, _ in result.irregular()] == [0, 1, 2, 3]
    assert (result.first, result.second) == ("quitter", "script")


def test_an_engine_process_plays_both_colours() -> None:
    result = play_match(lambda: UciPlayer(FAKE), RandomPlayer, games=2, movetime=1, max_plies=30)
    statistics = result.statistics(True)
    assert statistics.means["infosets"] == 20
    assert statistics.means["evaluations"] == 50
    assert statistics.largest_belief == 2
    assert result.statistics(False).means["nodes"] is None


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_match_that_is_broken_off_keeps_its_games_and_closes_its_players(
    concurrency: int,
) -> None:
    players: list[Scripted] = []

    def make() -> Scripted:
        players.append(Scripted(["e2e4", "d2d4"] * 9))
        return players[-1]

    def interrupt(number: int, game: object) -> None:
        if number == 1:
            raise KeyboardInterrupt

    result = MatchResult("", "", TimeControl(1))
    with pytest.raises(KeyboardInterrupt):
        play_match(
            make,
            make,
            games=20,
            movetime=1,
            concurrency=concurrency,
            on_game=interrupt,
            result=result,
        )
    assert 1 in result.games
    assert len(result.games) < 20
    assert [player.closed for player in players] == [1] * len(players)


def test_an_engine_that_cannot_start_ends_the_match() -> None:
    with pytest.raises(EngineError):
        play_match(lambda: UciPlayer(["/nowhere/engine"]), RandomPlayer, games=2, movetime=1)


def test_elo_by_pairs_only_if_all_pairs_are_there() -> None:
    # The first player wins every game with White, and draws or loses none with Black either way.
    play = play_match(
        lambda: Scripted(["e2e4"], "a"), lambda: Scripted(["e2e4"], "b"), games=4, movetime=1
    )
    # White moves, Black's e2e4 is illegal: White wins them all.
    assert play.tally() == Tally(2, 0, 2)
    assert play.elo().difference == 0
    pairs = play.elo().high
    del play.games[3]
    assert play.elo().high > 0
    assert play.tally() == Tally(2, 0, 1)
    assert play.elo().high != pairs


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
