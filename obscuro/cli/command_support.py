"""What several commands need: errors for the user, options of engines, logs, and an engine."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from obscuro.cli.suggesting_parser import USAGE
from obscuro.engine.options import OptionError, Options
from obscuro.installation import how_to_add

if TYPE_CHECKING:
    from rich.console import Console

    from obscuro.client.engine import Engine
    from obscuro.engine.player import Player

INTERRUPTED = 130
"""The exit code of a program ended by Ctrl-C."""
MOST_PORT = 65535
MOST_LINES = 10_000
"""Lines of a log that wait to be written, at most."""
LAST_LINES_SECONDS = 5.0
"""A program that ends waits so long for the last lines of its log."""

Warn = Callable[[str], None]
MakePlayer = Callable[[Options, Warn], "Player"]


class CommandError(Exception):
    """A subcommand can't go on. The message is one line for the user. code: the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


class UsageError(CommandError):
    """The command line is wrong."""

    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE)


def missing_package(error: ModuleNotFoundError, extra: str) -> CommandError:
    """Return the line that says how to install an extra; raise the error if a module is ours."""
    if (error.name or "obscuro").startswith("obscuro"):
        raise error
    return CommandError(f"{error.name} is not installed; run: {how_to_add(extra)}")


def check_port(port: int) -> None:
    """Raise UsageError if there is no such port."""
    if port > MOST_PORT:
        raise UsageError(f"--port {port}: ports end at {MOST_PORT}")


# -- options of engines -------------------------------------------------------------------------


def read_options(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Read texts of the form `NAME=VALUE`. flag: for the error. Raises UsageError."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{flag}: {text!r} is not NAME=VALUE")
        options[name.strip()] = value.strip()
    return options


def server_options(
    given: Mapping[str, str], defaults: Mapping[str, str], forbidden: Collection[str], server: str
) -> dict[str, str]:
    """Check the options that a user gave a server's engine, add defaults, and return all.

    forbidden: names that the server sets itself, or that make no sense there. server: its name, for
    errors. Raises UsageError.
    """
    known, chosen = Options(), dict(defaults)
    for text, value in given.items():
        try:
            name = known.set(text, value)
        except OptionError as error:
            raise UsageError(str(error)) from None
        if name in forbidden:
            raise UsageError(f"--option {name}: {server} does not set this option")
        chosen[name] = value
    return chosen


def engine_options(**values: str | int) -> Options:
    """Return options with these values. A keyword has lower case, and `_` for a space."""
    options = Options()
    for name, value in values.items():
        options.set(name.replace("_", " "), str(value))
    return options


# -- engines ------------------------------------------------------------------------------------


def make_mover(options: Mapping[str, str], report: Warn) -> Engine:
    """Return our engine in a process of its own. The process starts when it is needed."""
    from obscuro.client.engine import Engine, engine_command  # noqa: PLC0415

    return Engine(engine_command(), options, on_warning=lambda text: report(f"engine: {text}"))


def make_player(options: Options, warn: Warn) -> Player:
    """Make the engine in this process. This loads numba, which takes about a second."""
    from obscuro.engine.player import Player  # noqa: PLC0415

    return Player(options, warn)


def prepare(player: Player, console: Console | None = None) -> None:
    """Compile or load everything. On a terminal, show each step on stderr, with a progress bar.

    console: for tests.
    """
    from rich.console import Console  # noqa: PLC0415

    console = console or Console(stderr=True, highlight=False)
    if not console.is_terminal:
        player.prepare()
        return
    with kernel_progress(console) as tell:
        tell("the first start compiles, for a minute or so")
        player.prepare(tell)


@contextlib.contextmanager
def kernel_progress(console: Console) -> Iterator[Callable[[str], None]]:
    """Show how many of the kernels are compiled; yield what takes the name of each step.

    Where the console is no terminal, each step is a line, once.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    from obscuro.kernel_warmup import ABOUT_KERNELS, kernels_made  # noqa: PLC0415 - loads numba

    columns = (
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    terminal, last = console.is_terminal, ""
    with Progress(*columns, console=console, transient=True, disable=not terminal) as progress:
        task = progress.add_task("", total=ABOUT_KERNELS)

        def tell(step: str) -> None:
            nonlocal last
            if terminal:
                progress.update(task, description=step, completed=kernels_made())
            elif (stage := step.partition(" (")[0]) != last:
                last = stage
                console.print(stage, soft_wrap=True)

        yield tell


# -- a server's log -------------------------------------------------------------------------------


class _SecretFilter(logging.Filter):
    """Replaces a secret in every line of a log. No line should hold it in the first place."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass every record, without the secret."""
        text = record.getMessage()
        if record.exc_info and record.exc_text is None:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if self._secret in text:
            record.msg, record.args = text.replace(self._secret, "(token)"), ()
        if record.exc_text:
            record.exc_text = record.exc_text.replace(self._secret, "(token)")
        return True


@contextlib.contextmanager
def logged(
    logger: logging.Logger, quiet: bool, path: str | None = None, secret: str = ""
) -> Iterator[None]:
    """Within this context, write a logger's lines to stderr, and in more detail to a file.

    A thread writes them, so a terminal that is stopped, or a slow disk, holds nobody up; lines are
    dropped where too many wait. quiet: warnings and errors only on stderr. path: the file, or None.
    secret: is left out of every line. Raises CommandError if the file can't be written.
    """
    screen = logging.StreamHandler()
    screen.setLevel(logging.WARNING if quiet else logging.INFO)
    handlers: list[logging.Handler] = [screen]
    if path is not None:
        try:
            handlers.append(logging.FileHandler(path, encoding="utf-8", errors="replace"))
        except OSError as error:
            raise CommandError(f"can't write {path}: {error.strerror}") from None
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        if secret:
            handler.addFilter(_SecretFilter(secret))
    lines: queue.Queue[logging.LogRecord | None] = queue.Queue(MOST_LINES)
    entrance = _LogQueue(lines)
    writer = threading.Thread(target=_write_lines, args=(lines, handlers), daemon=True)
    writer.start()
    logger.addHandler(entrance)
    before = logger.level, logger.propagate, logging.raiseExceptions
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logging.raiseExceptions = False  # a full disk is no reason to stop playing
    try:
        yield
    finally:
        logger.setLevel(before[0])
        logger.propagate, logging.raiseExceptions = before[1:]
        logger.removeHandler(entrance)
        with contextlib.suppress(queue.Full):
            lines.put(None, timeout=LAST_LINES_SECONDS)
        writer.join(LAST_LINES_SECONDS)
        if not writer.is_alive():  # else it is held up, and has the lock of a handler
            for handler in handlers:
                handler.close()


class _LogQueue(logging.handlers.QueueHandler):
    """Hands lines to the thread that writes them; drops a line where too many wait."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Do nothing: there is no place left to say it."""


def _write_lines(
    lines: queue.Queue[logging.LogRecord | None], handlers: Sequence[logging.Handler]
) -> None:
    """Write lines as they come; None is the last."""
    while (record := lines.get()) is not None:
        for handler in handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
