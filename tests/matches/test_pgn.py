"""Games written as PGN are read back by python-chess under the same rules."""

import io

import chess
import chess.pgn
import pytest

from obscuro.matches.pgn import to_pgn, write_pgn
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import TimeControl
from obscuro.rules.board import FogOfWarBoard
from tests.matches.scripted import Scripted


def test_games_are_read_back_move_by_move() -> None:
    text = io.StringIO()
    records = [play_game(RandomPlayer(), RandomPlayer(), control=7, seed=n) for n in range(5)]
    for number, record in enumerate(records):
        write_pgn(text, record, event="Test", round_=number + 1)
    text.seek(0)
    for number, record in enumerate(records):
        game = chess.pgn.read_game(text)
        assert game is not None
        assert game.errors == []
        assert isinstance(game.board(), FogOfWarBoard)
        assert list(game.mainline_moves()) == record.board.move_stack
        assert game.end().board().result() == record.result
        expected = {
            "Event": "Test",
            "Round": str(number + 1),
            "Variant": "Fog of War",
            "White": "random",
            "Result": record.result,
            "Termination": record.ending,
            "MoveTime": "7 ms",
        }
        assert expected.items() <= dict(game.headers).items()
    assert chess.pgn.read_game(text) is None


def test_a_forfeit_keeps_its_result() -> None:
    record = play_game(Scripted(["e2e4", "e4e6"]), Scripted(["e7e5"]), control=1)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.headers["Result"] == "0-1"
    assert game.headers["Termination"] == "white made the illegal move e4e6"


def test_a_game_from_a_position_keeps_it() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=1, board=board)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.board().fen() == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def test_headers_say_what_each_side_was_told_and_where_the_game_began() -> None:
    board = FogOfWarBoard()
    record = play_game(
        Scripted(["e2e4"]), Scripted([]), control=1, board=board, opening="start, again"
    )
    headers = to_pgn(record, event="Cup", round_="3.1", fingerprint="abc").headers
    assert headers["Opening"] == "start, again"
    assert (headers["WhiteTold"], headers["BlackTold"]) == ("own observations", "own observations")
    assert (headers["Round"], headers["Fingerprint"]) == ("3.1", "abc")
    assert headers["Date"] == record.started[:10].replace("-", ".")


@pytest.mark.parametrize(
    ("white", "black", "expected"),
    [
        (TimeControl(50), TimeControl(50), {"MoveTime": "50 ms"}),
        (TimeControl(None, 60_000, 500), TimeControl(None, 60_000, 500), {"TimeControl": "60+0.5"}),
        (
            TimeControl(50),
            TimeControl(None, 60_000, 0),
            {"WhiteTime": "50 ms", "BlackTime": "60+0"},
        ),
    ],
)
def test_headers_say_the_time_of_each_side(
    white: TimeControl, black: TimeControl, expected: dict[str, str]
) -> None:
    controls = {chess.WHITE: white, chess.BLACK: black}
    headers = to_pgn(play_game(Scripted(["e2e4"]), Scripted([]), control=controls)).headers
    assert {name: text for name, text in headers.items() if "Time" in name} == expected


def test_a_clock_is_in_the_comments() -> None:
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=TimeControl(None, 60_000, 500))
    (node,) = to_pgn(record).mainline()
    assert node.comment == "[%clk 0:01:00.5]"
    assert node.clock() == 60.5
