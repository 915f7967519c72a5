"""Raw files: the figures of an experiment, with what made them.

A raw file is JSON, compressed if its name ends in `.gz`. It has

- `command`: the exact command, without `--raw`;
- `commit`: what the program was; `-dirty` if it was changed beside the commit;
- `date`: of the end, in UTC;
- `machine`: processor, cores, memory and the versions of the programs, or one line of text;
- `data`: the figures, as the tool's `render` reads them;
- `transcribed_from_page`: true where the figures were copied from the page that a person had
  written. `data` then holds the cells of its tables by section, or the counts of a match, and
  `commit` is the one that wrote the page;
- `games`: the name of a PGN file beside it, or null where the games of a match were not kept;
- `note`: what else a reader has to know.
"""

from __future__ import annotations

import contextlib
import datetime
import gzip
import json
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TextIO

from obscuro.cli.bench.common import machine as bench_machine
from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess
from obscuro.evaluation.stockfish_program import stockfish_path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ("obscuro", "engine_bin", "pyproject.toml")
"""What a commit is about: changes of other files don't change what the program does."""


class RawFileError(Exception):
    """A raw file can't be read; the text is one line for the user."""


@dataclass(frozen=True)
class Raw:
    """One raw file; see the module's docstring for the fields."""

    command: str
    commit: str
    date: str
    machine: dict[str, str | int] | str
    data: Any
    transcribed_from_page: bool = False
    games: str | None = None
    note: str = ""

    def machine_line(self) -> str:
        """Return the machine in one line."""
        if isinstance(self.machine, str):
            return self.machine
        facts = self.machine
        gibibytes = int(facts["memory_mib"]) / 1024
        return (
            f"{facts['cpu']}, {facts['cores']} cores, {gibibytes:.0f} GiB, Python "
            f"{facts['python']}, numba {facts['numba']}, {facts['stockfish']}"
        )


def load(path: Path) -> Raw:
    """Read a raw file. Raises RawFileError."""
    try:
        with open_text(path) as stream:
            fields = json.load(stream)
        return Raw(**fields)
    except (OSError, ValueError, TypeError) as error:
        raise RawFileError(f"{path}: {error}") from None


def save(path: Path, command: str, data: Any, *, games: str | None = None, note: str = "") -> Raw:
    """Store figures that were measured just now, with what made them."""
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    raw = Raw(command, commit(), today, machine(), data, False, games, note)
    write(path, raw)
    return raw


def write(path: Path, raw: Raw) -> None:
    """Write a raw file; equal contents give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, (to_json(asdict(raw)) + "\n").encode())


def to_json(value: Any, depth: int = 3, indent: str = "") -> str:
    """Return JSON with the outer *depth* levels in lines of their own, the inner ones in one line."""
    if depth == 0 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(str(key), ensure_ascii=False)}: {to_json(each, depth - 1, inner)}"
            for key, each in value.items()
        ]
    else:
        parts = [to_json(each, depth - 1, inner) for each in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{closing}"


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, compressed if its name ends in `.gz`."""
    if path.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    path.write_bytes(content)


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Open a file for reading as text, through gzip if its name ends in `.gz`."""
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            yield stream
    else:
        with path.open(encoding="utf-8") as stream:
            yield stream


UNNAMED = ("--raw", "--at-most")
"""Options with a value that say where figures go and when to pause, but not what is measured."""


def command_line(program: str, words: Sequence[str]) -> str:
    """Return a command as one types it, without the options of `UNNAMED`."""
    kept = list(words)
    for option in UNNAMED:
        if option in kept:
            place = kept.index(option)
            del kept[place : place + 2]
    return " ".join([program, shlex.join(kept)]).strip()


def commit() -> str:
    """Return the commit of the program, with `-dirty` if it was changed beside that."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", *PROGRAM)
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changed else "")


def machine() -> dict[str, str | int]:
    """Return what figures depend on: the CPU, the memory, the versions of the programs."""
    facts = {**bench_machine(), "stockfish": stockfish_name()}
    for package in ("scipy", "open_spiel"):
        with contextlib.suppress(PackageNotFoundError):
            facts[package] = version(package)
    return facts


def stockfish_name() -> str:
    """Return what the Stockfish that the engine finds calls itself."""
    path = stockfish_path()
    if path is None:
        return "no Stockfish"
    try:
        process = StockfishProcess(path)
    except StockfishError as error:
        return f"no Stockfish that runs ({error})"
    process.close()
    return process.name
