"""Where the threads' time goes in a search: solving, selecting, evaluating, attaching, waiting.

    python -m tools.speed.search_profile --evaluator material --movetime 5000
    python -m tools.speed.search_profile --evaluator material --nodes 500000

From each fixed position of `obscuro bench search` one search makes a tree, and after a move of each
side the next one is watched: every step of both threads is timed, on the clock and by the seconds
that a core worked for the thread. The two differ where a thread waits: for the lock, for Stockfish,
for Python's own lock, or for a core. With --nodes, and by the seconds worked alone, the table means
something on a busy machine too. Writes a table in Markdown to stdout.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import sys
import threading
import time
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from obscuro.bench.following import POSITIONS, Follower
from obscuro.engine.chess_game import ChessGame
from obscuro.engine.options import OPTIONS
from obscuro.search import expanders
from obscuro.search.expanders import Expanders
from obscuro.search.search import Search
from tools.play.first_light import machine, table_head

SOLVER, EXPANDER = "solver", "expander"


@dataclass
class Spent:
    """Seconds of one step in one kind of thread."""

    wall: float = 0.0
    work: float = 0.0  # a core worked for the thread
    calls: int = 0


@dataclass
class Profile:
    """What a search's threads have spent their time on."""

    steps: dict[tuple[str, str], Spent] = field(default_factory=lambda: defaultdict(Spent))

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with its time noted; what is timed within it is not taken off."""

        @functools.wraps(function)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            begin, worked = time.perf_counter(), time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self.note(step, time.perf_counter() - begin, time.thread_time() - worked)

        return wrapper

    def note(self, step: str, wall: float, work: float) -> None:
        """Add to a step of the thread that calls."""
        name = threading.current_thread().name
        spent = self.steps[(EXPANDER if name.startswith(EXPANDER) else SOLVER, step)]
        spent.wall += wall
        spent.work += work
        spent.calls += 1


class TimedLock:
    """A lock that notes how long its threads waited for it."""

    def __init__(self, profile: Profile) -> None:
        self._lock = threading.Lock()
        self._acquire = profile.timed("waiting for the lock", self._lock.acquire)

    def __enter__(self) -> None:
        self._acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


@contextlib.contextmanager
def watching(profile: Profile, evaluator: type) -> Iterator[None]:
    """Time every step of the searches that run meanwhile."""
    locks = types.SimpleNamespace(
        Lock=lambda: TimedLock(profile), Event=threading.Event, Thread=threading.Thread
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(expanders, "threading", locks))
        for owner, name, step in (
            (Search, "run", "all"),
            (Search, "_solve", "solving"),
            (Search, "_select", "selecting"),
            (Search, "_attach", "attaching"),
            (Search, "_summary", "reporting"),
            (Expanders, "_work", "all"),
            (ChessGame, "expand", "expanding"),
            (evaluator, "evaluate", "evaluating"),
        ):
            stack.enter_context(
                mock.patch.object(owner, name, profile.timed(step, getattr(owner, name)))
            )
        yield


def main(words: Sequence[str] | None = None) -> int:
    """Search, and print the table; returns the exit code."""
    words = sys.argv[1:] if words is None else words
    arguments = parse_arguments(words)
    profile = Profile()
    iterations = expansions = added = 0
    for position in POSITIONS:
        follower = Follower(position, arguments.threads, arguments.evaluator)
        try:
            limits = {"nodes": arguments.nodes, "movetime": arguments.movetime}
            if arguments.nodes:
                limits["movetime"] = None
            follower.think(**limits)
            if not follower.play_on():
                continue
            with watching(profile, type(follower.games[0].evaluator)):
                info = follower.think(**limits)
            iterations += info.iterations
            expansions += info.expansions
            added += info.nodes
        finally:
            follower.close()
    lines = report(profile, arguments, words, iterations, expansions, added)
    print("\n".join(lines))
    return 0


def report(
    profile: Profile,
    arguments: argparse.Namespace,
    words: Sequence[str],
    iterations: int,
    expansions: int,
    added: int,
) -> Iterator[str]:
    """Yield the lines of the report, in Markdown."""
    yield from ("Made by", "", "```")
    yield " ".join(["python -m tools.speed.search_profile", *words])
    yield from ("```", "", *(f"- {fact}" for fact in machine()), "")
    limit = f"{arguments.nodes:,} nodes" if arguments.nodes else f"{arguments.movetime:,} ms"
    yield (
        f"{len(POSITIONS)} searches of {limit} with {arguments.threads} threads, "
        f"values by `{arguments.evaluator}`: {expansions:,} expansions, {added:,} nodes, "
        f"{iterations:,} iterations."
    )
    yield ""
    yield from table_head(
        [
            "thread",
            "step",
            "s",
            "of its time",
            "s worked",
            "of its time",
            "calls",
            "us worked a leaf",
        ]
    )
    for thread, inner in (
        (SOLVER, ("solving", "attaching", "waiting for the lock", "reporting")),
        (
            EXPANDER,
            ("evaluating", "expanding beside that", "selecting", "waiting for the lock"),
        ),
    ):
        whole = profile.steps[(thread, "all")]
        expanding = profile.steps[(thread, "expanding")]
        evaluating = profile.steps[(thread, "evaluating")]
        profile.steps[(thread, "expanding beside that")] = Spent(
            expanding.wall - evaluating.wall, expanding.work - evaluating.work, expanding.calls
        )
        rest = Spent(whole.wall, whole.work, whole.calls)
        for step in inner:
            spent = profile.steps[(thread, step)]
            rest.wall -= spent.wall
            rest.work -= spent.work
            yield row(thread, step, spent, whole, expansions)
        yield row(thread, "the rest", rest, whole, expansions)


def row(thread: str, step: str, spent: Spent, whole: Spent, expansions: int) -> str:
    """One step as a line of the table."""
    total = max(whole.wall, 1e-9)
    return (
        f"| {thread} | {step} | {spent.wall:.2f} | {spent.wall / total:.1%} | {spent.work:.2f} "
        f"| {spent.work / total:.1%} | {spent.calls:,} "
        f"| {1e6 * spent.work / max(expansions, 1):,.1f} |"
    )


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    parser.add_argument("--nodes", type=int, help="bound the searches by these, not by time")
    parser.add_argument("--evaluator", choices=evaluator.choices, default=evaluator.default)
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
