"""A turn is answered by the engine's move wherever the account can be followed, else by any move."""

from __future__ import annotations

import threading
from typing import Any

import chess
import pytest

from obscuro.bots.mistboard.engine_messages import read_push, read_turn
from obscuro.bots.mistboard.seat_table import SeatTable
from obscuro.bots.mistboard.turn_desk import TurnDesk
from obscuro.bots.our_view import OurView
from obscuro.client.engine_pool import MoverPool
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import Message, make, observation, played, push, turn
from tests.bots.movers import QuickMover
from tests.hanging import HANG_SECONDS


class Desk:
    """A desk with one engine that plays at random; `ask` goes through JSON's types only."""

    def __init__(self, games: int = 2) -> None:
        self.movers: list[QuickMover] = []
        self.desk = TurnDesk(SeatTable(MoverPool(self._make, games), games), lambda: 5.0)

    def _make(self) -> QuickMover:
        self.movers.append(QuickMover(score=12))
        return self.movers[-1]

    def ask(self, request: Message, **limits: int) -> Message:
        return self.desk.answer(read_turn(request), **limits)

    @property
    def positions(self) -> list[str]:
        return [think.position for mover in self.movers for _, think in mover.asked]


def told_by_ours(board: FogOfWarBoard) -> str:
    view = OurView(board.turn, None)
    view.follow([move.uci() for move in board.move_stack])
    return view.position()


def test_an_answer() -> None:
    board = played("e2e4")
    answer = Desk().ask(turn(board, game="x"))
    assert (answer["protocolVersion"], answer["gameId"]) == ("1", "x")
    assert answer["sessionId"] == "x-black"
    assert answer["diagnostics"]["scoreCp"] == 12
    make(board, answer)


@pytest.mark.parametrize("told", ["transcripts", "deltas and pushes", "deltas alone"])
def test_a_whole_game(told: str) -> None:
    desk, board, expected = Desk(), FogOfWarBoard(), []
    while board.outcome() is None and len(board.move_stack) < 50:
        expected.append(told_by_ours(board))
        make(board, desk.ask(turn(board, delta=told != "transcripts")))
        if told == "deltas and pushes":
            ack = desk.desk.observe(read_push(push(board)))
            assert ack["received"] is True
    assert len(board.move_stack) > 20
    asked = [think.position for mover in desk.movers for _, think in mover.asked]
    if told != "deltas alone":
        assert sorted(asked) == sorted(expected)
    else:  # the same with `-` for what was seen after own moves
        assert all(text.count(" - ") for text in asked if len(text.split()) > 7)
        assert sorted(map(len_of_turns, asked)) == sorted(map(len_of_turns, expected))


def len_of_turns(position: str) -> int:
    return len(position.split())


def test_castling_is_answered_as_the_server_writes_it() -> None:
    board = played("g1f3 g8f6 g2g3 g7g6 f1g2 f8g7")
    desk = Desk()
    desk.movers.append(QuickMover(lambda think: "e1g1"))
    pool = MoverPool(lambda: desk.movers[0], 1)
    answer = TurnDesk(SeatTable(pool, 1)).answer(read_turn(turn(board)))
    assert answer["move"] == {"from": "e1", "to": "h1"}


def test_the_kings_capture_comes_first() -> None:
    desk = Desk()
    desk.ask(turn(played("e2e4 f7f6 d1h5 a7a6")))
    ((_, think),) = desk.movers[0].asked
    assert think.moves[0] == "h5e8"


@pytest.mark.parametrize(
    ("clock", "limits", "clocks", "movetime"),
    [
        ({"remaining_ms": None, "increment_ms": 0}, {}, None, 1000),
        ({"remaining_ms": None, "increment_ms": 0}, {"budget": 700, "deadline": 9000}, None, 700),
        ({"remaining_ms": None, "increment_ms": 0}, {"deadline": 800}, None, 500),
        ({"remaining_ms": 9000, "increment_ms": 100}, {}, (9000, 9000, 100, 100), 1000),
    ],
)
def test_the_time(
    clock: Message, limits: dict[str, int], clocks: tuple[int, ...] | None, movetime: int
) -> None:
    desk = Desk()
    desk.ask(turn(FogOfWarBoard(), clock=clock), **limits)
    ((_, think),) = desk.movers[0].asked
    assert (think.clocks, think.movetime, think.since) == (clocks, movetime, 5.0)


def test_a_search_that_takes_too_long_is_ended() -> None:
    desk, board = Desk(), FogOfWarBoard()
    desk.ask(turn(board))
    desk.movers[0].hold = True  # until it is stopped
    board.push_uci("e2e4")
    board.push_uci("e7e5")
    clock = {"remaining_ms": 600_000, "increment_ms": 0}
    make(board, desk.ask(turn(board, clock=clock), budget=1))


def test_a_turn_that_comes_again_gets_the_same_answer() -> None:
    desk, board = Desk(), played("e2e4 e7e5")
    first = desk.ask(turn(board))
    assert desk.ask(turn(board)) == first
    assert len(desk.movers[0].asked) == 1


def test_a_game_that_was_forgotten_goes_on_with_its_transcript() -> None:
    desk, board = Desk(games=1), played("e2e4 e7e5")
    desk.ask(turn(board, game="a"))
    desk.ask(turn(board, game="b"))
    board = played("e2e4 e7e5 g1f3 b8c6")
    make(board, desk.ask(turn(board, game="a")))
    assert len(desk.movers) == 1
    assert desk.positions[-1] == told_by_ours(played("e2e4 e7e5 g1f3 b8c6"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"observationTranscript": None},
        {"observationTranscript": []},
        {"observationTranscript": [{"ply": 0}]},
        {"observationTranscript": None, "latestObservationDelta": {"kind": "x"}},
        {"observationTranscript": None, "latestObservationDelta": 3},
        {"ply": 7},
        {"color": "black"},
    ],
)
def test_an_account_that_cannot_be_followed_costs_no_game(wrong: dict[str, Any]) -> None:
    desk, board = Desk(), played("e2e4 e7e5")
    answer = desk.ask(turn(board) | wrong)
    assert "fault" in answer["diagnostics"]
    make(board, answer)
    assert not desk.positions


def test_any_move_is_the_kings_capture_where_it_is_seen() -> None:
    board = played("e2e4 f7f6 d1h5 a7a6")
    answer = Desk().ask(turn(board, delta=True))  # of a game that the desk has never heard of
    assert answer["move"] == {"from": "h5", "to": "e8"}


def test_black_may_begin_with_a_delta() -> None:
    desk, board = Desk(), played("e2e4")
    make(board, desk.ask(turn(board, delta=True)))
    assert desk.positions == [told_by_ours(played("e2e4"))]


def test_a_push_lets_the_engine_think_on() -> None:
    desk, board = Desk(), FogOfWarBoard()
    make(board, desk.ask(turn(board)))
    desk.desk.observe(read_push(push(board)))
    desk.desk.observe(read_push(push(board)))  # again, and it is passed over
    ((game, position),) = desk.movers[0].watched
    view = OurView(chess.WHITE, None)
    view.follow([move.uci() for move in board.move_stack])
    assert (game, position) == ("g-white", view.position())


def test_a_push_of_an_unknown_game_is_acknowledged() -> None:
    assert Desk().desk.observe(read_push(push(played("e2e4"))))["received"] is True


def test_a_game_that_a_push_ends_frees_its_engine() -> None:
    desk = Desk(games=1)
    board = played("e2e4 f7f6 d1h5 a7a6")
    make(board, desk.ask(turn(board)))
    board = played("e2e4 f7f6 d1h5 a7a6 h5e8")
    desk.desk.observe(read_push(push(board)))
    desk.ask(turn(FogOfWarBoard(), game="next"))
    assert len(desk.movers) == 1


def test_games_at_the_same_time_do_not_wait_for_each_other() -> None:
    desk, board = Desk(games=2), FogOfWarBoard()
    desk.ask(turn(board, game="slow"))
    slow = desk.movers[0]
    slow.hold = True
    slow.thinking.clear()
    later = played("e2e4 e7e5")
    answers: list[Message] = []
    thread = threading.Thread(target=lambda: answers.append(desk.ask(turn(later, game="slow"))))
    thread.start()
    assert slow.thinking.wait(HANG_SECONDS)
    make(board, desk.ask(turn(board, game="quick")))
    assert not answers
    slow.stop()
    thread.join(HANG_SECONDS)
    assert answers


def test_what_is_seen_is_all_that_an_engine_is_told() -> None:
    """Two games that look the same to a side are the same to its engine."""
    desk = Desk()
    for game, line in (("a", "e2e4 g7g6"), ("b", "e2e4 h7h6")):
        desk.ask(turn(played(line), game=game))
    assert observation(played("e2e4 g7g6"), True) == observation(played("e2e4 h7h6"), True)
    assert len(set(desk.positions)) == 1
