"""Playing the log of a session again: the same commands to a new engine, its moves beside those logged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from obscuro.arena.uci_process import EngineError, UciProcess
from obscuro.protocol.log import FACT, IN, OUT, Entry, LoggedSession

NEVER_SET = frozenset({"stockfish", "uci_variant"})
"""Options that are not taken from a log: `Stockfish` names a program, and the log may be anybody's."""
_NOT_SENT = frozenset({"uci", "quit", "(too"})
_SEEDED = frozenset({"go", "d", "belief", "position"})
"""The commands at which a game begins, for the engine."""
_CLOCKS = frozenset({"wtime", "btime", "movetime", "infinite", "ponder"})
_DAY = 86_400.0
LEAST_PATIENCE = 120.0
"""Seconds that a search may take at least; this machine may be slower than that of the log."""
PATIENCE_FACTOR = 20.0


@dataclass(slots=True)
class LoggedSearch:
    """One search of a session. logged, replayed: the moves; None where there was none.

    repeats: whether it must come out the same: one thread, limited by nodes or depth alone, not
    stopped. plies: moves made before it, as far as the last `position` says.
    """

    number: int
    go: str
    plies: int
    repeats: bool
    begun: float
    logged: str | None = None
    replayed: str | None = None

    @property
    def same(self) -> bool:
        """Whether both moves are the same, or there is nothing to compare."""
        return None in (self.logged, self.replayed) or self.logged == self.replayed


class Replay:
    """Plays a session again. overrides: options that are set in place of those logged.

    wait: sleeps. note: told what is left out, and what the engine warns of.
    """

    def __init__(
        self,
        session: LoggedSession,
        process: UciProcess,
        overrides: Mapping[str, str] | None = None,
        *,
        wait: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._session = session
        self._process = process
        self._overrides = dict(overrides or {})
        self._wait = wait
        self._note = note
        self._options = {name.lower(): value for name, value in session.options().items()}
        self._searches: list[LoggedSearch] = []  # that have begun, and whose answers have not come
        self._logged = 0  # how many of these have an answer in the log
        self._ready = 0  # `readyok` heard and not waited for
        self._seeds = _seeds(session.entries)
        self._plies = 0
        self._count = 0
        self._last = 0.0  # when the last line came in, by the log

    def run(self) -> Iterator[LoggedSearch]:
        """Yield the searches as they end. Raises EngineError."""
        self._set_up()
        for index, entry in enumerate(self._session.entries):
            if entry.mark == IN:
                self._say(index, entry)
            elif entry.mark == OUT:
                yield from self._expect(entry)
        yield from self._rest()

    # -- what came in -----------------------------------------------------------------------

    def _set_up(self) -> None:
        """Make the engine what the logged one was at its start."""
        for name, value in {**self._session.options(), **self._overrides}.items():
            if name.lower() not in NEVER_SET and name.lower() in self._process.options:
                self._process.set_option(name, value)
        for line in self._process.wait_ready():
            self._heed(line)

    def _say(self, index: int, entry: Entry) -> None:
        words = entry.text.split()
        name = words[0] if words else ""
        if not name or name in _NOT_SENT or (name == "setoption" and not self._may_set(words)):
            return
        if name in ("stop", "ponderhit") and self._searches:
            self._wait(_between(self._last, entry.seconds))  # as long as it searched then
            self._searches[-1].repeats = False
        if (
            index in self._seeds
            and self._options.get("seed") == "0"
            and "Seed" not in self._overrides
        ):
            self._process.send(f"setoption name Seed value {self._seeds[index]}")
        if name == "position":
            moves = words[words.index("moves") + 1 :] if "moves" in words else []
            turns = words[words.index("turns") + 1 :] if "turns" in words else []
            self._plies = len(moves) or sum("/" in turn or turn == "-" for turn in turns)
        self._process.send(entry.text)
        self._last = entry.seconds
        if name == "go":
            self._begin(entry, words)

    def _may_set(self, words: list[str]) -> bool:
        """Keep the options in mind; tell whether this one is to be set here."""
        text = " ".join(words[1:]).removeprefix("name ")
        name, _, value = text.partition(" value ")
        lower = name.strip().lower()
        if lower in NEVER_SET:
            self._note(f"not set: {name} {value}".strip())
            return False
        if lower in {given.lower() for given in self._overrides}:
            return False
        self._options[lower] = value
        return True

    def _begin(self, entry: Entry, words: list[str]) -> None:
        self._count += 1
        threads = self._options.get("threads") == "1"
        bounded = bool({"nodes", "depth"} & set(words)) and not _CLOCKS & set(words)
        self._searches.append(
            LoggedSearch(self._count, entry.text, self._plies, threads and bounded, entry.seconds)
        )

    # -- what went out ----------------------------------------------------------------------

    def _expect(self, entry: Entry) -> Iterator[LoggedSearch]:
        """Wait for what the logged engine has said here."""
        words = entry.text.split()
        if words[:1] == ["readyok"]:
            self._await_ready()
        elif words[:1] == ["bestmove"] and len(words) > 1 and self._searches:
            search = self._searches[0]
            search.logged = words[1]
            patience = PATIENCE_FACTOR * _between(search.begun, entry.seconds)
            yield self._answer(max(LEAST_PATIENCE, patience))

    def _rest(self) -> Iterator[LoggedSearch]:
        """End what had not ended when the log was broken off."""
        while self._searches:
            words = set(self._searches[0].go.split())
            if not {"nodes", "depth", "movetime", "wtime", "btime"} & words or "ponder" in words:
                self._process.send("stop")
            yield self._answer(LEAST_PATIENCE)

    def _answer(self, patience: float) -> LoggedSearch:
        """Wait for the answer to the first search that has none."""
        search = self._searches[0]
        while search.replayed is None:
            self._hear(patience, "bestmove")
        return self._searches.pop(0)

    def _await_ready(self) -> None:
        while not self._ready:
            self._hear(LEAST_PATIENCE, "readyok")
        self._ready -= 1

    def _hear(self, patience: float, awaited: str) -> None:
        """Take in one line. Raises EngineError if none comes in time."""
        line = next(self._process.lines(patience, awaited=awaited))
        words = line.split()
        if words[:1] == ["readyok"]:
            self._ready += 1
        elif words[:1] == ["bestmove"]:
            waiting = [search for search in self._searches if search.replayed is None]
            if not waiting:
                raise EngineError(f"{self._process.name} says {line!r} unasked")
            waiting[0].replayed = words[1] if len(words) > 1 else ""
        else:
            self._heed(line)

    def _heed(self, line: str) -> None:
        if line.startswith(("info string warning", "info string error")):
            self._note(line.removeprefix("info string "))


def _seeds(entries: list[Entry]) -> dict[int, str]:
    """Return the seeds that were in force, by the index of the command whose game they belong to."""
    found: dict[int, str] = {}
    last: int | None = None
    for index, (_, mark, text) in enumerate(entries):
        words = text.split()
        if mark == IN and words[:1] and words[0] in _SEEDED:
            last = index
        elif mark == FACT and words[:1] == ["seed"] and len(words) == 2 and last is not None:
            found[last] = words[1]
    return found


def _between(begin: float, end: float) -> float:
    """Return the seconds from one time of day to a later one, maybe of the next day."""
    return (end - begin) % _DAY
