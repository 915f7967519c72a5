"""The referee: legality, every way in which a game can end, and the time."""

from __future__ import annotations

import chess
import pytest

from obscuro.engine.report import GoLimits
from obscuro.matches.game_record import Turn
from obscuro.matches.pgn import to_pgn
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance, ChessClock, TimeControl
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from tests.matches.scripted import Scripted


def test_a_captured_king_ends_the_game() -> None:
    white, black = Scripted(["e2e4", "d1h5", "h5e8"]), Scripted(["f7f6", "a7a6"])
    record = play_game(white, black, control=1)
    assert (record.result, record.ending, record.regular) == ("1-0", "king captured", True)
    assert [ply.san for ply in record.plies] == ["e4", "f6", "Qh5", "a6", "Qxe8#"]
    assert record.score(chess.WHITE) == 1
    assert record.score(chess.BLACK) == 0
    # Both hear of every ply but the last one, which ends the game.
    assert white.heard == black.heard == ["e2e4", "f7f6", "d1h5", "a7a6"]


@pytest.mark.parametrize("uci", ["e2e5", "e7e5", "0000", "(none)", "", "e4", "e1g1"])
def test_an_illegal_move_loses(uci: str) -> None:
    record = play_game(Scripted(["e2e4"]), Scripted(["e7e5"]), control=1)
    assert record.ending == "white resigned"
    record = play_game(Scripted([uci]), Scripted([]), control=1)
    assert (record.result, record.regular, record.plies) == ("0-1", False, [])
    assert "move" in record.ending and record.ending.startswith("white")


def test_a_move_into_check_is_legal() -> None:
    record = play_game(
        Scripted(["e2e4", "e1e2", "e2e3"]), Scripted(["d7d5", "d8d6", "d6h6"]), control=1
    )
    assert record.ending == "white resigned"
    assert len(record.plies) == 6


def test_threefold_repetition_is_a_draw_without_a_claim() -> None:
    record = play_game(Scripted(["g1f3", "f3g1"] * 4), Scripted(["g8f6", "f6g8"] * 4), control=1)
    assert (record.result, record.ending, record.regular) == (
        "1/2-1/2",
        "threefold repetition",
        True,
    )
    assert len(record.plies) == 8


def test_fifty_moves_are_a_draw() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/8/R3K3 w - - 99 100")
    record = play_game(Scripted(["a1a2"]), Scripted([]), control=1, board=board)
    assert (record.result, record.ending) == ("1/2-1/2", "fifty-move rule")


def test_a_side_without_a_move_has_lost() -> None:
    board = FogOfWarBoard("7k/8/8/8/1p6/1P1p4/BP1P4/KRB5 b - - 0 1")
    record = play_game(Scripted([]), Scripted(["h8h7"]), control=1, board=board)
    assert (record.result, record.ending, record.regular) == ("0-1", "no moves left", True)


def test_a_side_without_a_move_draws_on_a_board_with_that_rule() -> None:
    board = DrawnStalemateBoard("7k/8/8/8/1p6/1P1p4/BP1P4/KRB5 b - - 0 1")
    record = play_game(Scripted([]), Scripted(["h8h7"]), control=1, board=board)
    assert (record.result, record.ending, record.regular) == ("1/2-1/2", "stalemate", True)
    assert record.plies[-1].san == "Kh7"


def test_the_limit_of_plies_is_a_draw_that_is_not_regular() -> None:
    record = play_game(RandomPlayer(), RandomPlayer(), control=1, max_plies=5)
    assert (record.result, record.regular, len(record.plies)) == ("1/2-1/2", False, 5)


@pytest.mark.parametrize(
    ("white", "black", "plies"),
    [
        ([9, 9, 9, 9, 9], [-9, -9, -9, -9, -9], 6),  # three moves each
        ([9, 9, 9, 9, 9], [-7, -7, -9, -9, -9], 10),  # Black comes to agree
        ([9, 9, 9, 9, 9], [9, 9, 9, 9, 9], None),  # each sees itself ahead
        ([9, 9, 9, 9, 9], [-9, -9, -9, -2, -9, -9], 6),  # what came after does not matter
        ([9, 9, 9, 9, 9], [], None),  # Black says nothing
    ],
)
def test_a_game_is_won_once_both_agree(
    white: list[float], black: list[float], plies: int | None
) -> None:
    """With or without colours swapped: whoever both see ahead has won."""
    there, back = [f"{file}2{file}3" for file in "abcde"], [f"{file}7{file}6" for file in "abcde"]
    for sign, result in ((1, "1-0"), (-1, "0-1")):
        sides = [
            Scripted(moves, pawns=[sign * each for each in pawns])
            for moves, pawns in ((there, white), (back, black))
        ]
        record = play_game(*sides, control=1, resign=8)
        if plies is None:
            assert record.ending == "white resigned"
        else:
            color = chess.COLOR_NAMES[sign > 0]
            assert (record.result, len(record.plies), record.regular) == (result, plies, True)
            assert record.ending == f"both see {color} 8 pawns ahead"
        assert play_game(*sides, control=1).ending == "white resigned"


def test_on_ply_sees_the_board_after_the_move() -> None:
    seen = []
    play_game(
        Scripted(["e2e4"]),
        Scripted([]),
        control=1,
        on_ply=lambda board, ply: seen.append((board.peek().uci(), ply.color)),
    )
    assert seen == [("e2e4", chess.WHITE)]


def test_the_same_seed_plays_the_same_random_game() -> None:
    games = [
        play_game(RandomPlayer(), RandomPlayer(), control=1, seed=seed).board.move_stack
        for seed in (3, 3, 4)
    ]
    assert games[0] == games[1] != games[2]


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


def test_nodes_take_the_place_of_a_time() -> None:
    clock = ChessClock(TimeControl(None, nodes=60_000), TimeControl.parse("60+0.5"))
    told = clock.allowance(chess.WHITE)
    assert told.limit.command == "go nodes 60000"
    assert told.limits(7.0) == GoLimits(7.0, nodes=60_000)
    assert clock.press(chess.WHITE, 1e6)
    assert clock.left(chess.WHITE) is None
    assert str(TimeControl(None, nodes=60_000)) == "60,000 nodes a move"
    other = clock.allowance(chess.BLACK)
    assert other.limit.command == "go wtime 60000 btime 60000 winc 500 binc 500"


def test_players_are_told_both_clocks_as_they_are() -> None:
    clock = ChessClock(TimeControl.parse("60+0.5"))
    assert clock.press(chess.WHITE, 10.25)
    assert clock.press(chess.BLACK, 0.5)
    told = clock.allowance(chess.WHITE)
    assert told.limit.command == "go wtime 50250 btime 60000 winc 500 binc 500"
    assert told.most == 50_250
    assert clock.allowance(chess.BLACK).most == 60_000
    limits = told.limits(7.0)
    assert (limits.received, limits.wtime, limits.btime) == (7.0, 50_250, 60_000)
    assert (limits.winc, limits.binc, limits.movetime) == (500, 500, None)


def test_so_much_a_move_is_told_and_never_runs_out() -> None:
    clock = ChessClock(TimeControl(100))
    assert clock.press(chess.WHITE, 99.0)
    assert clock.allowance(chess.WHITE) == Allowance(chess.WHITE, 100)
    assert clock.allowance(chess.WHITE).limit.command == "go movetime 100"


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
