from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from obscuro.research.any_game.game_player import Decision, GamePlayer
from obscuro.research.any_game.histories import GameFaultError
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.research.any_game.solved_game import play
from obscuro.research.games.extensive_form import ExtensiveForm, Observation
from obscuro.research.games.kuhn import BET, PASS, KuhnPoker
from obscuro.research.games.leduc import LeducPoker
from obscuro.research.games.liars_dice import LiarsDice
from obscuro.research.games.openspiel import OpenSpielGame
from obscuro.search.game import MAX, MIN
from tests.sizes import quick_among

from .faulty_games import LoadedDeck, NegativeScale, PaysTooMuch, ShowsList, Tries
from .told import told

QUICK = PlaySettings(iterations=300, memory=8)


class Noting(GamePlayer):
    """Keeps its decisions."""

    def new_game(self, seat: int, seed: int) -> None:
        super().new_game(seat, seed)
        self.decisions: list[Decision] = []

    def choose(self) -> int:
        self.decisions.append(self.decide())
        return self.decisions[-1].action


class AtRandom:
    """Plays at random among the first two actions of Kuhn poker."""

    def new_game(self, seat: int, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def observe(self, own_action: int | None, observation: Observation) -> None:
        pass

    def choose(self) -> int:
        return int(self._random.integers(2))


LARGE = ("phantom_ttt", "dark_hex(board_size=3,gameversion=adh)")

GAMES: list[ExtensiveForm[Any]] = [
    KuhnPoker(),
    LeducPoker(),
    LiarsDice(3),
    Tries(),
    *map(OpenSpielGame, LARGE),
]


@pytest.mark.parametrize(
    "game",
    quick_among(GAMES, lambda game: game.name not in LARGE),
    ids=lambda game: game.name,
)
def test_two_players_play_to_the_end_and_a_seed_repeats_it(game: ExtensiveForm[Any]) -> None:
    players = [Noting(game, QUICK) for _ in range(2)]
    played = play(game, *players, seed=2)
    first = [player.decisions for player in players]
    assert play(game, *players, seed=2) == played
    again = [player.decisions for player in players]
    for decisions, others in zip(first, again, strict=True):
        assert [one.policy for one in decisions] == [one.policy for one in others]
        assert [one.value for one in decisions] == [one.value for one in others]
    assert sum(map(len, first)) > 0


def decision(line: list[int], seat: int) -> Decision:
    """What a player of Kuhn poker does after chance's and both players' actions."""
    player = GamePlayer(KuhnPoker(), PlaySettings(iterations=2000, memory=8))
    player.new_game(seat, 1)
    for _, own, seen in told(KuhnPoker(), line, seat):
        player.observe(own, seen)
    return player.decide()


def test_the_nuts_call_and_the_worst_card_folds() -> None:
    assert decision([0, 2, BET], MIN).policy[BET] == pytest.approx(1.0)
    assert decision([2, 0, BET], MIN).policy[PASS] == pytest.approx(1.0)
    assert decision([2, 0, PASS, BET], MAX).policy[BET] == pytest.approx(1.0)
    assert decision([0, 1, PASS, BET], MAX).policy[PASS] == pytest.approx(1.0)


def test_the_value_is_in_the_games_units() -> None:
    found = decision([2, 0, BET], MIN)
    assert found.value == pytest.approx(-1.0, abs=0.01)
    assert (found.belief, found.exact) == (2, True)


def test_a_heuristic_values_leaves_in_the_first_players_view() -> None:
    calls = []

    def heuristic(state: Any) -> float:
        calls.append(state)
        return 0.5

    game = LeducPoker()
    player = GamePlayer(game, PlaySettings(nodes=60, memory=8), heuristic)
    player.new_game(MIN, 1)
    for _, own, seen in told(game, [0, 5, 1], MIN):
        player.observe(own, seen)
    player.decide()
    assert calls
    assert all(game.player(state) != -1 for state in calls)


def test_a_player_knows_when_it_is_not_its_turn() -> None:
    with pytest.raises(ValueError, match="not the player's turn"):
        GamePlayer(KuhnPoker(), QUICK).choose()


def test_a_forced_action_needs_no_search() -> None:
    game = LiarsDice(2)
    player = GamePlayer(game, QUICK)
    for _, own, seen in told(game, [0, 1, 0, 3], MAX):
        player.observe(own, seen)
    found = player.decide()
    assert (found.action, found.policy, found.progress) == (4, {4: 1.0}, None)


def test_an_illegal_action_is_told_with_its_history() -> None:
    class Cheat(AtRandom):
        def choose(self) -> int:
            return 7

    with pytest.raises(GameFaultError, match=r"7 is not among \[0, 1\]") as caught:
        play(KuhnPoker(), Cheat(), AtRandom())
    assert len(caught.value.histories[0]) == 2


def test_everything_that_happens_can_be_watched() -> None:
    seen: list[Any] = []
    played = play(KuhnPoker(), AtRandom(), AtRandom(), watch=seen.append)
    assert len(seen) == len(played.actions) + 1
    assert KuhnPoker().payoff(seen[-1]) == played.payoff


def test_time_is_a_limit_too() -> None:
    game = KuhnPoker()
    player = GamePlayer(game, PlaySettings(seconds=0.05, memory=8))
    for _, own, seen in told(game, [2, 0], MAX):
        player.observe(own, seen)
    assert player.choose() in (PASS, BET)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({}, "set a limit"), ({"nodes": 0}, "nodes"), ({"seconds": float("nan")}, "seconds")],
)
def test_settings_without_sense_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PlaySettings(**wrong)


@pytest.mark.parametrize("game", [PaysTooMuch(), ShowsList(), NegativeScale()])
def test_a_fault_that_was_not_looked_for_is_named_in_play(game: Any) -> None:
    with pytest.raises(GameFaultError, match=r"^kuhn_poker: "):
        play(game, GamePlayer(game, QUICK), GamePlayer(game, QUICK))


def test_chances_that_do_not_fit_are_named_in_play() -> None:
    game = LoadedDeck()
    with pytest.raises(GameFaultError, match=r"chance's probabilities .* do not fit \[0, 1, 2\]"):
        play(game, AtRandom(), AtRandom())


class Stuck(KuhnPoker):
    """Nobody has an action after a bet."""

    def actions(self, state: Any) -> list[int]:
        return [] if state.betting else list(super().actions(state))


def test_a_playout_that_cannot_go_on_is_named() -> None:
    player = GamePlayer(Stuck(), QUICK)
    for _, own, seen in told(KuhnPoker(), [2, 0], MAX):
        player.observe(own, seen)
    with pytest.raises(GameFaultError, match="no player has an action, in the state"):
        player.choose()


def test_a_short_search_does_not_believe_lucky_playouts() -> None:
    """With one playout a leaf these values were 0.33 to 1."""
    game = OpenSpielGame("dark_hex(board_size=3,gameversion=adh)", remembers=True)
    long_search = 0.416  # the value after 6,000 iterations
    for seed in range(1, 5):
        player = GamePlayer(game, PlaySettings(iterations=250, memory=8))
        player.new_game(MAX, seed)
        assert player.decide().value == pytest.approx(long_search, abs=0.2)
