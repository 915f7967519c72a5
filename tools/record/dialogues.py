"""Record the dialogues of some pages anew: the same commands, what the engine answers now.

    python -m tools.record.dialogues

A dialogue is a code block after a mark `<!-- dialogue ... -->`. Its lines with `>` are the commands.
All dialogues of the PAGES are held with one engine process, one after the other. Of each search the
last report is kept; lines about compiling are left out. The mark says what the numbers of the
searches depend on: the versions of numba and numpy, the kind of CPU, and the network that `nnue`
evaluates with.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

from obscuro.evaluation.nnue.install import load_networks
from obscuro.evaluation.nnue.network import NetworkError
from tests.uci.dialogue import Process
from tools.common import given, tool_parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "docs" / "first_dialogue.md", ROOT / "docs" / "protocol.md")
DIALOGUE = re.compile(r"<!-- dialogue: (.*?) -->\n\n```\n(.*?)```", re.DOTALL)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.dialogues", __doc__, stores=False)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Write the pages anew; returns the exit code."""
    make_parser().parse_args(given(words))
    with Process() as engine:
        for page in PAGES:
            page.write_text(recorded(page.read_text(encoding="utf-8"), engine), encoding="utf-8")
    return 0


def recorded(page: str, engine: Process) -> str:
    """Return a page's text with all of its dialogues held again."""

    def hold(found: re.Match[str]) -> str:
        lines = "".join(f"{line}\n" for line in held(commands(found[2]), engine))
        return f"<!-- dialogue: {circumstances()} -->\n\n```\n{lines}```"

    return DIALOGUE.sub(hold, page)


def dialogues(page: str) -> list[tuple[str, list[str]]]:
    """Return each dialogue of a page: the circumstances that it was recorded in, and its lines."""
    return [(found[1], found[2].splitlines()) for found in DIALOGUE.finditer(page)]


def commands(text: str) -> list[str]:
    """Return what was said to the engine in a dialogue's text."""
    return [line.removeprefix("> ") for line in text.splitlines() if line.startswith("> ")]


def circumstances() -> str:
    """Say what the numbers of a search depend on beside the engine itself."""
    import llvmlite.binding as llvm  # noqa: PLC0415 - numba loads it as well, but later

    packages = " ".join(f"{name} {version(name)}" for name in ("numba", "numpy"))
    try:
        networks = " ".join(network.name for network in load_networks())
    except NetworkError:
        networks = "no network"
    return f"{packages} {llvm.get_host_cpu_name()} {networks}"


def held(spoken: Iterable[str], engine: Process) -> Iterator[str]:
    """Hold a dialogue; yields its lines, commands with `> ` before them."""
    for command in spoken:
        yield f"> {command}"
        if command.split()[0] == "go":
            engine.say(command)
            yield from last_reports(engine.until("bestmove"))
        elif command == "isready":
            engine.say(command)
            yield engine.until("readyok")[-1]
        elif command == "quit":
            engine.say(command)
        else:
            said = engine.ask(command)
            yield from (line for line in said if not line.startswith("info string getting ready"))


def last_reports(said: Iterable[str]) -> list[str]:
    """Return the lines of a search's last report, and what follows it."""
    kept: list[str] = []
    for line in said:
        if line.startswith("info depth "):
            kept.clear()
        kept.append(line)
    return kept


if __name__ == "__main__":
    sys.exit(main())
