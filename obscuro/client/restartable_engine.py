"""A UCI engine that is started when it is needed, and again after its process has ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from obscuro.client.uci_process import EngineError, UciProcess

VARIANT_OPTION = "UCI_Variant"
VARIANT = "fogofwar"


class RestartableEngine:
    """Keeps at most one process of an engine. Any thread may call `close`, one thread the rest.

    options: the options to set at every start. needs_variant: whether an engine without the option
    `UCI_Variant` is an error. on_warning: receives the engine's warnings and errors, each beginning
    with `warning` or `error`. start: makes the process.
    """

    def __init__(
        self,
        command: Sequence[str],
        options: Mapping[str, str],
        on_warning: Callable[[str], None],
        *,
        needs_variant: bool = False,
        start: Callable[[Sequence[str]], UciProcess] = UciProcess,
    ) -> None:
        self._command = list(command)
        self._options = dict(options)
        self._warn = on_warning
        self._needs_variant = needs_variant
        self._start = start
        self._lock = threading.Lock()  # of the two below
        self._process: UciProcess | None = None
        self._closed = False

    @property
    def process(self) -> UciProcess | None:
        """The process; None if none runs."""
        return self._process

    @property
    def pid(self) -> int | None:
        """The process's id; None if no process runs."""
        process = self._process
        return process.pid if process is not None else None

    @property
    def name(self) -> str:
        """The name of the running engine, else the command."""
        process = self._process
        return process.name if process is not None else self._command[0]

    @property
    def knows_variant(self) -> bool:
        """Whether the running engine offers Fog of War chess."""
        process = self._process
        return process is not None and _offers_variant(process)

    def running(self) -> UciProcess:
        """Return the process; start one with its options set if none runs.

        Raises EngineError, also after `close`. No process is left then.
        """
        if self._process is not None:
            return self._process
        if self._closed:
            raise EngineError("it was closed")
        process = self._start(self._command)
        try:
            if self._needs_variant or _offers_variant(process):
                process.set_option(VARIANT_OPTION, VARIANT)
            for name, value in self._options.items():
                process.set_option(name, value)
        except BaseException:
            process.kill()
            raise
        with self._lock:
            if not self._closed:
                self._process = process
                return process
        process.kill()
        raise EngineError("it was closed")

    def configure(self, options: Mapping[str, str]) -> None:
        """Set options, also at every later start. Raises EngineError; the process is ended then."""
        self._options |= options
        process = self._process
        if process is None:
            return
        try:
            for name, value in options.items():
                process.set_option(name, value)
        except EngineError:
            self.kill()
            raise

    def prepare(self) -> None:
        """Wait until the engine can search; start it if need be. Raises EngineError."""
        self.report_warnings(self.running().wait_ready())

    def report_warnings(self, lines: Sequence[str]) -> None:
        """Pass on the warnings and errors among the engine's lines."""
        for line in lines:
            if line.startswith(("info string warning", "info string error")):
                self._warn(line.removeprefix("info string "))

    def kill(self) -> None:
        """End the process at once, if one runs; it may be started again."""
        process = self._taken()
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Ask the engine to quit, and kill it if it does not. It is not started again."""
        with self._lock:
            self._closed = True
        process = self._taken()
        if process is not None:
            process.close()

    def _taken(self) -> UciProcess | None:
        with self._lock:
            process, self._process = self._process, None
        return process


def _offers_variant(process: UciProcess) -> bool:
    return VARIANT in process.options.get(VARIANT_OPTION.lower(), "").split()
