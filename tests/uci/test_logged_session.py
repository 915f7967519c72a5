"""Reading a log: every session in it, whatever else the file holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from obscuro.uci.log import Entry, read_sessions

LOG = """\
garbage before it
10:00:00.000 # log 1
10:00:00.001 # option Threads = 1
10:00:00.001 # option Evaluator = x
10:00:00.002 > go nodes 5
23:59:59.999 < bestmove e2e4
10:00:00.000 # log 1
10:00:00.000 # option Threads = 2
10:00:00.002 > go nod"""


def test_sessions_are_read_one_by_one() -> None:
    first, second = read_sessions(LOG.split("\n"))
    assert first.options() == {"Threads": "1", "Evaluator": "x"}
    assert first.entries[-2:] == [
        Entry(36000.002, ">", "go nodes 5"),
        Entry(86399.999, "<", "bestmove e2e4"),
    ]
    assert second.options() == {"Threads": "2"}
    assert second.entries[-1].text == "go nod"


def test_a_log_of_an_older_version_is_read_too() -> None:
    (session,) = read_sessions(["10:00:00.000 > uci", "10:00:00.000 < uciok"])
    assert session.options() == {} and session.fact("obscuro") is None


@given(st.lists(st.text(max_size=30)))
def test_anything_can_be_read(lines: list[str]) -> None:
    read_sessions(lines)


@given(st.text(max_size=50).filter(lambda text: "\n" not in text))
def test_what_was_written_is_read(text: str) -> None:
    line = f"10:00:00.000 > {text}\n"
    (session,) = read_sessions([line])
    assert session.entries == [Entry(36000.0, ">", text)]
