"""A turn is answered by the engine's move wherever the account can be followed, else by any move."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import chess
import pytest

from obscuro.bots.mistboard.engine_messages import MessageError, read_push, read_turn
from obscuro.bots.mistboard.engine_service import EngineRoutes, EngineSeats, SeatsBusyError
from obscuro.client.engine_pool import MoverPool
from obscuro.rules.board import FogOfWarBoard
from tests.bots.mistboard.wire import (
    Message,
    make,
    observation,
    played,
    push,
    told_by_ours,
    turn,
)
from tests.bots.movers import QuickMover


class Service:
    """The routes without HTTP, with engines that play at random."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.movers: list[QuickMover] = []
        self.runner = runner
        self.pool = MoverPool(self._make, 2)
        self.routes = EngineRoutes("token", self.pool, 2)

    def _make(self) -> QuickMover:
        self.movers.append(QuickMover(score=12))
        return self.movers[-1]

    def ask(self, request: Message, **limits: int) -> Message:
        return self.runner.run(self.routes.answer(read_turn(request), **limits))

    def push(self, message: Message) -> Message:
        return self.runner.run(self.routes.observe(read_push(message)))

    @property
    def positions(self) -> list[str]:
        return [think.position for mover in self.movers for _, think in mover.asked]


@pytest.fixture
def service() -> Iterator[Service]:
    with asyncio.Runner() as runner:
        made = Service(runner)
        yield made
        made.routes.close()


def test_an_answer(service: Service) -> None:
    board = played("e2e4")
    answer = service.ask(turn(board, game="x"))
    assert (answer["protocolVersion"], answer["gameId"]) == ("1", "x")
    assert answer["sessionId"] == "x-black"
    assert answer["diagnostics"]["scoreCp"] == 12
    make(board, answer)


@pytest.mark.parametrize("told", ["transcripts", "deltas and pushes", "deltas alone"])
def test_a_whole_game(service: Service, told: str) -> None:
    board, expected = FogOfWarBoard(), []
    while board.outcome() is None and len(board.move_stack) < 50:
        expected.append(told_by_ours(board))
        make(board, service.ask(turn(board, delta=told != "transcripts")))
        if told == "deltas and pushes":
            assert service.push(push(board))["received"] is True
    assert len(board.move_stack) > 20
    if told != "deltas alone":
        assert sorted(service.positions) == sorted(expected)
    else:  # the same with `-` for what was seen after own moves
        assert all(text.count(" - ") for text in service.positions if len(text.split()) > 7)
        words = [
            sorted(len(text.split()) for text in texts) for texts in (service.positions, expected)
        ]
        assert words[0] == words[1]


def test_castling_is_answered_as_the_server_writes_it(service: Service) -> None:
    service.movers.append(QuickMover(lambda think: "e1g1"))
    service.pool.give(service.movers[0])
    answer = service.ask(turn(played("g1f3 g8f6 g2g3 g7g6 f1g2 f8g7")))
    assert answer["move"] == {"from": "e1", "to": "h1"}


def test_the_kings_capture_comes_first(service: Service) -> None:
    service.ask(turn(played("e2e4 f7f6 d1h5 a7a6")))
    ((_, think),) = service.movers[0].asked
    assert think.moves[0] == "h5e8"


@pytest.mark.parametrize(
    ("clock", "limits", "clocks", "movetime"),
    [
        ({"remaining_ms": None, "increment_ms": 0}, {}, None, 1000),
        ({"remaining_ms": None, "increment_ms": 0}, {"budget": 700, "deadline": 9000}, None, 700),
        ({"remaining_ms": None, "increment_ms": 0}, {"deadline": 800}, None, 500),
        ({"remaining_ms": 9000, "increment_ms": 100}, {}, (9000, 9000, 100, 100), 1000),
        ({"remaining_ms": 60_000.4, "increment_ms": 2}, {}, (60_000, 60_000, 2, 2), 1000),
    ],
)
def test_the_time(
    service: Service,
    clock: Message,
    limits: dict[str, int],
    clocks: tuple[int, ...] | None,
    movetime: int,
) -> None:
    service.ask(turn(FogOfWarBoard(), clock=clock), **limits)
    ((_, think),) = service.movers[0].asked
    assert (think.clocks, think.movetime) == (clocks, movetime)


def test_a_search_that_takes_too_long_is_ended(service: Service) -> None:
    board = FogOfWarBoard()
    service.ask(turn(board))
    service.movers[0].hold = True  # until it is stopped
    board = played("e2e4 e7e5")
    clock = {"remaining_ms": 600_000, "increment_ms": 0}
    make(board, service.ask(turn(board, clock=clock), budget=1))


def test_a_turn_that_comes_again_gets_the_same_answer(service: Service) -> None:
    board = played("e2e4 e7e5")
    first = service.ask(turn(board))
    assert service.ask(turn(board)) == first
    assert len(service.movers[0].asked) == 1


def test_a_game_that_was_forgotten_goes_on_with_its_transcript(service: Service) -> None:
    for game in "abc":
        service.ask(turn(played("e2e4 e7e5"), game=game))
    board = played("e2e4 e7e5 g1f3 b8c6")
    told = told_by_ours(board)
    make(board, service.ask(turn(board, game="a")))
    assert len(service.movers) == 2 and told in service.positions


@pytest.mark.parametrize(
    "wrong",
    [
        {"observationTranscript": None},
        {"observationTranscript": []},
        {"observationTranscript": "all"},
        {"observationTranscript": [{"ply": 0}]},
        {"observationTranscript": None, "latestObservationDelta": {"kind": "x"}},
        {"observationTranscript": None, "latestObservationDelta": 3},
        {"ply": 7},
        {"ply": -1},
        {"ply": True},
        {"color": "black"},
        {"color": "red"},
        {"color": ["white"]},
        {"clock": 5},
        {"clock": {"remaining_ms": "soon"}},
    ],
)
def test_a_fault_of_a_turn_costs_a_move_and_not_the_game(
    service: Service, wrong: dict[str, Any]
) -> None:
    board = played("e2e4 e7e5")
    answer = service.ask(turn(board) | wrong)
    assert "fault" in answer["diagnostics"]
    make(board, answer)
    assert not service.positions


@pytest.mark.parametrize("wrong", [{}, {"color": None}])
def test_any_move_is_the_kings_capture_where_it_is_seen(
    service: Service, wrong: dict[str, Any]
) -> None:
    board = played("e2e4 f7f6 d1h5 a7a6")
    answer = service.ask(turn(board, delta=True) | wrong)  # of a game that is not known
    assert answer["move"] == {"from": "h5", "to": "e8"}


def test_black_may_begin_with_a_delta(service: Service) -> None:
    board = played("e2e4")
    make(board, service.ask(turn(board, delta=True)))
    assert service.positions == [told_by_ours(played("e2e4"))]


def test_a_push_lets_the_engine_think_on(service: Service) -> None:
    board = FogOfWarBoard()
    make(board, service.ask(turn(board)))
    service.push(push(board))
    service.push(push(board))  # again, and it is passed over
    assert service.movers[0].watched == [("g-white", told_by_ours(board, chess.WHITE))]


def test_a_push_of_an_unknown_game_is_acknowledged(service: Service) -> None:
    assert service.push(push(played("e2e4")))["received"] is True


def test_a_game_that_a_push_ends_frees_its_engine(service: Service) -> None:
    service.ask(turn(FogOfWarBoard(), game="other"))
    service.ask(turn(played("e2e4 f7f6 d1h5 a7a6")))
    service.push(push(played("e2e4 f7f6 d1h5 a7a6 h5e8")))
    service.ask(turn(FogOfWarBoard(), game="next"))
    assert [game for game, _ in service.movers[1].asked] == ["g-white", "next-white"]


def test_games_at_the_same_time_do_not_wait_for_each_other(service: Service) -> None:
    service.ask(turn(FogOfWarBoard(), game="slow"))
    slow, board = service.movers[0], FogOfWarBoard()
    slow.hold = True

    async def both() -> Message:
        later = read_turn(turn(played("e2e4 e7e5"), game="slow"))
        waiting = asyncio.create_task(service.routes.answer(later))
        answer = await service.routes.answer(read_turn(turn(board, game="quick")))
        assert not waiting.done()
        slow.stop()
        await waiting
        return answer

    make(board, service.runner.run(both()))


def test_what_is_seen_is_all_that_an_engine_is_told(service: Service) -> None:
    """Two games that look the same to a side are the same to its engine."""
    for game, line in (("a", "e2e4 g7g6"), ("b", "e2e4 h7h6")):
        service.ask(turn(played(line), game=game))
    assert observation(played("e2e4 g7g6"), True) == observation(played("e2e4 h7h6"), True)
    assert len(service.positions) == 2 and len(set(service.positions)) == 1


def test_seats_keep_their_engines_and_a_thinking_engine_is_never_taken_away() -> None:
    made: list[QuickMover] = []

    def maker() -> QuickMover:
        made.append(QuickMover())
        return made[-1]

    async def use() -> None:
        seats = EngineSeats(MoverPool(maker, 2), 2)
        for session in "abab":
            async with seats.seat(session, 1.0) as seat:
                assert seat.mover is made["ab".index(session)]
        async with seats.seat("a", 1.0), seats.seat("b", 1.0):
            for session in "abc":
                with pytest.raises(SeatsBusyError):
                    async with seats.seat(session, 0.0):
                        pass
        async with seats.seat("c", 1.0):  # the game that rested longest gives way
            assert seats.is_idle("a") and not seats.is_idle("b")
        with pytest.raises(MessageError):
            async with seats.seat("a", 1.0):
                raise MessageError
        async with seats.seat("a", 1.0):
            waiting = asyncio.create_task(seats.seat("a", 60.0).__aenter__())
            await asyncio.sleep(0)
            assert not waiting.done()
        await waiting
        assert len(made) == 2

    asyncio.run(use())
