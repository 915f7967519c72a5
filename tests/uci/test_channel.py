from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from obscuro.uci import channel
from obscuro.uci.channel import LONGEST_LINE, TOO_LONG, Output, read_lines
from obscuro.uci.log import Log


def lines_of(data: bytes, cuts: list[int] | None = None) -> list[str | None]:
    """Read data that arrives in pieces."""
    reading, writing = os.pipe()
    places = sorted({min(cut, len(data)) for cut in cuts or []} | {0, len(data)})

    def write() -> None:
        for begin, end in itertools.pairwise(places):
            os.write(writing, data[begin:end])
        os.close(writing)

    thread = threading.Thread(target=write)
    thread.start()
    lines = list(read_lines(reading))
    thread.join()
    os.close(reading)
    return lines


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_lines_do_not_depend_on_how_they_arrive(data: bytes, cuts: list[int]) -> None:
    text = data.decode("utf-8", "replace")
    parts = data.split(b"\n")
    expected = [part.decode("utf-8", "replace").replace("\r", "") for part in parts]
    if not parts[-1]:
        expected.pop()
    assert lines_of(data, cuts) == expected
    assert len(expected) <= text.count("\n") + 1


def test_carriage_returns_are_ignored_and_a_last_line_needs_no_end() -> None:
    assert lines_of(b"uci\r\nquit") == ["uci", "quit"]


def test_bad_utf8_is_still_a_line() -> None:
    assert lines_of(b"a\xff\xfeb\0\n") == ["a\ufffd\ufffdb\0"]


def test_a_line_without_end_is_lost_and_the_next_is_read() -> None:
    long = b"x" * (LONGEST_LINE + 1)
    assert lines_of(long + b"\nuci\n") == [TOO_LONG, "uci"]
    assert lines_of(b"uci\n" + long) == ["uci", TOO_LONG]
    assert lines_of(long * 2 + b"\n" + long + b"\nuci\n") == [TOO_LONG, TOO_LONG, "uci"]


def test_a_line_of_the_greatest_length_is_read() -> None:
    assert lines_of(b"x" * LONGEST_LINE + b"\n") == ["x" * LONGEST_LINE]


def test_an_input_that_is_lost_is_an_input_that_ends() -> None:
    directory = os.open("/", os.O_RDONLY)
    assert list(read_lines(directory)) == []
    os.close(directory)


def test_output_says_once_that_nobody_reads() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    broken: list[str] = []
    output = Output(writing, Log(None), lambda: broken.append("broken"))
    output.lines("one")
    output.lines("two")
    os.close(writing)
    assert broken == ["broken"]


def test_output_waits_for_a_slow_reader_on_a_pipe_that_does_not_block() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    output = Output(writing, Log(None), lambda: None)
    text = "x" * (1 << 18)
    thread = threading.Thread(target=output.lines, args=(text,))
    thread.start()
    with os.fdopen(reading, "rb") as stream:
        assert stream.readline().decode() == text + "\n"
    thread.join()
    os.close(writing)


def test_a_message_never_breaks_its_line() -> None:
    reading, writing = os.pipe()
    output = Output(writing, Log(None), lambda: None)
    output.error("bad\nbestmove e2e4\0\ud800")
    output.warning("x" * 10_000)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        lines = stream.read().decode().splitlines()
    assert lines[0] == "info string error bad?bestmove e2e4??"
    assert lines[1].startswith("info string warning xxx")
    assert len(lines) == 2


def test_the_log_has_both_directions_and_the_details_of_failures(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    log = Log(str(path))
    reading, writing = os.pipe()
    output = Output(writing, log, lambda: None)
    log.write(">", "go \ud800")
    output.lines("info", "bestmove e2e4")
    output.failure("broken", "Traceback\n  line\n")
    log.close()
    log.write(">", "lost without a word")
    os.close(writing)
    os.close(reading)
    marks = [line.split(" ", 2)[1:] for line in path.read_text(encoding="utf-8").splitlines()]
    assert marks == [
        [">", "go ?"],
        ["<", "info"],
        ["<", "bestmove e2e4"],
        ["!", "Traceback"],
        ["!", "  line"],
        ["<", "info string error broken"],
    ]


def test_reads_in_pieces_smaller_than_a_line() -> None:
    assert channel.READ_BYTES < LONGEST_LINE
