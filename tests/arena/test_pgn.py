"""Games written as PGN are read back by python-chess under the same rules."""

import io

import chess
import chess.pgn

from obscuro.arena.game_record import Turn
from obscuro.arena.move_report import Report
from obscuro.arena.pgn import comment, to_pgn, write_pgn
from obscuro.arena.players import RandomPlayer
from obscuro.arena.referee import play_game
from obscuro.fog.board import FogOfWarBoard
from tests.arena.scripted import Scripted


def test_games_are_read_back_move_by_move() -> None:
    text = io.StringIO()
    records = [play_game(RandomPlayer(), RandomPlayer(), movetime=7, seed=n) for n in range(5)]
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
    record = play_game(Scripted(["e2e4", "e4e6"]), Scripted(["e7e5"]), movetime=1)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.headers["Result"] == "0-1"
    assert game.headers["Termination"] == "white made the illegal move e4e6"


def test_a_game_from_a_position_keeps_it() -> None:
    board = FogOfWarBoard("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")
    record = play_game(Scripted(["e2e4"]), Scripted([]), movetime=1, board=board)
    game = chess.pgn.read_game(io.StringIO(str(to_pgn(record))))
    assert game is not None
    assert game.board().fen() == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def test_comments_say_what_the_engine_knew() -> None:
    report = Report(belief=12, exact=True, nodes=345, depth=4.5, centipawns=-20)
    assert comment(Turn("e2e4", 0.25, report)) == "|P| 12, nodes 345, depth 4.5, cp -20, 0.250 s"
    assert comment(Turn("e2e4", 0.25, Report(belief=12, exact=False))) == "|P| 12 inexact, 0.250 s"
    assert comment(Turn("e2e4")) == ""
