"""Playing an event: all its games, faults of the machine, interruptions, errors."""

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import chess
import pytest

from obscuro.client.uci_process import EngineError, MachineFault
from obscuro.matches.event import GameTask
from obscuro.matches.game_record import Forfeit, GameRecord, Turn
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
    assert result.faults == 2
    assert [number for number, _ in faults] == [0, 0]
    assert all(str(fault) in text for _, text in faults)
    assert moves(result.games) == moves(expected)
    content = read_journal(tmp_path / "j")
    assert (content.faults, moves(content.games)) == (2, moves(expected))
    with Journal.open(tmp_path / "j", event) as journal:
        again = play_event(event, scripted_workers(RandomPlayer), journal)
    assert (again.complete, again.faults) == (True, 2)


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
    seen: list[int] = []

    def rule(task: GameTask, game: GameRecord) -> str | None:
        seen.append(task.number)
        return "enough" if len(seen) == 3 else None

    with Journal.open(tmp_path / "j", event) as journal:
        result = play_event(event, scripted_workers(RandomPlayer), journal, stop_rule=rule)
    assert (result.complete, result.reason, result.failure) == (True, "enough", None)
    assert 3 <= len(result.games) < 50
    before, seen = list(result.games), []
    with Journal.open(tmp_path / "j", event) as journal:
        result = play_event(event, scripted_workers(RandomPlayer), journal, stop_rule=rule)
    assert (result.reason, seen) == ("enough", before)


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
            allowed.append((self.name, allowance.words))
            return super().choose(board, allowance)

    event = match_event(2, max_plies=2, openings=parse_openings("open: e4 e5", "test"))
    first, second = event.entrants
    event = replace(event, entrants=(first, replace(second, control=TimeControl(None, 9000, 100))))
    result = play_event(event, scripted_workers(Watching))
    clock = "wtime 9000 btime 9000 winc 100 binc 100"
    assert allowed == [("a", "movetime 1"), ("b", clock), ("b", clock), ("a", "movetime 1")]
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
