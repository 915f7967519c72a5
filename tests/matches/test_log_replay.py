"""Replaying a log, on an engine that answers by the number of moves alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.matches.log_replay import LoggedSearch, Replay
from obscuro.uci.log import read_sessions
from tests.matches.fake_engine import go, read_position

ENGINE = Path(__file__).parent / "fake_engine.py"
START = ["# log 1", "# option Threads = 1", "# option Seed = 0", "# option Move Overhead = 50"]


def answer(*moves: str) -> str:
    tail = ["moves", *moves] if moves else []
    return go(*read_position(["position", "startpos", *tail]), "")[-1]


class Talk:
    """An engine process that keeps what it was told."""

    def __init__(self, mode: str = "") -> None:
        self.process = UciProcess([sys.executable, str(ENGINE), mode])
        self.sent: list[str] = []
        send = self.process.send

        def keep(line: str) -> None:
            self.sent.append(line)
            send(line)

        self.process.send = keep  # type: ignore[method-assign]


def replayed(
    lines: list[str], mode: str = "", **overrides: str
) -> tuple[list[LoggedSearch], Talk, list[str], list[float]]:
    (session,) = read_sessions([f"10:00:{i:02}.000 {line}" for i, line in enumerate(lines)])
    notes: list[str] = []
    waits: list[float] = []
    talk = Talk(mode)
    with talk.process:
        replay = Replay(session, talk.process, overrides, wait=waits.append, note=notes.append)
        return list(replay.run()), talk, notes, waits


def test_the_same_commands_are_sent_and_the_moves_compared() -> None:
    first, second = answer(), answer("e2e4", "e7e5")
    lines = [
        *START,
        "> uci",
        "< uciok",
        "> isready",
        "< readyok",
        "> position startpos",
        "> go nodes 100",
        f"< {first}",
        "> position startpos moves e2e4 e7e5",
        "> go nodes 100",
        "< info depth 1",
        "< bestmove a7a6",
        "> quit",
    ]
    searches, talk, notes, _ = replayed(lines)
    assert [(s.number, s.plies, s.repeats, s.same) for s in searches] == [
        (1, 0, True, True),
        (2, 2, True, False),
    ]
    assert searches[1].replayed == second.split()[1]
    assert talk.sent[:3] == [
        "setoption name Seed value 0",
        "setoption name Move Overhead value 50",
        "isready",
    ]
    assert talk.sent[3:-1] == [
        "isready",
        "position startpos",
        "go nodes 100",
        "position startpos moves e2e4 e7e5",
        "go nodes 100",
    ]
    assert notes == ["warning this is a fake"] * 2


def test_the_seed_in_force_is_set_where_it_came_from_the_clock() -> None:
    lines = [*START, "> position startpos", "> go nodes 9", "# seed 77", f"< {answer()}"]
    _, talk, _, _ = replayed(lines)
    at = talk.sent.index("setoption name Seed value 77")
    assert talk.sent[at + 1] == "go nodes 9"
    fixed = ["> setoption name Seed value 5", *lines[4:]]
    _, talk, _, _ = replayed([*START, *fixed])
    assert "setoption name Seed value 77" not in talk.sent


def test_no_program_is_started_because_a_log_says_so() -> None:
    lines = [
        "# log 1",
        "# option Stockfish = /bin/sh",
        "> setoption name Stockfish value /bin/sh",
        "> setoption name  STOCKFISH  value /bin/sh",
        "> go nodes 1",
    ]
    _, talk, notes, _ = replayed(lines)
    assert not any("sh" in line and "tockfish" in line.lower() for line in talk.sent)
    assert len([note for note in notes if note.startswith("not set: ")]) == 2


def test_options_may_be_set_in_place_of_those_logged() -> None:
    lines = [*START, "> setoption name Move Overhead value 7", "> go nodes 1"]
    _, talk, _, _ = replayed(lines, **{"Move Overhead": "99"})
    assert [line for line in talk.sent if "Overhead" in line] == [
        "setoption name Move Overhead value 99"
    ]


def test_searches_by_the_clock_or_stopped_are_not_bound_to_repeat() -> None:
    lines = [
        *START,
        "> go movetime 100",
        "< bestmove a2a3",
        "> go nodes 100000",
        "> stop",
        "< bestmove a2a3",
        "> setoption name Threads value 2",
        "> go nodes 10",
        "< bestmove a2a3",
    ]
    searches, _, _, waits = replayed(lines)
    assert [search.repeats for search in searches] == [False, False, False]
    assert waits == [1.0]  # as long as it had searched before it was stopped


@pytest.mark.parametrize(
    "last", [["> go nodes 5"], ["> go infinite"], ["> go nodes 5", "< info x"]]
)
def test_a_log_that_was_broken_off_is_played_to_its_end(last: list[str]) -> None:
    (search,) = replayed([*START, "> position startpos", *last])[0]
    assert search.logged is None and search.replayed == answer().split()[1]
    assert search.same


def test_an_engine_that_dies_is_an_error() -> None:
    with pytest.raises(EngineError, match="exited with code 3"):
        replayed([*START, "> go nodes 5", "< bestmove e2e4"], mode="die")
