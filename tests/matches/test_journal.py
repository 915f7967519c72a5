"""The store of an event's games, its journal, and game records as JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import chess
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from obscuro.client.move_report import Report
from obscuro.engine.report import Coverage, RootReport
from obscuro.matches.event import Entrant, Event
from obscuro.matches.game_record import (
    EVERYTHING,
    OWN_OBSERVATIONS,
    GameRecord,
    RecordData,
    Turn,
    record_data,
    turn_from_json,
    turn_to_json,
)
from obscuro.matches.game_workers import Played
from obscuro.matches.journal import Journal, JournalError, read_journal
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer
from obscuro.matches.referee import play_game
from obscuro.matches.sprt import SprtBounds
from obscuro.matches.time_control import Allowance, TimeControl
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from tests.matches.events import match_event, scripted_workers
from tests.matches.scripted import Scripted

ROOT = Path(__file__).resolve().parents[2]


def played(path: Path, event: Event) -> Path:
    """Play all games of an event into a journal."""
    with Journal.open(path, event) as journal:
        assert play_event(event, scripted_workers(RandomPlayer), journal).complete
    return path


@pytest.fixture
def event() -> Event:
    return match_event(4)


@pytest.fixture
def path(tmp_path: Path, event: Event) -> Path:
    return played(tmp_path / "match.jsonl", event)


def refusal(path: Path, event: Event) -> str:
    """Why a journal cannot be opened. Nothing of it changes."""
    before = path.read_bytes()
    with pytest.raises(JournalError) as caught:
        Journal.open(path, event)
    assert path.read_bytes() == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_it_holds_the_event_and_every_game(path: Path, event: Event) -> None:
    content = read_journal(path)
    expected = play_event(event, scripted_workers(RandomPlayer)).games
    assert content.event == event
    assert list(content.games) == [0, 1, 2, 3]
    assert not content.torn
    for number, game in expected.items():
        held = replace(content.games[number], started=game.started)
        assert record_data(held) == record_data(game)


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_last_line_is_dropped_and_its_game_played_again(
    path: Path, event: Event, cut: int
) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert read_journal(path).torn
    with Journal.open(path, event) as journal:
        assert journal.torn
        assert list(journal.games) == [0, 1, 2]
        result = play_event(event, scripted_workers(RandomPlayer), journal)
    assert list(result.games) == [0, 1, 2, 3]
    assert list(read_journal(path).games) == [0, 1, 2, 3]


def test_every_cut_keeps_all_complete_lines(path: Path, event: Event) -> None:
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for size in [0, 1, 15, first - 1, first, first + 1, *range(first, len(whole), 97)]:
        path.write_bytes(whole[:size])
        with Journal.open(path, event) as journal:
            assert len(journal.games) == max(whole[:size].count(b"\n") - 1, 0)
        assert whole.startswith(path.read_bytes())
        assert path.read_bytes().endswith(b"\n")


def test_a_damaged_line_in_the_middle_is_named(path: Path, event: Event) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = lines[2].replace(b'"game":1', b'"game":?')
    path.write_bytes(b"".join([*lines[:2], damaged, *lines[3:]]))
    text = f"{path}, line 3 is damaged; nothing was changed; delete the line to play its game again"
    assert refusal(path, event) == text
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    with Journal.open(path, event) as journal:
        assert list(journal.games) == [0, 2, 3]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"game":2', '"game":1'),  # a game twice
        ('"game":2', '"game":9'),  # a game that the event does not have
        ('"kind":"game","game":2', '"kind":"gift","game":2'),
        ('"turns":[{"uci":"', '"turns":[{"uci":"e1e8"},{"uci":"'),  # an illegal move
        ('"white":', '"wight":'),
    ],
)
def test_a_line_that_makes_no_sense_is_damaged(
    path: Path, event: Event, old: str, new: str
) -> None:
    lines = path.read_text().splitlines(keepends=True)
    assert old in lines[3]
    lines[3] = lines[3].replace(old, new, 1)
    path.write_text("".join(lines))
    assert f"{path}, line 4 is damaged" in refusal(path, event)


def test_a_damaged_event_is_named(path: Path, event: Event) -> None:
    text = path.read_text()
    path.write_text(text.replace('"max_plies":12', '"max_plies":13', 1))
    assert refusal(path, event) == f"{path}, line 1 is damaged; nothing was changed"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"control": TimeControl(2)}, "time"),
        ({"entrants": (Entrant("a", "greedy"), Entrant("b", "random"))}, "players"),
        ({"tasks": match_event(6).tasks}, "number of games"),
        ({"tasks": match_event(4, seed=2).tasks}, "openings or seed"),
        ({"max_plies": 13}, "limit of moves"),
        ({"sprt": SprtBounds()}, "sequential test"),
        ({"coverage": False}, "coverage"),
        ({"stalemate": "draw"}, "rule of stalemate"),
        ({"name": "cup"}, "name"),
    ],
)
def test_another_events_journal_is_refused(
    path: Path, event: Event, change: dict[str, object], what: str
) -> None:
    other = replace(event, **change)  # type: ignore[arg-type]
    assert f"{path} belongs to another event (different {what});" in refusal(path, other)


@pytest.mark.parametrize("text", ["hello\n", "{}\n", "[1]\n", "hello", "\n", '{"kind":"game"}\n'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, event: Event, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    assert refusal(path, event) == f"{path} is not a journal of games"


def test_a_journal_of_another_format_is_refused(path: Path, event: Event) -> None:
    path.write_text(path.read_text().replace('"format":1', '"format":9', 1))
    assert "has the format 9 of another version of obscuro" in refusal(path, event)


def test_only_one_process_has_it(path: Path, event: Event) -> None:
    with Journal.open(path, event):
        assert f"{path} is in use by another process" in refusal(path, event)
    Journal.open(path, event).close()


@pytest.mark.parametrize("name", ["nowhere/match.jsonl", "."])
def test_a_file_that_cannot_be_made(tmp_path: Path, event: Event, name: str) -> None:
    with pytest.raises(JournalError, match=r"^can't write "):
        Journal.open(tmp_path / name, event)
    with pytest.raises(JournalError, match=r"^can't read "):
        read_journal(tmp_path / name)


def test_a_line_that_could_not_be_written_leaves_no_trace(
    path: Path, event: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = read_journal(path).games
    path.unlink()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with Journal.open(path, event) as journal:
        journal.add(Played(event.tasks[0], games[0]))
        kept = path.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr("obscuro.matches.journal.os.fsync", full)
            with pytest.raises(JournalError, match="No space left on device"):
                journal.add(Played(event.tasks[1], games[1]))
        assert path.read_bytes() == kept
        journal.add(Played(event.tasks[1], games[1]))
    assert list(read_journal(path).games) == [0, 1]


# -- SIGKILL --------------------------------------------------------------------------------

KILLED = """
import sys
from pathlib import Path
from tests.matches.events import match_event, scripted_workers
from obscuro.matches.journal import Journal
from obscuro.matches.play_event import play_event
from obscuro.matches.players import RandomPlayer

event = match_event(120)
with Journal.open(Path(sys.argv[1]), event) as journal:
    play_event(
        event,
        scripted_workers(RandomPlayer, 2),
        journal,
        on_game=lambda task, game: print(task.number, flush=True),
    )
"""


def test_a_killed_program_loses_no_game_and_counts_none_twice(tmp_path: Path) -> None:
    path, event = tmp_path / "match.jsonl", match_event(120)
    announced: list[int] = []
    for after in (3, 7, 1):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        announced += [int(process.stdout.readline()) for _ in range(after)]
        process.send_signal(signal.SIGKILL)
        announced += [int(line) for line in process.stdout.read().split("\n")[:-1]]
        process.stdout.close()
        process.wait()
        assert set(announced) <= read_journal(path).games.keys()
    assert len(announced) == len(set(announced))
    with Journal.open(path, event) as journal:
        held = len(journal.games)
        result = play_event(event, scripted_workers(RandomPlayer), journal)
    assert len(announced) <= held < 120
    assert result.complete
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(line["game"] for line in lines[1:]) == list(range(120))


# -- any damage -----------------------------------------------------------------------------


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_damage_is_one_clear_line_and_changes_nothing(
    path: Path, event: Event, data: st.DataObject
) -> None:
    whole = path.read_bytes()
    begin = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(begin, min(begin + 40, len(whole))))
    middle = data.draw(st.binary(max_size=12) | st.sampled_from([b"1e999", b"null", b"[", b'{"']))
    damaged = path.with_name("damaged.jsonl")
    damaged.write_bytes(whole[:begin] + middle + whole[end:])
    before = damaged.read_bytes()
    try:
        with Journal.open(damaged, event) as journal:
            assert len(journal.games) <= 4
    except JournalError as error:
        assert "\n" not in str(error)
        assert damaged.read_bytes() == before


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
    Coverage(True, True, False, 0.0031, 2.0, RootReport(1.0, 0.5, 1.0, 0.25, 0.0, -0.5, 0.375)),
)


class Talking(Scripted):
    """Says a lot about its only move, and was told everything."""

    told = EVERYTHING

    def choose(self, board: FogOfWarBoard, allowance: Allowance) -> Turn:
        super().choose(board, allowance)  # resigns in its second turn
        return FULL


def through_json(record: GameRecord) -> GameRecord:
    return msgspec.json.decode(msgspec.json.encode(record_data(record)), type=RecordData).record()


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
    data = msgspec.to_builtins(record_data(record))
    del data["stalemate"]
    assert msgspec.convert(data, RecordData).record().board.stalemate == "loss"


def test_all_that_is_known_survives() -> None:
    record = play_game(
        Talking(["e2e4"], "talker"),
        Scripted([]),
        control={chess.WHITE: TimeControl(None, 60_000, 500), chess.BLACK: TimeControl(50)},
        board=FogOfWarBoard("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2"),
    )
    record = replace(record, opening="one pawn")
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
        msgspec.convert(msgspec.to_builtins(record_data(record)) | change, RecordData).record()


# -- older versions -------------------------------------------------------------------------


def test_a_journal_of_version_0_2_is_read() -> None:
    """Its fingerprint is still that of its event."""
    store = read_journal(Path(__file__).with_name("old_journal.jsonl"))
    assert (list(store.games), store.faults, store.torn) == ([0], 1, False)
    assert store.event.fingerprint() == "6093ad28874b5982"
    assert (store.event.sprt, store.event.stalemate) == (SprtBounds(0, 20), "loss")
    assert store.event.entrants[0].control == TimeControl(None, 60_000, 500)
    assert store.event.tasks[1].opening.moves == ("e2e4",)
    game = store.games[0]
    assert game.plies[0].turn == replace(FULL, coverage=Coverage(True, True, False, 0.0031))
    assert (game.result, game.ending, game.opening) == ("0-1", "white resigned", "one")
    assert game.told == {chess.WHITE: EVERYTHING, chess.BLACK: OWN_OBSERVATIONS}


def test_a_game_without_a_day_is_damage(path: Path) -> None:
    """Its PGN could not be written."""
    text = path.read_text(encoding="utf-8")
    first, game, *rest = text.splitlines(keepends=True)
    line = json.loads(game)
    line["record"]["started"] = "2026-13-01"
    path.write_text("".join([first, json.dumps(line) + "\n", *rest]), encoding="utf-8")
    with pytest.raises(JournalError, match="line 2 is damaged"):
        read_journal(path)
