"""`obscuro`: reads the command line and starts the subcommand, which loads what it needs by itself.

A GUI waits for the engine's first answer, so the way to `obscuro uci` loads next to nothing here.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

INTERRUPTED = 130  # the exit code of a program ended by Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in ([], ["uci"]):
        return uci(None)
    from obscuro.cli.arguments import parse  # noqa: PLC0415

    return run(parse(arguments))


def uci(log: str | None) -> int:
    """Speak UCI on stdin and stdout."""
    import signal  # noqa: PLC0415

    # Until the front end heeds it, it means the end, and no traceback. Not in threads of tests.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from obscuro.protocol.uci import run as run_uci  # noqa: PLC0415

    return run_uci(sys.stdin, sys.stdout, log)


def run(arguments: argparse.Namespace) -> int:
    """Run a subcommand; what the user did wrong, or lacks, is one line on stderr."""
    import importlib  # noqa: PLC0415

    from obscuro.cli.command_error import CommandError  # noqa: PLC0415

    if arguments.command == "uci":
        return uci(arguments.log)
    try:
        code: int = importlib.import_module(f"obscuro.cli.{arguments.command}_command").run(
            arguments
        )
        return code
    except CommandError as error:
        print(f"obscuro: {error}", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "obscuro").startswith("obscuro"):
            raise
        print(f"obscuro: {error.name} is not installed; see: obscuro doctor", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # as in `obscuro demo | head`
        _abandon_stdout()
        return 1


def _abandon_stdout() -> None:
    """Keep Python from complaining at its end that what is left can't be written."""
    import os  # noqa: PLC0415

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
