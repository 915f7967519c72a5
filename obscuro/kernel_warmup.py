"""Loading all kernels before the first move; several processes compile those that are missing.

The processes share what they make through the kernels' cache. Each runs `kernel_jobs.main`: it
reads the names of jobs from its standard input, a line each, and answers each with a byte. Its input
ends when its parent does, and then it ends too.
"""

import contextlib
import fcntl
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from threading import Event

import numpy as np

from obscuro.belief.belief import warm_up
from obscuro.child_process import ChildProcess
from obscuro.engine.options import Options
from obscuro.engine.player_kind import AnyPlayer
from obscuro.engine.report import GoLimits
from obscuro.kernel_cache import kernel_files
from obscuro.machine import usable_cores
from obscuro.rules.account import last_ply
from obscuro.rules.board import FogOfWarBoard
from obscuro.search.k_centre import k_centres

# A short game that needs every kernel: both kinds of belief update, a capture, a kept tree.
GAME = ("e2e4", "d7d5", "e4d5", "d8d5", "b1c3")


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -"

ABOUT_KERNELS = 239
"""How many kernels the engine has compiled after its first start, with the evaluator `nnue`."""
ENGINE = "obscuro.engine.player"

_loaded = False  # in this process


def kernels_made() -> int:
    """Return how many of the engine's kernels are compiled, now and earlier."""
    return kernel_files().count(ENGINE)


def trial_options() -> Options:
    """Return options for a small search that is always the same."""
    options = Options()
    for name, value in (("Evaluator", "material"), ("Threads", "1"), ("Hash", "16"), ("Seed", "1")):
        options.set(name, value)
    return options


def load_kernels(make_player: Callable[[Options], AnyPlayer], tell: Callable[[str], None]) -> None:
    """Play both sides of a few moves with small limits, by the same code as real games.

    tell: called with a few words on what comes next. A second call does nothing.
    """
    global _loaded  # noqa: PLW0603 - kernels are loaded once a process
    if _loaded:
        return
    tell("following a belief")
    warm_up()
    play_trial_game(make_player, tell)
    _loaded = True


def play_trial_game(
    make_player: Callable[[Options], AnyPlayer], tell: Callable[[str], None]
) -> None:
    """Play both sides of a few moves. The arguments are those of `load_kernels`."""
    k_centres(np.zeros(2), 1)  # of the key sampling, which the game would not need
    for side, threads in ((0, "1"), (1, "2")):
        options = trial_options()
        options.set("Threads", threads)
        player = make_player(options)
        board, color = FogOfWarBoard(), side == 0
        player.new_game_from_fen(side, START)
        for uci in GAME:
            tell(f"playing {uci} as {'black' if side else 'white'}")
            if board.turn == color:
                player.search(GoLimits(time.monotonic(), nodes=3000), Event(), lambda info: None)
            board.push_uci(uci)
            last_ply(board, color).tell(player)
        player.update()
        player.close()


# The longest first, so that the processes end at about the same time. Jobs share kernels: the one
# that needs a kernel first compiles it for all.
_ORDER = ("search", "threads", "belief", "game")
# Not those of others: they may do anything.
_EVALUATORS = ("material", "simple", "nnue", "stockfish")
_MOST_PROCESSES = 4
_POLL_SECONDS = 0.05


def compile_in_processes(evaluator: str, tell: Callable[[str], None]) -> None:
    """Compile most kernels in as many processes as there are cores; return when they have ended.

    evaluator: the value of the option. tell: called with a few words on what is compiled. Does
    nothing on one core, or where processes can't share what they compile, or if another process is
    at it. What a process leaves undone is compiled when it is called.
    """
    places = kernel_files().directory
    count = min(usable_cores(), _MOST_PROCESSES)
    if places is None or count < 2 or not _can_start_python():
        return
    base, name = os.path.split(places)
    if name != "kernels":  # a passing directory, which other processes don't know
        return
    jobs = deque(_ORDER)
    if evaluator in _EVALUATORS:
        jobs.insert(1, f"evaluator {evaluator}")
    with _alone(os.path.join(places, "lock")) as alone, contextlib.ExitStack() as stack:
        if not alone:
            return
        feeders = []
        for _ in range(min(count, len(jobs))):
            try:
                child = ChildProcess(sys.executable, ["-P", "-c", _program(base)])
            except OSError:
                break
            stack.callback(child.close)
            feeder = _Feeder(child, jobs)
            feeder.start()
            feeders.append(feeder)
        while any(feeder.is_alive() for feeder in feeders):
            at_work = [feeder.job for feeder in feeders if feeder.is_alive() and feeder.job]
            tell(f"compiling: {', '.join(at_work)} ({kernels_made()} of about {ABOUT_KERNELS})")
            for feeder in feeders:
                feeder.join(_POLL_SECONDS)


class _Feeder(threading.Thread):
    """Gives one child a job after the other. job: the one at work."""

    def __init__(self, child: ChildProcess, jobs: deque[str]) -> None:
        super().__init__(name="kernel-jobs", daemon=True)
        self.job = ""
        self._child = child
        self._jobs = jobs

    def run(self) -> None:
        """Return when there are no jobs left, or the child is gone."""
        while True:
            try:
                self.job = self._jobs.popleft()
            except IndexError:
                return
            try:
                os.write(self._child.input, f"{self.job}\n".encode())
                if not os.read(self._child.output, 1):
                    return
            except OSError:
                return


def _program(base: str) -> str:
    """Return what a child runs: the same modules as we, with the same cache."""
    return (
        "import os, sys\n"
        f"os.environ['OBSCURO_CACHE_DIR'] = {base!r}\n"
        f"sys.path[:] = {sys.path!r}\n"
        "from obscuro.kernel_jobs import main\n"
        "main()"
    )


def _can_start_python() -> bool:
    """Tell whether `sys.executable` is an interpreter, not a program that holds one."""
    name = os.path.basename(sys.executable or "").lower()
    return name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Hold a lock; yield whether it is ours. The system releases it when we end, in any way."""
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(open(path, "wb"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True
