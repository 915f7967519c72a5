"""`obscuro` reads the command line and starts a subcommand. Each subcommand imports what it needs.

A GUI waits for the engine's first answer, so this module imports almost nothing for `obscuro uci`.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments in ([], ["uci"]):
        return uci(None)
    if arguments in (["doctor"], ["doctor", "--json"]):
        # The grammar needs packages, which `doctor` looks for.
        from obscuro.cli import doctor_command  # noqa: PLC0415

        return _guarded(lambda: doctor_command.run(as_json="--json" in arguments))
    from obscuro.cli.arguments import parse  # noqa: PLC0415

    return run(parse(arguments))


def uci(log: str | None, player: str = "obscuro") -> int:
    """Speak UCI on stdin and stdout, and return the exit code.

    log: a file for the session. player: a name of `obscuro.players.roster`.
    """
    import signal  # noqa: PLC0415

    # Until the front end handles SIGINT, it ends the process without a traceback.
    # In a thread of a test `signal` raises ValueError.
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from obscuro.players.roster import player_kind  # noqa: PLC0415
    from obscuro.uci.uci import run as run_uci  # noqa: PLC0415

    kind = player_kind(player)
    if kind.lack is not None:
        print(f"obscuro: {kind.lack}", file=sys.stderr)
        return 1
    return run_uci(sys.stdin, sys.stdout, log, kind=kind)


def run(arguments: argparse.Namespace) -> int:
    """Run a subcommand and return the exit code."""
    import importlib  # noqa: PLC0415

    if arguments.command == "uci":
        return uci(arguments.log, arguments.player)

    def command() -> int:
        code: int = importlib.import_module(f"obscuro.cli.{arguments.command}_command").run(
            arguments
        )
        return code

    return _guarded(command)


def _guarded(command: Callable[[], int]) -> int:
    """Run a command and return its exit code. A mistake of the user is one line on stderr."""
    from obscuro.cli.command_support import INTERRUPTED, CommandError  # noqa: PLC0415

    try:
        return command()
    except CommandError as error:
        print(f"obscuro: {error}", file=sys.stderr)
        return error.code
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
    """Discard unwritten output, so that Python reports no error about it when it exits."""
    import os  # noqa: PLC0415

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
