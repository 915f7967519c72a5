"""The watch that notices when the machine stood still, and games that such a stall spoils."""

import time
from collections.abc import Callable

import chess
import pytest

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.game_record import Contestant, LateForfeit, Turn
from obscuro.matches.game_workers import (
    STALL_SECONDS,
    TICK_SECONDS,
    MachineWatch,
    Played,
    Players,
    play_task,
)
from obscuro.matches.players import RandomPlayer
from obscuro.matches.time_control import Allowance, TimeControl
from obscuro.rules.board import FogOfWarBoard
from tests.matches.events import match_event


class Clock:
    """A clock that a test sets. The watch's thread is not started; the test ticks.

    It is a day ahead of the referee's clock, so that its stalls come after the turns' beginnings.
    """

    def __init__(self) -> None:
        self.seconds = time.monotonic() + 86_400

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(clock: Clock) -> MachineWatch:
    return MachineWatch(clock)


def pass_time(watch: MachineWatch, clock: Clock, seconds: float) -> None:
    """Let time pass while the machine works."""
    ticks = int(seconds / TICK_SECONDS) + 1
    for _ in range(ticks):
        clock.seconds += seconds / ticks
        watch.tick()


def test_time_that_passes_tick_by_tick_is_no_stall(watch: MachineWatch, clock: Clock) -> None:
    begin = watch.now()
    pass_time(watch, clock, 3600)
    assert watch.stall_since(begin) is None
    watch.check(begin)


def test_a_tick_that_comes_too_late_is_a_stall(watch: MachineWatch, clock: Clock) -> None:
    begin = watch.now()
    clock.seconds += 30
    watch.tick()
    pass_time(watch, clock, 5)
    stall = watch.stall_since(begin)
    assert str(stall) == "the machine stood still for 30.0 s"
    with pytest.raises(MachineFault, match="stood still for 30"):
        watch.check(begin)


def test_a_stall_counts_before_the_watching_thread_has_run(
    watch: MachineWatch, clock: Clock
) -> None:
    begin = watch.now()
    clock.seconds += 2 * STALL_SECONDS
    assert watch.stall_since(begin) is not None


def test_a_stall_that_was_over_before_does_not_count(watch: MachineWatch, clock: Clock) -> None:
    clock.seconds += 30
    watch.tick()
    assert watch.stall_since(watch.now()) is None


def test_it_ticks_by_itself() -> None:
    with MachineWatch() as watch:
        assert watch.stall_since(watch.now()) is None


class Slow(RandomPlayer):
    """Takes its time, and calls something meanwhile."""

    def __init__(self, meanwhile: Callable[[], None], *, hangs: bool = False) -> None:
        super().__init__("slow")
        self._meanwhile = meanwhile
        self._hangs = hangs

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        self._meanwhile()
        if self._hangs:
            raise LateForfeit("forfeits: gave no bestmove in time")
        return Turn(super().choose(board, allowance).uci, 30.0)


def outcome(player: Contestant, watch: MachineWatch) -> Played:
    """Let the player have White in a game with 10 s on the clock."""
    event = match_event(1, control=TimeControl(None, 10_000))
    players = Players(print, lambda entrant, warn, coverage: player)
    return play_task(event, event.tasks[0], players, watch)


@pytest.mark.parametrize("hangs", [False, True])
def test_a_loss_by_time_in_a_stall_is_the_machines_fault(
    watch: MachineWatch, clock: Clock, hangs: bool
) -> None:
    def stall() -> None:
        clock.seconds += 30

    played = outcome(Slow(stall, hangs=hangs), watch)
    assert (played.record, played.fault) == (None, "the machine stood still for 30.0 s")


@pytest.mark.parametrize("hangs", [False, True])
def test_a_loss_by_time_without_a_stall_is_the_players(
    watch: MachineWatch, clock: Clock, hangs: bool
) -> None:
    played = outcome(Slow(lambda: pass_time(watch, clock, 30), hangs=hangs), watch)
    assert played.fault is None
    assert played.record is not None
    assert (played.record.winner, played.record.regular) == (chess.BLACK, False)


class Mute(RandomPlayer):
    """Cannot be started."""

    def __init__(self, meanwhile: Callable[[], None]) -> None:
        super().__init__("mute")
        self._meanwhile = meanwhile

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        self._meanwhile()
        raise EngineError("said nothing")


def test_a_player_that_could_not_start_in_a_stall_may_try_again(
    watch: MachineWatch, clock: Clock
) -> None:
    def stall() -> None:
        clock.seconds += 30

    assert outcome(Mute(stall), watch).fault == "the machine stood still for 30.0 s"
    with pytest.raises(EngineError, match="said nothing"):
        outcome(Mute(lambda: None), watch)
