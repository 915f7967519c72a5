"""The dialogues of docs/first_dialogue.md, held again with the real engine, come out as they are written.

What a search finds repeats itself bit for bit on one kind of machine with one version of the
compilers and one network. Elsewhere only what hangs on none of these is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.uci.dialogue import Process
from tools.record.dialogues import (
    PAGES,
    circumstances,
    commands,
    dialogues,
    held,
    last_reports,
)

_TIMED = re.compile(r"\b(nps|time) \d+")
_FOUND_BY_SEARCH = re.compile(
    r"(info depth|bestmove|info string (?:policy|play|cache)|info string belief \d+ exact \w+)\b.*"
)


def comparable(line: str, *, exactly: bool) -> str:
    """Return what must come out the same of a line: never times, elsewhere no find of a search."""
    if exactly or line.startswith("> "):
        return _TIMED.sub(r"\1 -", line)
    return _FOUND_BY_SEARCH.sub(r"\1", line)


@pytest.fixture(scope="module")
def engine() -> Iterator[Process]:
    with Process() as process:
        yield process


def test_the_dialogues_come_out_as_they_are_written(engine: Process) -> None:
    found = [each for file in PAGES for each in dialogues(file.read_text(encoding="utf-8"))]
    assert len(found) == 3
    for where, written in found:
        exactly = where == circumstances()
        now = list(held(commands("\n".join(written)), engine))
        if not exactly:  # without the network, a warning says what takes its place
            now = [line for line in now if not line.startswith("info string warning")]
        assert [comparable(line, exactly=exactly) for line in now] == [
            comparable(line, exactly=exactly) for line in written
        ]


def test_a_false_number_is_found_on_the_same_kind_of_machine() -> None:
    line = "info depth 5 seldepth 9 nodes 20135 nps 23688 time 850 score cp 82 pv e4d5"
    later = line.replace("850", "912").replace("23688", "22077")
    assert comparable(line, exactly=True) == comparable(later, exactly=True)
    assert comparable(line, exactly=True) != comparable(line.replace("82", "83"), exactly=True)


def test_elsewhere_a_false_belief_is_found_and_another_move_is_not() -> None:
    line = "info string belief 14 exact true sampled 0 carried 2645 infosets 277"
    assert comparable(line, exactly=False) != comparable(line.replace("14", "15"), exactly=False)
    assert comparable("bestmove e2e4", exactly=False) == comparable("bestmove d2d4", exactly=False)


def test_only_the_last_report_is_kept() -> None:
    said = ["info depth 1", "info string play a2a3", "info depth 2", "bestmove a2a3"]
    assert last_reports(said) == ["info depth 2", "bestmove a2a3"]
