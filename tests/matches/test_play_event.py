"""Playing an event: all its games, faults of the machine, interruptions, errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.event import GameTask
from obscuro.matches.game_record import Contestant, Forfeit, GameRecord, LateForfeit, Turn
from obscuro.matches.game_workers import (
    STALL_SECONDS,
    TICK_SECONDS,
    MachineWatch,
    Played,
    Players,
    play_task,
)
from obscuro.matches.journal import Journal, JournalError, read_journal
from obscuro.matches.openings import parse_openings
from obscuro.matches.play_event import MOST_FAULTS, RepeatedFaultError, play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.time_control import Allowance, TimeControl
from obscuro.rules.board import FogOfWarBoard
from tests.matches.events import match_event, scripted_workers
from tests.matches.scripted import Scripted


class Unlucky(RandomPlayer):
    """Raises these errors, each in one game, before it plays; `None` is a game without one."""

    def __init__(self, name: str, errors: list[Exception | None]) -> None:
        super().__init__(name)
        self._errors = errors

    def new_game(self, board: FogOfWarBoard, color: chess.Color, seed: int) -> None:
        super().new_game(board, color, seed)
        error = self._errors.pop(0) if self._errors else None
        if error is not None:
            raise error


def moves(games: dict[int, GameRecord]) -> dict[int, list[chess.Move]]:
    return {number: game.board.move_stack for number, game in sorted(games.items())}


def test_every_game_is_played_once_with_its_players() -> None:
    event = match_event(6)
    heard: list[tuple[int, str]] = []
    result = play_event(
        event,
        scripted_workers(RandomPlayer),
        on_game=lambda task, game: heard.append((task.number, game.white)),
    )
    assert heard == [(n, "a" if n % 2 == 0 else "b") for n in range(6)]
    assert result.complete
    assert result.reason == "all games are played"


def test_concurrent_games_are_the_same_games() -> None:
    event = match_event(7, max_plies=40)
    results = [play_event(event, scripted_workers(RandomPlayer, n)) for n in (1, 3)]
    assert moves(results[0].games) == moves(results[1].games)
    assert len(results[0].games) == 7


@pytest.mark.parametrize(
    "fault", [MachineFault("killed"), OSError(24, "Too many open files"), MemoryError("full")]
)
def test_a_game_that_the_machine_broke_off_is_played_again(
    fault: Exception, tmp_path: Path
) -> None:
    event = match_event(4)
    errors: list[Exception | None] = [None, fault, fault]
    faults: list[tuple[int, str]] = []
    expected = play_event(event, scripted_workers(RandomPlayer)).games
    with Journal.open(tmp_path / "j", event) as journal:
        result = play_event(
            event,
            scripted_workers(lambda name: Unlucky(name, errors)),
            journal,
            on_fault=lambda task, text: faults.append((task.number, text)),
        )
    assert result.complete
    assert result.store.faults == 2
    assert [number for number, _ in faults] == [0, 0]
    assert all(str(fault) in text for _, text in faults)
    assert moves(result.games) == moves(expected)
    content = read_journal(tmp_path / "j")
    assert (content.faults, moves(content.games)) == (2, moves(expected))
    with Journal.open(tmp_path / "j", event) as journal:
        again = play_event(event, scripted_workers(RandomPlayer), journal)
    assert (again.complete, again.store.faults) == (True, 2)


def test_a_game_that_breaks_off_again_and_again_ends_the_event() -> None:
    errors: list[Exception | None] = [None, None] + [MachineFault("killed")] * 9
    result = play_event(match_event(2), scripted_workers(lambda name: Unlucky(name, errors)))
    assert isinstance(result.failure, RepeatedFaultError)
    assert result.reason == f"game 2 was broken off {MOST_FAULTS} times, last because: killed"
    assert not result.complete
    assert set(result.games) == {0}


def test_a_player_that_cannot_be_started_ends_the_event_and_keeps_its_games() -> None:
    errors: list[Exception | None] = [None, None, EngineError("said nothing")]
    result = play_event(match_event(4), scripted_workers(lambda name: Unlucky(name, errors)))
    assert isinstance(result.failure, EngineError)
    assert (result.complete, result.reason, set(result.games)) == (False, "said nothing", {0})


def test_an_error_that_nobody_foresaw_rises() -> None:
    errors: list[Exception | None] = [None, ZeroDivisionError("oops")]
    with pytest.raises(ZeroDivisionError):
        play_event(match_event(4), scripted_workers(lambda name: Unlucky(name, errors)))


@pytest.mark.parametrize("concurrency", [1, 2])
def test_an_interruption_keeps_the_games_and_closes_the_players(
    concurrency: int, tmp_path: Path
) -> None:
    players: list[Scripted] = []

    def make(name: str) -> Scripted:
        players.append(Scripted(["e2e4", "d2d4"] * 9, name))
        return players[-1]

    def interrupt(task: GameTask, game: GameRecord) -> None:
        if task.number == 1:
            raise KeyboardInterrupt

    event = match_event(20)
    with Journal.open(tmp_path / "j", event) as journal:
        result = play_event(event, scripted_workers(make, concurrency), journal, on_game=interrupt)
        assert journal.games.keys() == result.games.keys()
    assert isinstance(result.failure, KeyboardInterrupt)
    assert (result.complete, result.reason) == (False, "interrupted")
    assert 1 in result.games
    assert len(result.games) < 20
    assert [player.closed for player in players] == [1] * len(players)


def test_a_resumed_event_plays_what_is_missing(tmp_path: Path) -> None:
    event = match_event(8)

    def interrupt_at(number: int) -> Callable[[GameTask, GameRecord], None]:
        def interrupt(task: GameTask, game: GameRecord) -> None:
            played.append(task.number)
            if task.number == number:
                raise KeyboardInterrupt

        return interrupt

    played: list[int] = []
    for number in (1, 4, 99):
        with Journal.open(tmp_path / "j", event) as journal:
            result = play_event(
                event, scripted_workers(RandomPlayer), journal, on_game=interrupt_at(number)
            )
    assert result.complete
    assert len(played) == len(set(played))
    assert moves(result.games) == moves(play_event(event, scripted_workers(RandomPlayer)).games)


def test_a_stop_rule_ends_the_event_and_sees_the_journals_games_first(tmp_path: Path) -> None:
    event = match_event(50)
    for _ in range(2):
        with Journal.open(tmp_path / "j", event) as journal:
            result = play_event(
                event,
                scripted_workers(RandomPlayer),
                journal,
                stop_rule=lambda: "enough" if len(journal.games) >= 3 else None,
            )
        assert (result.complete, result.reason, result.failure) == (True, "enough", None)
        assert len(result.games) == 3


def test_a_journal_that_cannot_be_written_ends_the_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = match_event(4)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with Journal.open(tmp_path / "j", event) as journal:
        monkeypatch.setattr("obscuro.matches.journal.os.fsync", full)
        result = play_event(event, scripted_workers(RandomPlayer), journal)
    assert isinstance(result.failure, JournalError)
    assert result.reason == f"can't write {tmp_path / 'j'}: No space left on device"
    assert result.games == read_journal(tmp_path / "j").games == {}


def test_each_player_has_its_own_time_and_opening() -> None:
    allowed: list[tuple[str, str]] = []

    class Watching(RandomPlayer):
        def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
            allowed.append((self.name, allowance.limit.command))
            return super().choose(board, allowance)

    event = match_event(2, max_plies=2, openings=parse_openings("open: e4 e5", "test"))
    first, second = event.entrants
    event = replace(event, entrants=(first, replace(second, control=TimeControl(None, 9000, 100))))
    result = play_event(event, scripted_workers(Watching))
    clock = "go wtime 9000 btime 9000 winc 100 binc 100"
    assert allowed == [("a", "go movetime 1"), ("b", clock), ("b", clock), ("a", "go movetime 1")]
    game = result.games[0]
    assert game.opening == "open"
    assert game.board.root().fen().startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/")
    assert str(game.controls[chess.BLACK]) == "9+0.1 s"


class Sleeper(RandomPlayer):
    """Thinks until somebody interrupts it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.thinks = threading.Event()
        self.interrupted = threading.Event()

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        self.thinks.set()
        self.interrupted.wait()
        raise Forfeit("was interrupted")

    def interrupt(self) -> None:
        self.interrupted.set()


def test_the_end_of_an_event_does_not_wait_for_a_player_that_thinks() -> None:
    sleeper = Sleeper("a")
    players = [sleeper]
    lock = threading.Lock()

    def make(name: str) -> RandomPlayer:
        with lock:
            return players.pop() if name == "a" and players else RandomPlayer(name)

    def interrupt(task: GameTask, game: GameRecord) -> None:
        sleeper.thinks.wait()
        raise KeyboardInterrupt

    result = play_event(match_event(4), scripted_workers(make, 2), on_game=interrupt)
    assert result.reason == "interrupted"
    assert all(game.regular or "12 plies" in game.ending for game in result.games.values())
    assert len(result.games) in (1, 2)


def test_a_machine_without_threads_ends_the_event_with_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(thread: threading.Thread) -> None:
        if thread.name != "machine watch":
            raise RuntimeError("can't start new thread")
        start(thread)

    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", refuse)
    result = play_event(match_event(2), scripted_workers(RandomPlayer, 2))
    assert result.reason == "can't play 2 games at the same time: can't start new thread"


def test_ctrl_c_while_the_journal_is_written_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event, calls, sync = match_event(20), 0, os.fsync

    def interrupt_once(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        sync(descriptor)

    with Journal.open(tmp_path / "j", event) as journal:
        monkeypatch.setattr("obscuro.matches.journal.os.fsync", interrupt_once)
        result = play_event(event, scripted_workers(RandomPlayer), journal)
    assert result.reason == "interrupted"
    assert list(result.games) == [0, 1, 2]
    assert list(read_journal(tmp_path / "j").games) == [0, 1, 2]


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
