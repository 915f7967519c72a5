"""Reading a session's log, as `obscuro.uci.log` writes it."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from obscuro.uci.log import FACT

_ENTRY = re.compile(r"(\d\d):(\d\d):(\d\d)\.(\d{3}) ([><#!]) (.*)", re.DOTALL)


class Entry(NamedTuple):
    """A line of a log."""

    seconds: float  # since midnight
    mark: str  # one of `obscuro.uci.log.MARKS`
    text: str


class LoggedSession(NamedTuple):
    """What a process has logged, from its start to its end, or to where the log breaks off."""

    entries: list[Entry]

    def fact(self, name: str) -> str | None:
        """Return the first fact of a name; None if there is none."""
        found = (e.text.partition(" ")[2] for e in self.entries if _is_fact(e, name))
        return next(found, None)

    def options(self) -> dict[str, str]:
        """Return the options at the start of the session."""
        texts = (e.text.partition(" ")[2] for e in self.entries if _is_fact(e, "option"))
        return {name: value for name, _, value in (text.partition(" = ") for text in texts)}


def read_sessions(lines: Iterable[str]) -> list[LoggedSession]:
    """Read the sessions of a log. A line that is no entry, such as one cut off, is skipped."""
    sessions: list[LoggedSession] = []
    for line in lines:
        found = _ENTRY.fullmatch(line.rstrip("\n"))
        if found is None:
            continue
        hours, minutes, seconds, milliseconds = map(int, found.groups()[:4])
        time_of_day = 3600 * hours + 60 * minutes + seconds + milliseconds / 1000
        entry = Entry(time_of_day, found[5], found[6])
        if not sessions or _is_fact(entry, "log"):
            sessions.append(LoggedSession([]))
        sessions[-1].entries.append(entry)
    return sessions


def _is_fact(entry: Entry, name: str) -> bool:
    return entry.mark == FACT and entry.text.partition(" ")[0] == name
