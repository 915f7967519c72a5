"""`obscuro completion SHELL` prints what a shell needs to complete commands, flags and players."""

from __future__ import annotations

import argparse

import shtab

from obscuro.cli.arguments import build_parser
from obscuro.players.roster import PLAYERS

_FILES = {"FILE": shtab.FILE, "GAMES": shtab.FILE, "LOG": shtab.FILE, "DIR": shtab.DIRECTORY}
"""What completes an argument whose help calls it so."""
_PLAYERS = ("A", "B")


def run(arguments: argparse.Namespace) -> int:
    """Print the script, and return the exit code."""
    parser = build_parser()
    players = shtab.cmd(f"echo {' '.join(PLAYERS)}")
    for action in parser.walk():
        completed = _FILES.get(str(action.metavar))
        if action.metavar in _PLAYERS:
            completed = players
        if completed is not None:
            action.complete = completed  # type: ignore[attr-defined]
    print(shtab.complete(parser, arguments.shell))
    return 0
