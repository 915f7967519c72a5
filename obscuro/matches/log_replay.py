"""Replay a logged session: send its commands to a new engine and compare the moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from obscuro.client.uci_process import EngineError, UciProcess
from obscuro.uci.log import FACT, IN, OUT, Entry, LoggedSession

NEVER_SET = frozenset({"stockfish", "uci_variant"})
"""Options that a log never sets: `Stockfish` names a program to run, and a stranger may have written
the log."""
_NOT_SENT = frozenset({"uci", "quit", "(too"})
_SEEDED = frozenset({"go", "d", "belief", "position"})
"""The commands that can begin a game for the engine."""
_CLOCKS = frozenset({"wtime", "btime", "movetime", "infinite", "ponder"})
_DAY = 86_400.0
LEAST_PATIENCE = 120.0
"""The least seconds that the replay waits for a search to end."""
PATIENCE_FACTOR = 20.0
"""It waits this many times the logged duration, as this machine may be slower than the log's."""


@dataclass(slots=True)
class LoggedSearch:
    """One search of a session.

    number: counts from 1. go: the command. plies: the number of moves before the search, by the
    last `position`. repeats: whether the replayed move must equal the logged one, that is, the
    search has one thread, is limited by nodes or depth alone, and no command stopped it. begun: the
    log's time of day in seconds. logged, replayed: the moves; None if the engine gave none.
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
        """Whether both moves are equal, or one of them is missing."""
        return None in (self.logged, self.replayed) or self.logged == self.replayed


class Replay:
    """Replays one session on an engine.

    overrides: options to set in place of the logged ones. wait: sleeps for a number of seconds.
    note: receives a line for everything that the replay leaves out, and the engine's warnings.
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
        self._searches: list[LoggedSearch] = []  # begun, and not answered yet
        self._ready = 0  # how many `readyok` came before the replay waited for them
        self._seeds = _seeds_by_command(session.entries)
        self._plies = 0
        self._count = 0
        self._last = 0.0  # the log's time of the last command

    def run(self) -> Iterator[LoggedSearch]:
        """Replay the session and yield each search when it ends. Raises EngineError."""
        self._set_up()
        for index, entry in enumerate(self._session.entries):
            if entry.mark == IN:
                self._send(index, entry)
            elif entry.mark == OUT:
                yield from self._await_output(entry)
        yield from self._finish_searches()

    # -- the logged commands ----------------------------------------------------------------

    def _set_up(self) -> None:
        """Set the options that the logged engine had at its start."""
        for name, value in {**self._session.options(), **self._overrides}.items():
            if name.lower() not in NEVER_SET and name.lower() in self._process.options:
                self._process.set_option(name, value)
        for line in self._process.wait_ready():
            self._note_warning(line)

    def _send(self, index: int, entry: Entry) -> None:
        """Send one logged command, unless the replay leaves it out."""
        words = entry.text.split()
        name = words[0] if words else ""
        if not name or name in _NOT_SENT or (name == "setoption" and not self._may_set(words)):
            return
        if name in ("stop", "ponderhit") and self._searches:
            # Search for as long as the logged engine did.
            self._wait(_seconds_between(self._last, entry.seconds))
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
        """Record an option's value; return whether the replay sets it."""
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

    # -- the engine's answers ---------------------------------------------------------------

    def _await_output(self, entry: Entry) -> Iterator[LoggedSearch]:
        """Wait until the engine gives the answer that the logged engine gave here."""
        words = entry.text.split()
        if words[:1] == ["readyok"]:
            self._await_ready()
        elif words[:1] == ["bestmove"] and len(words) > 1 and self._searches:
            search = self._searches[0]
            search.logged = words[1]
            patience = PATIENCE_FACTOR * _seconds_between(search.begun, entry.seconds)
            yield self._await_move(max(LEAST_PATIENCE, patience))

    def _finish_searches(self) -> Iterator[LoggedSearch]:
        """End the searches that were still running at the end of the log."""
        while self._searches:
            words = set(self._searches[0].go.split())
            if not {"nodes", "depth", "movetime", "wtime", "btime"} & words or "ponder" in words:
                self._process.send("stop")
            yield self._await_move(LEAST_PATIENCE)

    def _await_move(self, patience: float) -> LoggedSearch:
        """Wait for the move of the first search that has none."""
        search = self._searches[0]
        while search.replayed is None:
            self._read_line(patience, "bestmove")
        return self._searches.pop(0)

    def _await_ready(self) -> None:
        while not self._ready:
            self._read_line(LEAST_PATIENCE, "readyok")
        self._ready -= 1

    def _read_line(self, patience: float, awaited: str) -> None:
        """Read one line of the engine. Raises EngineError if none comes in time."""
        line = next(self._process.lines(patience, awaited=awaited))
        words = line.split()
        if words[:1] == ["readyok"]:
            self._ready += 1
        elif words[:1] == ["bestmove"]:
            waiting = [search for search in self._searches if search.replayed is None]
            if not waiting:
                raise EngineError(f"{self._process.name} sent {line!r} without a search")
            waiting[0].replayed = words[1] if len(words) > 1 else ""
        else:
            self._note_warning(line)

    def _note_warning(self, line: str) -> None:
        if line.startswith(("info string warning", "info string error")):
            self._note(line.removeprefix("info string "))


def _seeds_by_command(entries: list[Entry]) -> dict[int, str]:
    """Return the logged seeds by the index of the command that began the game."""
    found: dict[int, str] = {}
    last: int | None = None
    for index, (_, mark, text) in enumerate(entries):
        words = text.split()
        if mark == IN and words[:1] and words[0] in _SEEDED:
            last = index
        elif mark == FACT and words[:1] == ["seed"] and len(words) == 2 and last is not None:
            found[last] = words[1]
    return found


def _seconds_between(begin: float, end: float) -> float:
    """Return the seconds from one time of day to a later one, which may be on the next day."""
    return (end - begin) % _DAY
