"""Dialogues with the engine: the front end in this process on a fake Player, or a real process."""

from __future__ import annotations

import dataclasses
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import cast

import chess
import numpy as np

from obscuro.belief.marginals import Marginals
from obscuro.engine.options import Options
from obscuro.engine.player_kind import OBSCURO, MakePlayer, PlayerKind
from obscuro.engine.report import (
    Choice,
    ComparedMove,
    Comparison,
    Coverage,
    GoLimits,
    Reason,
    SearchInfo,
)
from obscuro.rules.observation import PLANES, Observation
from obscuro.uci.channel import read_lines
from obscuro.uci.positions import FogGame, start_board
from obscuro.uci.uci import run
from tests.hanging import HANG_SECONDS
from tests.uci.test_printing import INFO

ROOT = Path(__file__).parents[2]


class Dialogue:
    """What is common: lines out, lines in, every line kept in `heard`."""

    def __init__(self, reading: int, writing: int) -> None:
        self._writing = writing
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.heard: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()

    def _read(self, reading: int) -> None:
        for line in read_lines(reading):
            self._lines.put(line)
        os.close(reading)
        self._lines.put(None)

    def say(self, *lines: str) -> None:
        """Send lines."""
        self.send("".join(f"{line}\n" for line in lines).encode())

    def send(self, data: bytes) -> None:
        """Send bytes."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._writing, rest) :]

    def hear(self) -> str | None:
        """Return the next line, None where no more will come."""
        try:
            line = self._lines.get(timeout=HANG_SECONDS)
        except queue.Empty:
            raise AssertionError(f"it hangs, after {self.heard[-5:]}") from None
        if line is None:
            self._lines.put(None)
        else:
            self.heard.append(line)
        return line

    def until(self, pattern: str) -> list[str]:
        """Return the lines up to and with the first that a regular expression fits from its start."""
        lines = []
        while (line := self.hear()) is not None:
            lines.append(line)
            if re.match(pattern, line):
                return lines
        raise AssertionError(f"no line {pattern!r} came, but {lines}")

    def ask(self, *lines: str) -> list[str]:
        """Send lines; return what is said to them, by the word of `isready`."""
        self.say(*lines, "isready")
        return self.until("readyok")[:-1]

    def end_input(self) -> None:
        """Close the engine's input."""
        if self._writing >= 0:
            os.close(self._writing)
            self._writing = -1

    def rest(self) -> list[str]:
        """Return all lines to the end of the engine's output."""
        lines = []
        while (line := self.hear()) is not None:
            lines.append(line)
        self._reader.join(HANG_SECONDS)
        return lines


class Process(Dialogue):
    """A real process."""

    def __init__(self, *arguments: str, stderr: int = subprocess.PIPE) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, "-m", "obscuro.cli.main", "uci", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            cwd=ROOT,
        )
        assert self.popen.stdin is not None and self.popen.stdout is not None
        super().__init__(os.dup(self.popen.stdout.fileno()), os.dup(self.popen.stdin.fileno()))
        self.popen.stdin.close()
        self.popen.stdout.close()

    def leave(self) -> tuple[int, list[str], str]:
        """End the input; return the exit code, what was still said, and all of stderr."""
        self.end_input()
        lines = self.rest()
        code = self.popen.wait(HANG_SECONDS)
        assert self.popen.stderr is not None
        with self.popen.stderr as stream:
            return code, lines, stream.read().decode()

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.popen.kill()
        self.popen.wait()
        self.end_input()


class InProcess(Dialogue):
    """The front end in a thread of this process.

    player: its kind, or what makes the player in place of Obscuro's. exit_codes: what it would have
    left with, forced.
    """

    def __init__(
        self,
        player: MakePlayer | PlayerKind,
        log: str | None = None,
        tick_seconds: float = 1000.0,
    ) -> None:
        if not isinstance(player, PlayerKind):
            player = dataclasses.replace(OBSCURO, make=player)
        engine_reads, writing = os.pipe()
        reading, engine_writes = os.pipe()
        super().__init__(reading, writing)
        self.exit_codes: list[int] = []
        self.result: int | None = None

        def live() -> None:
            self.result = run(
                engine_reads,
                engine_writes,
                log,
                kind=player,
                leave=self.exit_codes.append,
                tick_seconds=tick_seconds,
            )
            if self.exit_codes:
                # A thread works on, so this number must not become another test's pipe.
                with open(os.devnull, "wb") as nowhere:
                    os.dup2(nowhere.fileno(), engine_writes)
            else:
                os.close(engine_writes)

        self._engine_reads = engine_reads
        self._thread = threading.Thread(target=live, daemon=True)
        self._thread.start()

    def leave(self) -> list[str]:
        """End the input and wait; return what was still said."""
        self.end_input()
        lines = self.rest()
        self._thread.join(HANG_SECONDS)
        assert not self._thread.is_alive()
        return lines

    def __enter__(self) -> InProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end_input()
        self._thread.join(HANG_SECONDS)


class Fakes:
    """Makes fake Players and says how they behave.

    calls: what all of them were told, in order. error: raised by the next search. early: a search
    without a limit ends at once. move: what is chosen in place of the first legal move. hold: what
    `prepare` waits for. prepare_error: raised by the next `prepare`. late: what a search waits for
    after `stop`. silent: it reports nothing. coverage, comparison: what is answered, or raised.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.options: list[Options] = []
        self.error: Exception | None = None
        self.prepare_error: Exception | None = None
        self.early = False
        self.move: str | None = None
        self.hold: threading.Event | None = None
        self.late: threading.Event | None = None
        self.silent = False
        self.coverage: Coverage | Exception = Coverage(True, True, False, 0.25)
        self.comparison: Comparison | Exception | None = Comparison(
            (ComparedMove("e2e4", -0.25, 0.0, 0), ComparedMove("d2d4", 0.5, 1.0, 12)),
            (Reason("8/8 w - -", 0.75, (-1.0, 0.5)),),
        )
        self.info: SearchInfo = INFO
        self.made = 0
        self.closed = 0
        self._news = threading.Condition()

    def record(self, call: tuple[object, ...]) -> None:
        """Add to what the players were told."""
        with self._news:
            self.calls.append(call)
            self._news.notify_all()

    def wait_for_call(self, call: tuple[object, ...]) -> None:
        """Wait until a player has been told so."""
        with self._news:
            assert self._news.wait_for(lambda: call in self.calls, HANG_SECONDS), self.calls

    def __call__(self, options: Options, warn: object) -> FakePlayer:
        self.made += 1
        self.options.append(options)
        return FakePlayer(self)

    def told(self) -> list[tuple[object, ...]]:
        """Return the calls that tell of a game."""
        return [call for call in self.calls if call[0] in ("new_game", "own_move", "opponent_move")]

    def searches(self) -> list[GoLimits]:
        """Return the limits of all searches."""
        return [cast(GoLimits, call[1]) for call in self.calls if call[0] == "search"]


class FakePlayer:
    """Chooses the first legal move. See Fakes."""

    belief_size = 3
    belief_exact = False
    seed = 7
    evaluator = "fake"

    def __init__(self, fakes: Fakes) -> None:
        self._fakes = fakes
        self._witness: FogGame | None = None

    def set_options(self, options: Options) -> None:
        self._fakes.options.append(options)

    def prepare(self, progress: object = None) -> None:
        self._fakes.record(("prepare",))
        if self._fakes.hold is not None:
            assert self._fakes.hold.wait(HANG_SECONDS)
        error, self._fakes.prepare_error = self._fakes.prepare_error, None
        if error is not None:
            raise error

    def new_game_from_fen(self, side: int, fen: str) -> None:
        self._fakes.record(("new_game", side, fen))
        self._witness = FogGame(side == 0, start_board(fen))

    def own_move(self, uci: str, observation: Observation | None) -> None:
        seen = None if observation is None else observation.text()
        self._fakes.record(("own_move", uci, seen))
        assert self._witness is not None
        self._witness.take(uci)
        self._witness.take(seen or "-")

    def opponent_move(self, observation: Observation) -> None:
        self._fakes.record(("opponent_move", observation.text()))
        assert self._witness is not None
        self._witness.take(observation.text())

    def update(self) -> None:
        self._fakes.record(("update",))

    def ponder(self, stop: threading.Event) -> None:
        self._fakes.record(("ponder",))
        assert stop.wait(HANG_SECONDS)
        self._fakes.record(("pondered",))

    def belief_fens(self, count: int) -> Mapping[str, float | None]:
        return dict.fromkeys(["a w - -", "b w - -", "c w - -"][:count])

    def marginals(self) -> Marginals:
        even = np.zeros((len(PLANES), len(chess.SQUARES)))
        even[-1, chess.E8] = 1
        even[0, chess.E8] = 1 / 3
        return Marginals(even, None)

    def coverage_of_fen(self, fen: str) -> Coverage:
        self._fakes.record(("coverage", fen))
        if isinstance(self._fakes.coverage, Exception):
            raise self._fakes.coverage
        return self._fakes.coverage

    def compare(self, move: str, other: str | None = None) -> Comparison | None:
        self._fakes.record(("compare", move, other))
        if isinstance(self._fakes.comparison, Exception):
            raise self._fakes.comparison
        return self._fakes.comparison

    def search(self, limits: GoLimits, stop: threading.Event, report: object) -> Choice:
        fakes = self._fakes
        late = fakes.late  # the next search may have another one
        fakes.record(("search", limits))
        if fakes.error is not None:
            error, fakes.error = fakes.error, None
            raise error
        assert callable(report) and self._witness is not None
        if not fakes.silent:
            report(fakes.info)
        limited = not limits.infinite and (limits.movetime, limits.nodes) != (None, None)
        if not limited and not fakes.early:
            assert stop.wait(HANG_SECONDS)
        if late is not None:
            assert late.wait(HANG_SECONDS)
            report(fakes.info)
        return Choice(fakes.move or self._witness.history().moves[0], info=fakes.info)

    def close(self) -> None:
        self._fakes.closed += 1
