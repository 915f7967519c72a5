"""Plays a scripted human against the bridge on the real server of pychess.org, on this machine.

    python -m tools.proofs.real_pychess --server CHECKOUT --python INTERPRETER
    python -m tools.proofs.real_pychess --server CHECKOUT --python INTERPRETER --only abort rematch
    python -m tools.proofs.real_pychess --list

CHECKOUT is a work tree of gbtami/pychess-variants. INTERPRETER is a Python, 3.13 or newer, that has
what the server needs; docs/results/real_pychess.md says how to get both. The bridge and the engine
are those of this program, as processes. All is on 127.0.0.1, with a new token for each run. A run
takes about a quarter of an hour and needs the packages of the extra `pychess` (`make setup`). The exit
code is 1 if a scenario did not end as expected.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from obscuro.installation import how_to_add
from tools.common import INTERRUPTED, given, publish, say, table, tool_parser
from tools.proofs.pychess.processes import NotAsExpectedError

UNUSABLE = 2
"""The exit code where the proof can't be begun."""


def make_parser() -> ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.real_pychess", __doc__)
    parser.add_argument("--server", type=Path, metavar="CHECKOUT", help="of pychess-variants")
    parser.add_argument("--python", type=Path, metavar="INTERPRETER", help="that runs the server")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="scenarios")
    parser.add_argument("--list", action="store_true", help="print the scenarios and end")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where all logs are to stay")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, and tell; returns the exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    try:
        from tools.proofs.pychess.whole_run import SCENARIOS, play_all  # noqa: PLC0415
    except ImportError as error:
        say(f"real_pychess: {error.name} is missing; run: {how_to_add('pychess')}")
        return UNUSABLE
    names = [scenario.name for scenario in SCENARIOS]
    if arguments.list:
        print("\n".join(names))
        return 0
    check(parser, arguments, names)
    wanted = [each for each in SCENARIOS if each.name in (arguments.only or names)]
    try:
        with log_folder(arguments.keep) as folder:
            rows = play_all(arguments.server, arguments.python, wanted, folder)
    except NotAsExpectedError as error:
        say(f"real_pychess: {error}")
        return UNUSABLE
    figures = {"server": revision(arguments.server), "rows": [row._asdict() for row in rows]}
    publish(parser, words, arguments.raw, figures, render)
    if len(rows) < len(wanted):
        return INTERRUPTED
    return int(not all(row.passed for row in rows))


def check(parser: ArgumentParser, arguments: Namespace, names: Collection[str]) -> None:
    """Leave the program with one line if the command line can't be right."""
    if arguments.server is None or arguments.python is None:
        parser.error("--server and --python are needed; see --help")
    if not (arguments.server / "server" / "server.py").is_file():
        parser.error(f"--server {arguments.server}: no checkout of pychess-variants")
    if not arguments.python.is_file():
        parser.error(f"--python {arguments.python}: there is no such file")
    for name in arguments.only:
        if name not in names:
            parser.error(f"--only {name!r}: there is no such scenario; see --list")


@contextlib.contextmanager
def log_folder(kept: Path | None) -> Iterator[Path]:
    """Yield a folder for what the processes write: the given one, or one that is deleted after."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


def revision(checkout: Path) -> str:
    """Return commit and day of a checkout, `unknown` if it is no work tree of git."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the table of the scenarios, and how many ended as expected."""
    rows = figures["rows"]
    yield from table(
        ["scenario", "what was done", "expected", "what happened", "passed", "s"],
        (
            (
                *(row[key] for key in ("name", "done", "expected", "happened")),
                "yes" if row["passed"] else "**no**",
                f"{row['seconds']:.0f}",
            )
            for row in rows
        ),
        "lllllr",
    )
    passed, seconds = sum(row["passed"] for row in rows), sum(row["seconds"] for row in rows)
    yield ""
    yield f"{passed} of {len(rows)} ended as expected, in {seconds / 60:.0f} minutes."
    yield f"The server is pychess-variants at {figures['server']}."


if __name__ == "__main__":
    sys.exit(main())
