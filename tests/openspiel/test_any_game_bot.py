"""The bot of any game: it plays OpenSpiel's games in OpenSpiel's own loops."""

from __future__ import annotations

from typing import Any

import pytest

pyspiel = pytest.importorskip("pyspiel")

import numpy as np
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

from obscuro.openspiel import AnyGameBot
from obscuro.research.any_game.history_belief import PlaySettings
from obscuro.search.game import MAX, MIN

QUICK = PlaySettings(iterations=50, rollouts=1, memory=16)
GOOFSPIEL = "goofspiel(imp_info=True,num_cards=3,points_order=descending)"


def play_in_python(game: Any, bots: list[Any], seed: int) -> list[float]:
    return list(evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(seed)))


def play_in_cpp(game: Any, bots: list[Any], seed: int) -> list[float]:
    return list(pyspiel.evaluate_bots(game.new_initial_state(), bots, seed))


@pytest.mark.parametrize("loop", [play_in_python, play_in_cpp])
@pytest.mark.parametrize(
    ("text", "remembers"),
    [
        ("kuhn_poker", False),
        ("leduc_poker", False),
        ("phantom_ttt", False),
        ("dark_hex(board_size=2)", True),
        (GOOFSPIEL, False),
        ("matrix_rps", False),
    ],
)
def test_plays_whole_games_from_both_seats(text: str, remembers: bool, loop: Any) -> None:
    game = pyspiel.load_game(text)
    bots = [AnyGameBot(text, seat, QUICK, remembers=remembers) for seat in (0, 1)]
    for seed in range(2):
        assert sum(loop(game, bots, seed)) == 0


def mean_payoff(bot: AnyGameBot, state: Any) -> float:
    """Return what a bot wins on average from a random player, over all that may happen."""
    if state.is_terminal():
        return float(state.returns()[bot.player_id()])
    if state.is_chance_node():
        chances = state.chance_outcomes()
    elif state.current_player() == bot.player_id():
        chances = bot.get_policy(state)
    else:
        actions = state.legal_actions()
        chances = [(action, 1 / len(actions)) for action in actions]
    return sum(p * mean_payoff(bot, state.child(action)) for action, p in chances)


@pytest.mark.parametrize("seat", [0, 1])
def test_wins_money_from_a_random_player_at_kuhn_poker(seat: int) -> None:
    bot = AnyGameBot("kuhn_poker", seat, QUICK)
    assert mean_payoff(bot, state_after("kuhn_poker")) > 0.1


class Recorder:
    """Takes the place of the player; keeps what it is told."""

    def __init__(self) -> None:
        self.games: list[list[Any]] = []
        self.asked = 0

    def new_game(self, seat: int, seed: int) -> None:
        self.games.append([(seat, seed)])

    def observe(self, own_action: int | None, observation: tuple[int, ...]) -> None:
        self.games[-1].append((own_action, observation))

    def decide(self) -> Any:
        self.asked += 1
        raise RuntimeError("it is not asked to choose")


def told(bot: AnyGameBot, state: Any) -> list[Any]:
    """Return what the bot's player is told on the way to a state, its seat and seed first."""
    recorder = Recorder()
    bot._player = recorder  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="not asked"):
        bot.step(state)
    return recorder.games[-1]


def state_after(text: str, *actions: int) -> Any:
    state = pyspiel.load_game(text).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


class TestWhatThePlayerIsTold:
    def test_has_nothing_of_the_others_card(self) -> None:
        lines = [
            told(AnyGameBot("kuhn_poker", MIN, QUICK), state_after("kuhn_poker", card, 1, 0))
            for card in (0, 2)
        ]
        assert lines[0] == lines[1]

    def test_has_its_own_card(self) -> None:
        lines = [
            told(AnyGameBot("kuhn_poker", MIN, QUICK), state_after("kuhn_poker", 0, card, 0))
            for card in (1, 2)
        ]
        assert lines[0] != lines[1]

    def test_grows_ply_by_ply_and_is_not_told_twice(self) -> None:
        bot, recorder = AnyGameBot("phantom_ttt", MAX, QUICK), Recorder()
        bot._player = recorder  # type: ignore[assignment]
        for actions in ((), (0, 4), (0, 4, 8, 1)):
            with pytest.raises(RuntimeError):
                bot.step(state_after("phantom_ttt", *actions))
        assert len(recorder.games) == 1
        assert [own for own, _ in recorder.games[0][1:]] == [0, None, 8, None]

    def test_is_the_same_whatever_the_first_player_chooses_at_the_same_time(self) -> None:
        state = pyspiel.load_game(GOOFSPIEL).new_initial_state()
        state.apply_actions([2, 1])
        lines = [told(AnyGameBot(GOOFSPIEL, seat, QUICK), state) for seat in (MAX, MIN)]
        assert [own for own, _ in lines[MAX][1:]] == [2, None]
        assert [own for own, _ in lines[MIN][1:]] == [None, 1, None]


class TestBot:
    def test_a_restart_begins_a_game_with_the_next_seed(self) -> None:
        bot, recorder = AnyGameBot("kuhn_poker", MAX, QUICK, seed=7), Recorder()
        bot._player = recorder  # type: ignore[assignment]
        for _ in range(2):
            bot.restart_at(state_after("kuhn_poker"))
            with pytest.raises(RuntimeError):
                bot.step(state_after("kuhn_poker", 0, 1))
        assert [lines[0] for lines in recorder.games] == [(MAX, 7), (MAX, 8)]

    def test_draws_its_action_from_its_policy_and_thinks_once(self) -> None:
        bot, state = AnyGameBot("kuhn_poker", MAX, QUICK), state_after("kuhn_poker", 1, 0)
        policy = bot.get_policy(state)
        assert bot.step_with_policy(state) == (policy, bot.step(state))
        assert [action for action, _ in policy] == state.legal_actions()
        assert sum(p for _, p in policy) == pytest.approx(1)

    def test_another_history_begins_another_game(self) -> None:
        bot, recorder = AnyGameBot("kuhn_poker", MIN, QUICK), Recorder()
        bot._player = recorder  # type: ignore[assignment]
        for cards in ((0, 1), (0, 2)):
            with pytest.raises(RuntimeError):
                bot.step(state_after("kuhn_poker", *cards, 1))
        assert len(recorder.games) == 2

    def test_refuses_another_game_and_another_turn(self) -> None:
        bot = AnyGameBot("kuhn_poker", MAX, QUICK)
        with pytest.raises(ValueError, match=r"plays kuhn_poker\(\), and the state is of leduc"):
            bot.step(state_after("leduc_poker", 0, 1))
        with pytest.raises(ValueError, match="not its turn"):
            bot.step(state_after("kuhn_poker", 0, 1, 0))
        with pytest.raises(ValueError, match="not a game of OpenSpiel"):
            AnyGameBot("no_such_game", MAX, QUICK)
        with pytest.raises(ValueError, match="not a zero-sum game of two players"):
            AnyGameBot("hanabi", MAX, QUICK)
