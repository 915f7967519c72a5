"""Time controls: reading them, telling them to players, and losing by them."""

import chess
import pytest

from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import to_pgn
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance, ChessClock, TimeControl
from tests.matches.scripted import Scripted


@pytest.mark.parametrize(
    ("text", "base", "increment", "said"),
    [
        ("60", 60_000, 0, "60+0 s"),
        ("180+2", 180_000, 2000, "180+2 s"),
        ("10+0.1", 10_000, 100, "10+0.1 s"),
        (" 0.5+0 ", 500, 0, "0.5+0 s"),
    ],
)
def test_reads_clocks(text: str, base: int, increment: int, said: str) -> None:
    control = TimeControl.parse(text)
    assert (control.movetime, control.base, control.increment) == (None, base, increment)
    assert str(control) == said


@pytest.mark.parametrize("text", ["", "0", "0+1", "x", "1+", "+1", "-5", "60+0+1", "1e3"])
def test_refuses_what_is_no_clock(text: str) -> None:
    with pytest.raises(ValueError, match="not a clock"):
        TimeControl.parse(text)


def test_players_are_told_both_clocks_as_they_are() -> None:
    clock = ChessClock(TimeControl.parse("60+0.5"))
    assert clock.press(chess.WHITE, 10.25)
    assert clock.press(chess.BLACK, 0.5)
    told = clock.allowance(chess.WHITE)
    assert told.words == "wtime 50250 btime 60000 winc 500 binc 500"
    assert told.most == 50_250
    assert clock.allowance(chess.BLACK).most == 60_000
    limits = told.limits(7.0)
    assert (limits.received, limits.wtime, limits.btime) == (7.0, 50_250, 60_000)
    assert (limits.winc, limits.binc, limits.movetime) == (500, 500, None)


def test_so_much_a_move_is_told_and_never_runs_out() -> None:
    clock = ChessClock(TimeControl(100))
    assert clock.press(chess.WHITE, 99.0)
    assert clock.allowance(chess.WHITE) == Allowance(chess.WHITE, 100)
    assert clock.allowance(chess.WHITE).words == "movetime 100"


class Slow(Scripted):
    """Takes six seconds a move, on its word."""

    def choose(self, board, allowance):  # type: ignore[no-untyped-def]
        return Turn(super().choose(board, allowance).uci, 6.0)


def test_without_time_left_the_other_side_wins() -> None:
    control = TimeControl.parse("10+1")
    moves = ["g1f3", "f3g1"] * 3
    record = play_game(Slow(moves), Scripted(["g8f6", "f6g8"] * 3), control=control)
    assert (record.winner, record.ending, record.regular) == (
        chess.BLACK,
        "white lost on time",
        False,
    )
    assert len(record.plies) == 2  # 10 s, 5 s after the first move, none after the second
    assert to_pgn(record).headers["TimeControl"] == "10+1"


def test_an_increment_comes_after_the_move() -> None:
    record = play_game(Slow(["e2e4"] * 2), Scripted(["e7e5"]), control=TimeControl.parse("5+10"))
    assert record.ending == "white lost on time"
    assert not record.plies
