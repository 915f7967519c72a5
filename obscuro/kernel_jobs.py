"""The jobs by which a process compiles kernels for others; `kernel_warmup` starts it."""

import contextlib
import gc
import os
import queue
import sys
import threading
import time
from threading import Event

from obscuro.belief.belief import warm_up
from obscuro.engine.equipment import Equipment
from obscuro.engine.options import Options
from obscuro.engine.player import Player
from obscuro.engine.report import GoLimits
from obscuro.kernel_warmup import play_trial_game, trial_options
from obscuro.rules.board import FogOfWarBoard
from obscuro.rules.position import from_board


def run_job(job: str) -> None:
    """Call the kernels of one job. Raises KeyError for another name, and what they raise."""
    name, _, argument = job.partition(" ")
    if name == "evaluator":
        _evaluate_by(argument)
    else:
        _JOBS[name]()


def _search() -> None:

    player = Player(trial_options(), lambda text: None)
    player.new_game(0, from_board(FogOfWarBoard()))
    player.search(GoLimits(time.monotonic(), nodes=300), Event())
    player.close()


def _threads() -> None:
    options = trial_options()
    options.set("Threads", "2")
    _start(options)


def _evaluate_by(evaluator: str) -> None:
    options = Options()
    options.set("Evaluator", evaluator)
    options.set("Threads", "1")
    _start(options)


def _start(options: Options) -> None:
    equipment = Equipment(options, lambda text: None)
    try:
        equipment.start()
    finally:
        equipment.close()


def _play() -> None:

    play_trial_game(lambda options: Player(options, lambda text: None), lambda text: None)


_JOBS = {"search": _search, "threads": _threads, "belief": warm_up, "game": _play}


def main() -> None:
    """Work off the jobs on standard input until it ends."""
    gc.disable()  # a fifth of the time goes into it, and the process soon ends
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(jobs,), daemon=True).start()
    answers = os.dup(sys.stdout.fileno())
    sys.stdout = sys.stderr  # nothing else may be taken for an answer
    while True:
        with contextlib.suppress(Exception):  # the parent meets the same, and says so
            run_job(jobs.get())
        os.write(answers, b".")


def _read(jobs: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        jobs.put(line.strip())
    os._exit(0)  # whatever is compiled just now
