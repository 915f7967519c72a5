"""Game records as JSON: nothing is lost, and nonsense is noticed."""

import json

import chess
import pytest

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage
from obscuro.matches.game_record import (
    EVERYTHING,
    OWN_OBSERVATIONS,
    GameRecord,
    Turn,
    record_from_json,
    record_to_json,
    turn_from_json,
    turn_to_json,
)
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.time_control import Allowance, TimeControl
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from tests.matches.scripted import Scripted

FULL = Turn(
    "e2e4",
    0.123456789,
    Report(
        depth=4.5,
        nodes=1000,
        milliseconds=7,
        centipawns=-31,
        belief=2,
        exact=False,
        sampled=1,
        carried=10,
        infosets=20,
        iterations=30,
        expansions=40,
        evaluations=50,
        gadget="resolve",
        policy=(("e2e4", 0.75), ("d2d4", 0.25)),
        play=(("e2e4", 1.0),),
    ),
    3,
    Coverage(True, True, False, 0.0031),
)


class Talking(Scripted):
    """Says a lot about its only move, and was told everything."""

    told = EVERYTHING

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        super().choose(board, allowance)  # resigns in its second turn
        return FULL


def through_json(record: GameRecord) -> GameRecord:
    return record_from_json(json.loads(json.dumps(record_to_json(record))))


def assert_same(first: GameRecord, second: GameRecord) -> None:
    assert first.board.move_stack == second.board.move_stack
    assert first.board.root().fen() == second.board.root().fen()
    for name in GameRecord.__dataclass_fields__:
        if name != "board":
            assert getattr(first, name) == getattr(second, name), name


def test_a_whole_game_survives() -> None:
    record = play_game(RandomPlayer("a"), RandomPlayer("b"), control=1, seed=4, max_plies=80)
    assert_same(through_json(record), record)


def test_the_rule_of_stalemate_survives() -> None:
    start = "7k/8/8/8/1p6/1P1p4/BP1P4/KRB5 b - - 0 1"
    for board in (FogOfWarBoard(start), DrawnStalemateBoard(start)):
        record = play_game(Scripted([]), Scripted(["h8h7"]), control=1, board=board)
        again = through_json(record)
        assert_same(again, record)
        assert again.board.outcome() == record.board.outcome()


def test_older_records_have_the_rule_of_the_papers() -> None:
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=1)
    data = record_to_json(record)
    del data["stalemate"]
    assert record_from_json(data).board.stalemate == "loss"


def test_all_that_is_known_survives() -> None:
    record = play_game(
        Talking(["e2e4"], "talker"),
        Scripted([]),
        control={chess.WHITE: TimeControl(None, 60_000, 500), chess.BLACK: TimeControl(50)},
        board=FogOfWarBoard("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2"),
        opening="one pawn",
    )
    again = through_json(record)
    assert_same(again, record)
    assert again.plies[0].turn == FULL
    assert again.told == {chess.WHITE: EVERYTHING, chess.BLACK: OWN_OBSERVATIONS}
    assert (again.opening, again.regular, again.result) == ("one pawn", False, "1-0")


@pytest.mark.parametrize("turn", [Turn("e2e4"), FULL, Turn("e2e4", coverage=Coverage(False))])
def test_turns_survive(turn: Turn) -> None:
    assert turn_from_json(json.loads(json.dumps(turn_to_json(turn)))) == turn


def test_what_is_unknown_is_left_out() -> None:
    assert turn_to_json(Turn("e2e4", 0.5)) == {"uci": "e2e4", "seconds": 0.5}


@pytest.mark.parametrize(
    "change",
    [
        {"turns": [{"uci": "e2e5", "seconds": 0}]},
        {"turns": [{"seconds": 0}]},
        {"winner": "nobody"},
        {"told": {}},
        {"start": "nowhere"},
    ],
)
def test_nonsense_is_an_error(change: dict[str, object]) -> None:
    record = play_game(Scripted(["e2e4"]), Scripted([]), control=1)
    with pytest.raises((KeyError, TypeError, AttributeError, ValueError)):
        record_from_json(record_to_json(record) | change)
