"""What Stockfish can do to a search: it is replaced, or done without, and nothing is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from threading import Event, Lock

import chess
import numpy as np
import pytest

from obscuro.engine.player import Player
from obscuro.engine.report import Choice, GoLimits
from obscuro.evaluation.evaluator import ChildValues, Evaluator
from obscuro.evaluation.factory import unwrapped
from obscuro.rules.position import from_fen
from obscuro.search.tree import EDGES, IN_FLIGHT
from tests.evaluation.fakes import is_gone
from tests.evaluation.naive import STOCKFISH, needs_stockfish
from tests.processes import children
from tests.search.invariants import check
from tests.sizes import quick_among
from tools.proofs.evaluator_faults import write_proxy

from .given_options import options as quick_options

BEFORE, AFTER = 20, 30  # batches evaluated before and after a fault
LAST = BEFORE + AFTER
TURNS = 50  # enough for any process to be replaced or done without


class Meddling:
    """Evaluates for one thread, and tells the table of each batch before it is evaluated."""

    def __init__(self, evaluator: Evaluator, before: Callable[[Evaluator], None]) -> None:
        self._evaluator = evaluator
        self._before = before

    def __getattr__(self, name: str) -> object:
        return getattr(self._evaluator, name)

    def evaluate(self, positions: np.ndarray) -> ChildValues:
        self._before(self._evaluator)
        values = self._evaluator.evaluate(positions)
        assert np.isfinite(values.values).all()
        return values


class Table:
    """A player at a game, its warnings, and a search of so many batches with a fault in its middle.

    struck: the evaluator whose batch came next when the fault was done; it has this batch to
    evaluate. victim: its process until then.
    """

    def __init__(self, **options: object) -> None:
        # Without a cache every batch is one for Stockfish.
        defaults = {"Threads": 2, "Seed": 3, "eval_cache": 0}
        defaults |= {"Evaluator": "stockfish", "Stockfish": STOCKFISH}
        made = quick_options(**{**defaults, **options})
        self.warnings: list[str] = []
        self.player = Player(made, self.warnings.append)
        self.player.prepare()
        self.player.new_game(0, from_fen(chess.STARTING_FEN))
        self.struck: Evaluator = self.evaluators[0]
        self.victim: int | None = None

    @property
    def evaluators(self) -> list[Evaluator]:
        return self.player.equipment.evaluators

    @property
    def pids(self) -> dict[Evaluator, int | None]:
        return {evaluator: pid(evaluator) for evaluator in self.evaluators}

    def search(self, fault: Callable[[int], None] | None = None) -> Choice:
        """Search the game's first position anew. fault: done once, to the process next at work."""
        # A tree that is kept from search to search would be full at some time, and no batch come.
        self.player.new_game(0, from_fen(chess.STARTING_FEN))
        stop, lock = Event(), Lock()
        batches = 0

        def before(evaluator: Evaluator) -> None:
            nonlocal batches
            with lock:
                batches += 1
                if batches == LAST:
                    stop.set()
                if batches == BEFORE and fault is not None:
                    self.struck, self.victim = evaluator, pid(evaluator)
                    assert self.victim is not None
                    fault(self.victim)

        games = self.player.equipment.games
        for game in games:
            game.evaluator = Meddling(game.evaluator, before)
        try:
            choice = self.player.search(GoLimits(time.monotonic()), stop)
        finally:
            for game, evaluator in zip(games, self.evaluators, strict=True):
                game.evaluator = evaluator
        assert batches >= LAST
        assert choice.move is not None
        tree = self.player.equipment.search.tree
        check(tree)
        assert not (tree.edge_status[: tree.counts[EDGES]] == IN_FLIGHT).any()
        return choice

    def search_until(self, done: Callable[[], bool]) -> None:
        for _ in range(TURNS):
            if done():
                return
            self.search()
        pytest.fail(f"not in {TURNS} turns")


def pid(evaluator: Evaluator) -> int | None:
    found = unwrapped(evaluator).pid  # type: ignore[attr-defined]
    assert found is None or isinstance(found, int)
    return found


@pytest.fixture
def table() -> Iterator[Table]:
    made = Table()
    yield made
    made.player.close()


@needs_stockfish
@pytest.mark.parametrize(
    ("blow", "reason"),
    quick_among(
        [
            (signal.SIGKILL, "it was killed by SIGKILL"),
            (signal.SIGSTOP, "it was stopped"),
            (signal.SIGSEGV, "it was killed by SIGSEGV"),
        ],
        lambda case: case[0] == signal.SIGSEGV,
    ),
)
def test_a_process_lost_in_mid_search_is_replaced(
    blow: signal.Signals, reason: str, table: Table
) -> None:
    before = table.pids
    table.search(lambda victim: os.kill(victim, blow))
    assert table.victim is not None and is_gone(table.victim)
    table.search_until(lambda: pid(table.struck) is not None)
    assert pid(table.struck) != table.victim
    assert {**before, table.struck: pid(table.struck)} == table.pids  # the others have theirs
    assert [evaluator.name for evaluator in table.evaluators] == ["stockfish", "stockfish"]
    table.search()
    assert table.warnings == [f"Stockfish was lost ({reason}), and another one is starting"]


@needs_stockfish
@pytest.mark.parametrize(
    ("trouble", "threads"),
    quick_among(product(["die", "garble"], [1, 2, 3]), [("die", 2), ("garble", 1)].__contains__),
)
def test_what_fails_again_and_again_is_done_without(
    tmp_path: Path, trouble: str, threads: int
) -> None:
    path, file = write_proxy(tmp_path, str(STOCKFISH))
    table = Table(Stockfish=path, Threads=threads)
    others = table.pids

    def fault(victim: int) -> None:
        file.write_text(trouble)
        if trouble == "die":
            os.kill(victim, signal.SIGKILL)

    table.search(fault)
    table.search_until(lambda: table.struck.name == "material")
    table.search()
    assert table.victim is not None and is_gone(table.victim)
    # Where it takes long to come up again, that is told first. What talks nonsense does so to all
    # threads, and each tells of its own process; the same words come once a turn.
    told = table.warnings
    starting = [text for text in told if text.endswith("another one is starting")]
    final = [text for text in told if text.endswith("evaluating by material from now on")]
    hit = 1 if trouble == "die" else threads
    assert len(starting) + len(final) == len(told)
    assert 0 <= len(starting) <= hit and 1 <= len(final) <= hit
    if hit == 1:
        assert told == starting + final
    del others[table.struck]
    if trouble == "die":  # nothing happened to them
        assert {evaluator: pid(evaluator) for evaluator in others} == others
        assert all(evaluator.name == "stockfish" for evaluator in others)

    file.unlink()  # and when it works again, the next game has it again
    table.player.prepare()
    # On a busy machine a search does not wait for a process that takes long to start.
    table.search_until(lambda: None not in table.pids.values())
    assert all(evaluator.name == "stockfish" for evaluator in table.evaluators)
    table.player.close()


@needs_stockfish
def test_one_that_hangs_at_its_start_holds_up_nothing(tmp_path: Path) -> None:
    path, file = write_proxy(tmp_path, str(STOCKFISH))
    table = Table(Stockfish=path)

    def fault(victim: int) -> None:
        file.write_text("hang")
        os.kill(victim, signal.SIGKILL)

    table.search(fault)  # ends, though no process has come up
    assert pid(table.struck) is None
    assert len(table.warnings) == 1
    assert table.warnings[0].endswith("and another one is starting")
    table.player.close()  # at once


def test_without_stockfish_material_plays_with_one_warning(tmp_path: Path) -> None:
    table = Table(Stockfish=tmp_path / "none", Threads=3)
    table.search()
    assert len(table.warnings) == 1
    assert table.warnings[0].startswith("Stockfish is missing")
    table.player.close()


@needs_stockfish
def test_each_thread_has_a_process_and_none_is_left() -> None:
    table = Table(Threads=3)
    pids = set(table.pids.values())
    assert len(pids) == 3
    table.search()
    table.player.close()
    assert all(is_gone(pid) for pid in pids if pid is not None)
    assert not pids & set(children(os.getpid()))


@needs_stockfish
def test_the_cache_is_used_and_told_of_and_changes_nothing_that_repeats() -> None:
    table = Table(Threads=1, eval_cache=1)
    limits = GoLimits(time.monotonic(), nodes=3000)
    told = []
    for _ in range(2):
        table.player.new_game(0, from_fen(chess.STARTING_FEN))
        reports = []
        choice = table.player.search(limits, Event(), reports.append)
        again = table.player.search(limits, Event(), reports.append)
        assert choice.info is not None and again.info is not None
        assert reports[-1].cache is not None
        assert 0 < reports[-1].cache.hits <= reports[-1].cache.lookups
        assert 0 < reports[-1].cache.positions <= reports[-1].cache.capacity
        finals = [report for report in reports if report.cache is not None]
        assert len(finals) == 2 and finals[-1] == reports[-1]  # once a search, at its end
        told.append((choice.info.policy, again.info.policy, choice.info.cache, again.info.cache))
    assert told[0] == told[1]
    table.player.close()


def test_without_a_cache_there_is_nothing_to_tell_of() -> None:
    for options in ({"eval_cache": 0}, {"Evaluator": "material"}):
        table = Table(**{"Evaluator": "material", **options})
        choice = table.search()
        assert choice.info is not None and choice.info.cache is None
        table.player.close()


def test_without_memory_for_a_cache_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(size: int) -> None:
        raise MemoryError

    monkeypatch.setattr("obscuro.engine.equipment.ExpansionCache", no_memory)
    table = Table(Evaluator="material", eval_cache=7)
    assert table.search().move is not None
    assert table.warnings == ["there is no memory for an eval_cache of 7 MiB; doing without"]
    table.player.close()
