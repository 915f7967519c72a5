"""The referee of a game in the browser: turns, clocks, draws, takebacks, and the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import pytest

from obscuro.client.engine import PlayResult
from obscuro.client.move_report import Report
from obscuro.matches.time_control import TimeControl
from obscuro.rules.stalemate import DRAW, LOSS
from obscuro.web.play.game_setup import UNTIMED_MOVE, GameSetup
from obscuro.web.play.hosted_game import HostedGame, RefusedMove, Status

MINUTE = TimeControl(None, 60_000, 2_000)


def new_game(**setup: Any) -> HostedGame:
    """Return a game in which the engines are ready at second 0; White is a person."""
    given: dict[str, Any] = {
        "human": chess.WHITE,
        "control": UNTIMED_MOVE,
        "levels": dict.fromkeys(chess.COLORS),
    }
    game = HostedGame("abcdefghijkl", GameSetup(**(given | setup)))
    game.ready(0.0)
    return game


def play(game: HostedGame, *moves: str, now: float = 0.0, score: int | None = None) -> None:
    """Let both sides make these moves."""
    for uci in moves:
        think = game.think()
        if think is None:
            game.move(uci, len(game.plies), now)
        else:
            game.chosen(think.number, PlayResult(uci, Report(centipawns=score)), now)
        assert game.plies[-1].turn.uci == uci


def refused(action: Callable[[], None]) -> str:
    """Return why an action is refused."""
    with pytest.raises(RefusedMove) as caught:
        action()
    return str(caught.value)


class TestTurns:
    def test_the_engine_is_asked_once_it_is_its_turn(self) -> None:
        game = new_game()
        assert game.think() is None
        play(game, "e2e4")
        think = game.think()
        assert think is not None
        assert (think.side, think.movetime) == (chess.BLACK, 1000)
        assert think.position.startswith("position fog black startpos turns ")

    def test_an_answer_to_an_older_question_changes_nothing(self) -> None:
        game = new_game(takebacks=True)
        play(game, "e2e4")
        think = game.think()
        assert think is not None
        game.take_back(0.0)
        play(game, "d2d4")
        version = game.version
        game.chosen(think.number, PlayResult("e7e5"), 0.0)
        assert game.version == version
        assert len(game.plies) == 1

    @pytest.mark.parametrize(
        ("uci", "ply", "why"),
        [
            ("e2e5", 0, "not legal"),
            ("e7e5", 0, "not legal"),
            ("", 0, "not legal"),
            ("0000", 0, "not legal"),
            ("e2e4", 1, "not your turn"),
            ("e2e4", -1, "not your turn"),
        ],
    )
    def test_a_move_that_is_not_possible_is_refused(self, uci: str, ply: int, why: str) -> None:
        game = new_game()
        assert why in refused(lambda: game.move(uci, ply, 0.0))
        assert (game.version, game.plies) == (2, [])

    @pytest.mark.parametrize("uci", ["e7e5", "d2d4"])
    def test_a_move_on_the_engines_turn_is_refused(self, uci: str) -> None:
        game = new_game()
        play(game, "e2e4")
        assert "not your turn" in refused(lambda: game.move(uci, 1, 0.0))
        assert len(game.plies) == 1

    def test_the_player_may_move_while_the_engine_gets_ready(self) -> None:
        game = HostedGame(
            "abcdefghijkl", GameSetup(chess.WHITE, MINUTE, dict.fromkeys(chess.COLORS))
        )
        game.move("e2e4", 0, 5.0)
        assert (game.status, game.think()) == (Status.PREPARING, None)
        game.ready(60.0)
        assert game.think() is not None

    def test_two_engines_play_by_themselves(self) -> None:
        game = new_game(human=None)
        play(game, "e2e4", "e7e5", "d1h5", "a7a6", "h5e5", "a6a5", "e5e8")
        assert game.result is not None
        assert (game.result.winner, game.result.ending) == (chess.WHITE, "king captured")
        assert "two engines" in refused(lambda: game.resign(0.0))


class TestEnds:
    def test_capturing_the_king_wins(self) -> None:
        game = new_game()
        play(game, "e2e4", "f7f6", "d1h5", "a7a6", "h5e8")
        assert game.status == Status.OVER
        assert game.result is not None
        assert game.result.text == "1-0"
        assert "over" in refused(lambda: game.move("a2a3", 5, 0.0))

    @pytest.mark.parametrize(
        ("rule", "text", "ending"), [(LOSS, "1-0", "no moves left"), (DRAW, "1/2-1/2", "stalemate")]
    )
    def test_a_side_without_a_move_gets_what_the_rule_says(
        self, rule: str, text: str, ending: str
    ) -> None:
        game = new_game(start="8/8/8/8/8/p1p5/ppPp4/kn2K3 w - - 0 1", stalemate=rule)
        play(game, "e1d1")
        assert game.result is not None
        assert (game.result.text, game.result.ending) == (text, ending)

    def test_resigning_loses(self) -> None:
        game = new_game()
        game.resign(0.0)
        assert game.result is not None
        assert (game.result.text, game.result.ending) == ("0-1", "white resigned")

    def test_a_game_that_has_not_begun_can_be_aborted_and_has_no_result(self) -> None:
        game = new_game()
        play(game, "e2e4")
        game.abort(0.0)
        assert game.result is not None
        assert (game.result.text, game.result.ending) == ("*", "aborted")

    def test_a_game_that_has_begun_can_not_be_aborted(self) -> None:
        game = new_game()
        play(game, "e2e4", "e7e5")
        assert "resign" in refused(lambda: game.abort(0.0))


class TestDraws:
    def test_the_engine_takes_a_draw_late_in_a_game_that_it_thinks_it_loses(self) -> None:
        game = new_game()
        shuffle = ("g1f3", "g8f6", "f3g1", "f6g8")
        pawns = "abcdegh"
        for file in pawns:  # a pawn's move between, so that nothing comes three times
            play(game, *shuffle, f"{file}2{file}3", f"{file}7{file}6", score=-150)
        game.offer_draw(0.0)
        assert game.result is not None
        assert (game.result.text, game.result.ending) == ("1/2-1/2", "draw agreed")

    def test_otherwise_it_declines_and_the_next_offer_waits_for_a_move(self) -> None:
        game = new_game()
        play(game, "e2e4", "e7e5", score=-500)
        game.offer_draw(0.0)
        assert game.result is None
        assert (game.note, game.draw_offered) == ("the engine declines the draw", True)
        assert "after a move" in refused(lambda: game.offer_draw(0.0))
        play(game, "d2d4")
        assert not game.draw_offered
        assert game.note is None


class TestTakebacks:
    def test_a_takeback_undoes_the_last_own_move_and_the_answer(self) -> None:
        game = new_game(takebacks=True)
        play(game, "e2e4", "e7e5", "d2d4", "e5d4")
        game.take_back(0.0)
        assert [ply.turn.uci for ply in game.plies] == ["e2e4", "e7e5"]
        assert game.human_turn
        assert game.notes is not None
        assert len(game.notes.sheet) == 2

    def test_a_takeback_while_the_engine_thinks_undoes_the_own_move_alone(self) -> None:
        game = new_game(takebacks=True)
        play(game, "e2e4", "e7e5", "d2d4")
        game.take_back(0.0)
        assert [ply.turn.uci for ply in game.plies] == ["e2e4", "e7e5"]

    def test_the_engine_is_told_the_game_without_the_moves_taken_back(self) -> None:
        game, plain = new_game(takebacks=True), new_game()
        play(game, "e2e4", "e7e5", "d2d4", "e5d4")
        game.take_back(0.0)
        for each in (game, plain):
            play(each, *(["e2e4", "e7e5"] if each is plain else []), "g1f3")
        thinks = [each.think() for each in (game, plain)]
        assert thinks[0] is not None and thinks[1] is not None
        assert thinks[0].position == thinks[1].position

    def test_black_takes_back_its_own_move(self) -> None:
        game = new_game(human=chess.BLACK, takebacks=True)
        play(game, "e2e4")
        assert not game.can_take_back
        play(game, "e7e5", "d2d4")
        game.take_back(0.0)
        assert [ply.turn.uci for ply in game.plies] == ["e2e4"]

    def test_without_the_choice_at_the_start_there_are_none(self) -> None:
        game = new_game()
        play(game, "e2e4", "e7e5")
        assert not game.can_take_back
        assert "without takebacks" in refused(lambda: game.take_back(0.0))
        assert "no move" in refused(lambda: new_game(takebacks=True).take_back(0.0))


class TestClocks:
    def test_no_clock_runs_until_both_sides_have_moved(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", now=30.0)
        play(game, "e7e5", now=50.0)
        assert game.clock.shown(50.0) == {chess.WHITE: 60_000, chess.BLACK: 60_000}
        assert game.clock.running == chess.WHITE

    def test_a_move_costs_its_time_and_brings_the_increment(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", "e7e5")
        play(game, "d2d4", now=10.0)
        assert game.clock.shown(11.0) == {chess.WHITE: 52_000, chess.BLACK: 59_000}
        assert game.plies[-1].clock == 52_000

    def test_whose_time_is_over_loses(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", "e7e5")
        game.tick(59.9)
        assert game.result is None
        game.tick(60.0)
        assert game.result is not None
        assert (game.result.text, game.result.ending) == ("0-1", "white lost on time")

    def test_a_move_that_comes_too_late_does_not_count(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", "e7e5")
        assert "over" in refused(lambda: game.move("d2d4", 2, 61.0))
        assert len(game.plies) == 2

    def test_an_engine_that_is_too_late_loses(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", "e7e5", "d2d4")
        think = game.think()
        assert think is not None
        assert think.clocks == (62_000, 60_000, 2_000, 2_000)
        game.chosen(think.number, PlayResult("e5d4"), 60.5)
        assert game.result is not None
        assert game.result.ending == "black lost on time"

    def test_the_time_in_which_nothing_ran_counts_for_nobody(self) -> None:
        game = new_game(control=MINUTE)
        play(game, "e2e4", "e7e5", now=1.0)
        play(game, "d2d4", now=11.0)
        left = {color: game.clock.left(color, 11.0) for color in chess.COLORS}
        again = HostedGame(game.id, game.setup, plies=game.plies, left=left, version=game.version)
        assert again.clock.running is None
        again.ready(1000.0)
        assert again.clock.shown(1005.0) == {chess.WHITE: 52_000, chess.BLACK: 55_000}
        assert again.board.fen() == game.board.fen()
