"""The bot of `dark_chess`: it is told what its side saw, and plays in OpenSpiel's own loops."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import chess
import pytest

pyspiel = pytest.importorskip("pyspiel")

import numpy as np
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots
from open_spiel.python.bots.uniform_random import UniformRandomBot

from obscuro.client import Engine, EngineError, Limit, engine_command
from obscuro.openspiel import DarkChessBot
from obscuro.openspiel.dark_chess_bot import DarkChessSeat, observation_of
from obscuro.rules.account import Account
from obscuro.rules.board import DrawnStalemateBoard
from tools.proofs.compare_openspiel import OpenSpielMoves, openspiel_slip
from tools.proofs.random_games import OPENINGS, random_mover

GAME = pyspiel.load_game("dark_chess")
QUICK = Limit(nodes=100)
OPTIONS = {"Threads": "1", "Evaluator": "material"}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    """The real engine. A warning, such as of an observation that no position fits, is an error."""
    warnings: list[str] = []
    with Engine(engine_command(), OPTIONS, on_warning=warnings.append) as made:
        yield made
    assert warnings == []


def state_after(*sans: str, fen: str = chess.STARTING_FEN) -> Any:
    state = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
    for san in sans:
        state.apply_action(state.string_to_action(san))
    return state


class TestWhatASideIsTold:
    @pytest.mark.parametrize("seed", range(6))
    def test_is_what_the_rules_show_it_in_random_games(self, seed: int) -> None:
        rng = random.Random(seed)
        choose, translated = random_mover(rng), OpenSpielMoves()
        fen = OPENINGS[-1 - seed] if seed < 4 else chess.STARTING_FEN
        state = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
        board = DrawnStalemateBoard(fen)
        accounts = {side: Account(board, side) for side in chess.COLORS}
        while not state.is_terminal() and len(board.move_stack) < 150:
            actions = translated(state, board)
            move = choose(board)
            assert move is not None
            state.apply_action(actions[move])
            board.push(move)
            for account in accounts.values():
                account.append(board)
        for side, account in accounts.items():
            seat = DarkChessSeat(state, int(side))
            assert (seat.side, seat.start) == (side, account.start)
            assert seat.plies == account.plies
            if not state.is_terminal() and board.turn == side:
                named = {move.uci(): action for move, action in translated(state, board).items()}
                assert seat.actions() == named

    @pytest.mark.parametrize(
        ("fen", "move"),
        [
            ("4k3/8/8/8/2p5/8/2PP4/4K3 w - - 0 1", "d2d4"),
            ("4k3/8/8/8/6p1/P7/7P/4K3 w - - 0 1", "h2h4"),
        ],
    )
    def test_leaves_out_what_openspiel_shows_wrongly(self, fen: str, move: str) -> None:
        board = DrawnStalemateBoard(fen)
        state = pyspiel.load_game("dark_chess", {"fen": fen}).new_initial_state()
        pushed = board.parse_uci(move)
        state.apply_action(OpenSpielMoves()(state, board)[pushed])
        board.push(pushed)
        assert openspiel_slip(board, chess.WHITE) is not None
        text = state.observation_string(1)
        assert observation_of(text, chess.WHITE, our_turn=False) == board.observation(chess.WHITE)
        assert observation_of(text, chess.WHITE, our_turn=True) != board.observation(chess.WHITE)

    def test_keeps_where_it_can_capture_en_passant(self) -> None:
        state = state_after("e4", "a6", "e5", "d5")
        seen = DarkChessSeat(state, 1).plies[-1].observation
        assert seen is not None and seen.en_passant == chess.D6

    def test_has_nothing_of_what_the_other_side_did_out_of_sight(self) -> None:
        states = [state_after("e4", answer, "Nf3") for answer in ("g6", "h6", "Nc6")]
        assert len({DarkChessSeat(state, 1).plies for state in states}) == 1


def play_in_python(bots: list[Any], seed: int) -> list[float]:
    return list(evaluate_bots(GAME.new_initial_state(), bots, np.random.RandomState(seed)))


def play_in_cpp(bots: list[Any], seed: int) -> list[float]:
    return list(pyspiel.evaluate_bots(GAME.new_initial_state(), bots, seed))


@pytest.mark.parametrize("loop", [play_in_python, play_in_cpp])
@pytest.mark.parametrize("seat", [0, 1])
def test_beats_a_random_player_in_openspiels_loops(engine: Engine, seat: int, loop: Any) -> None:
    bot, points = DarkChessBot(engine, seat, QUICK, seed=1), []
    for seed in range(4):
        bots = [bot, bot]
        bots[1 - seat] = UniformRandomBot(1 - seat, np.random.RandomState(seed))
        points.append(loop(bots, seed)[seat])
    assert sum(points) >= 3, points


def test_plays_both_seats_with_two_engines(engine: Engine) -> None:
    with Engine(engine_command(), OPTIONS) as other:
        bots = [DarkChessBot(engine, 0, QUICK, seed=1), DarkChessBot(other, 1, QUICK, seed=2)]
        results = play_in_python(bots, 1)
    assert sum(results) == 0


class TestBot:
    def test_draws_its_action_from_its_policy_and_thinks_once(self, engine: Engine) -> None:
        bot = DarkChessBot(engine, 1, QUICK, seed=3)
        state = state_after("e4", "a6", "d4", "h6")
        assert bot.provides_policy() and bot.provides_force_action()
        policy = bot.get_policy(state)
        again, action = bot.step_with_policy(state)
        assert again == policy and bot.step(state) == action
        assert dict(policy)[action] > 0
        assert sum(p for _, p in policy) == pytest.approx(1, abs=0.01)
        assert set(dict(policy)) <= set(state.legal_actions())

    def test_an_action_may_be_forced_and_the_game_goes_on(self, engine: Engine) -> None:
        bot = DarkChessBot(engine, 1, QUICK, seed=3)
        state = GAME.new_initial_state()
        bot.restart_at(state)
        forced = state.string_to_action("h4")
        bot.force_action(state, forced)
        state.apply_action(forced)
        answer = state.string_to_action("h5")
        bot.inform_action(state, 0, answer)
        state.apply_action(answer)
        assert bot.step(state) in state.legal_actions()

    def test_the_same_seed_repeats_a_game_and_a_restart_begins_one(self, engine: Engine) -> None:
        played = []
        for _ in range(2):
            bot = DarkChessBot(engine, 1, QUICK, seed=5)
            line = [bot.step(state_after()), bot.step(state_after("e4", "e5"))]
            bot.restart()
            played.append([*line, bot.step(state_after("a4", "a5"))])
        assert played[0] == played[1]

    def test_takes_a_sight_of_the_king(self, engine: Engine) -> None:
        state = state_after("e4", "f6", "Qh5", "a6")
        action = DarkChessBot(engine, 1, QUICK).step(state)
        assert state.action_to_string(1, action) == "Qxe8"

    def test_refuses_another_game_another_board_and_another_turn(self, engine: Engine) -> None:
        bot = DarkChessBot(engine, 0, QUICK)
        for game in ("kriegspiel", "dark_chess(board_size=4)"):
            state = pyspiel.load_game(game).new_initial_state()
            state.apply_action(state.legal_actions()[0])
            with pytest.raises(ValueError, match="plays dark_chess on 64 squares"):
                bot.step(state)
        with pytest.raises(ValueError, match="not its turn"):
            bot.step(GAME.new_initial_state())
        with pytest.raises(ValueError, match="player_id is 0 or 1"):
            DarkChessBot(engine, 2, QUICK)

    def test_goes_on_after_its_process_has_died(self) -> None:
        with Engine(engine_command(), OPTIONS) as mortal:
            bot = DarkChessBot(mortal, 1, QUICK)
            bot.step(state_after())
            mortal.kill()
            assert bot.step(state_after("e4", "e5")) in state_after("e4", "e5").legal_actions()

    def test_says_which_engine_can_not_be_told_observations(self) -> None:
        plain = [
            "sh",
            "-c",
            "while read l; do case $l in uci) echo uciok;; isready) echo readyok;; quit) exit;; esac; done",
        ]
        with (
            Engine(plain, any_variant=True) as other,
            pytest.raises(EngineError, match="position-fog"),
        ):
            DarkChessBot(other, 1, QUICK).step(GAME.new_initial_state())
