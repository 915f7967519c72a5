"""Where the threads' time goes in a search: solving, selecting, evaluating, attaching, waiting.

    python -m tools.speed.search_profile --evaluator material --movetime 5000
    python -m tools.speed.search_profile --evaluator material --nodes 500000

From each fixed position of `obscuro bench search` one search makes a tree, and after a move of each
side the next one is watched: every step is timed, on the clock and by the seconds that a core
worked for the thread. The two differ where a thread waits: for the others, for Stockfish, for
Python's own lock, or for a core. The other threads wait for something to do where they iterate, and
that counts as iterating. With --nodes, and by the seconds worked alone, the table means
something on a busy machine too.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from obscuro.cli.bench.following import POSITIONS, Follower
from obscuro.engine.chess_game import ChessGame
from obscuro.machine import usable_cores
from obscuro.search import joint
from obscuro.search.search import Search
from tools.common import add_evaluator, given, publish, say, table, tool_parser
from tools.results.render import wrap

FIRST, OTHERS = "first", "others"  # the search's own thread, and those that help it
ALL = "all"  # the step that has all others in it


FIRST_STEPS = (
    "solving",
    "evaluating",
    "expanding beside that",
    "selecting",
    "attaching",
    "reporting",
)
OTHERS_STEPS = ("iterating", "evaluating", "expanding beside that")


@dataclass
class Spent:
    """Seconds of one step in one kind of thread."""

    wall: float = 0.0
    work: float = 0.0  # a core worked for the thread
    calls: int = 0


@dataclass
class Profile:
    """What a search's threads have spent their time on, from the call of `Search.run` to its end."""

    running: bool = False
    steps: dict[tuple[str, str], Spent] = field(default_factory=lambda: defaultdict(Spent))

    def timed(self, step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with its time noted; what is timed within it is not taken off."""

        @functools.wraps(function)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            self.running = self.running or step == ALL
            begin, worked = time.perf_counter(), time.thread_time()
            try:
                return function(*arguments, **options)
            finally:
                self.note(step, time.perf_counter() - begin, time.thread_time() - worked)

        return wrapper

    def note(self, step: str, wall: float, work: float) -> None:
        """Add to a step of the thread that calls, if the search runs."""
        if not self.running:
            return
        self.running = step != ALL
        helps = threading.current_thread().name.startswith("search-")
        spent = self.steps[(OTHERS if helps else FIRST, step)]
        spent.wall += wall
        spent.work += work
        spent.calls += 1


@contextlib.contextmanager
def watching(profile: Profile, evaluator: type) -> Iterator[None]:
    """Time every step of the searches that run meanwhile."""
    with contextlib.ExitStack() as stack:
        for owner, name, step in (
            (Search, "run", ALL),
            (Search, "solve", "solving"),
            (joint, "serve", "iterating"),
            (Search, "select", "selecting"),
            (Search, "attach", "attaching"),
            (Search, "summary", "reporting"),
            (ChessGame, "expand", "expanding"),
            (evaluator, "evaluate", "evaluating"),
        ):
            stack.enter_context(
                mock.patch.object(owner, name, profile.timed(step, getattr(owner, name)))
            )
        yield


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.search_profile", __doc__)
    parser.add_argument("--movetime", type=int, default=5000, help="milliseconds")
    parser.add_argument("--nodes", type=int, help="bound the searches by these, not by time")
    add_evaluator(parser)
    parser.add_argument("--threads", type=int, default=min(2, usable_cores()))
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Search, and print the table; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    profile = Profile()
    counts = Counter[str]()
    for position in POSITIONS:
        say(position.name)
        follower = Follower(position, told.threads, told.evaluator)
        try:
            limits = {"nodes": told.nodes, "movetime": None if told.nodes else told.movetime}
            follower.think(**limits)
            if not follower.play_on():
                continue
            with watching(profile, type(follower.games[0].evaluator)):
                info = follower.think(**limits)
            counts["iterations"] += info.iterations
            counts["expansions"] += info.expansions
            counts["nodes"] += info.nodes
        finally:
            follower.close()
    limit = f"{told.nodes:,} nodes" if told.nodes else f"{told.movetime:,} ms"
    figures = {
        "searches": f"{len(POSITIONS)} searches of {limit} with {told.threads} threads, "
        f"values by `{told.evaluator}`",
        "threads": told.threads,
        "counts": dict(counts),
        "steps": [
            [thread, step, spent.wall, spent.work, spent.calls]
            for (thread, step), spent in profile.steps.items()
        ],
    }
    publish(parser, words, told.raw, figures, render)
    return 0


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield what was searched, and the table of steps, in Markdown."""
    counts = Counter[str](figures["counts"])
    steps: dict[tuple[str, str], Spent] = defaultdict(Spent)
    for thread, step, *spent in figures["steps"]:
        steps[thread, step] = Spent(*spent)
    expansions = counts["expansions"]
    yield from wrap(
        f"{figures['searches']}: {expansions:,} expansions, {counts['nodes']:,} nodes, "
        f"{counts['iterations']:,} iterations."
    )
    yield ""
    for thread in (FIRST, OTHERS):
        expanding, evaluating = steps[thread, "expanding"], steps[thread, "evaluating"]
        steps[thread, "expanding beside that"] = less(expanding, evaluating)
    whole = steps[FIRST, ALL]
    others = figures["threads"] - 1
    wholes = {FIRST: whole, OTHERS: Spent(others * whole.wall, 0.0, whole.calls)}
    rows = []
    for thread, inner in ((FIRST, FIRST_STEPS), (OTHERS, OTHERS_STEPS)):
        rest = wholes[thread]
        for step in inner:
            rest = less(rest, steps[thread, step])
            if not steps[thread, step].calls:
                continue
            rows.append(row(thread, step, steps[thread, step], wholes[thread], expansions))
        rest.work = max(rest.work, 0.0)
        rows.append(row(thread, "the rest", rest, wholes[thread], expansions))
    headings = ["thread", "step", "s", "of its time", "s worked", "of its time", "calls"]
    yield from table([*headings, "us worked a leaf"], rows, "llrrrrrr")


def less(whole: Spent, part: Spent) -> Spent:
    """Return what is left of a step's seconds without those of a part of it."""
    return Spent(whole.wall - part.wall, whole.work - part.work, whole.calls)


def row(thread: str, step: str, spent: Spent, whole: Spent, expansions: int) -> list[str]:
    """Return one step as cells of the table."""
    total = max(whole.wall, 1e-9)
    return [
        thread,
        step,
        f"{spent.wall:.2f}",
        f"{spent.wall / total:.1%}",
        f"{spent.work:.2f}",
        f"{spent.work / total:.1%}",
        f"{spent.calls:,}",
        f"{1e6 * spent.work / max(expansions, 1):,.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
