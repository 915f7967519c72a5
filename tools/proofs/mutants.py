"""Plant small faults one at a time, and see which the tests notice.

    python -m tools.proofs.mutants --list
    python -m tools.proofs.mutants --only belief uci
    python -m tools.proofs.mutants --raw docs/results/raw/mutants/now.json

Each fault of `mutants.toml` replaces a text that stands in the package once: a sign, an off-by-one, a
dropped filter, a swapped side. It is planted in a copy of the checkout, where the tests of its room
run until one fails; they must pass without a fault. With --raw the verdicts are stored after each
fault, and the same command goes on from there. The whole takes about an hour on one core.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tools.common import ROOT, figures_so_far, given, say, table, tool_parser
from tools.results import raw

MUTANTS = Path(__file__).with_name("mutants.toml")
SECONDS = 900  # a room whose tests take longer than this hangs, so the fault is noticed
COPIED = ("obscuro", "tests", "tools", "engine_bin", "docs", "pyproject.toml")


class Mutant(NamedTuple):
    """A fault: the text `find` of a room becomes `replace`, and the room's tests look for it."""

    room: str
    name: str
    find: str
    replace: str
    tests: tuple[str, ...]


def read_mutants(path: Path = MUTANTS) -> list[Mutant]:
    """Return the faults of a file."""
    rooms = tomllib.loads(path.read_text(encoding="utf-8"))
    tests = rooms.pop("tests")
    return [
        Mutant(room, name, find, replace, tuple(tests[room]))
        for room, mutants in rooms.items()
        for name, (find, replace) in mutants.items()
    ]


def places(root: Path, find: str) -> list[tuple[Path, int, int]]:
    """Return where a text stands in the package: file, begin, end. Any white space equals any."""
    pattern = re.compile(r"\s+".join(re.escape(word) for word in find.split()))
    return [
        (path, match.start(), match.end())
        for path in sorted((root / "obscuro").rglob("*.py"))
        for match in pattern.finditer(path.read_text(encoding="utf-8"))
    ]


def verdict(root: Path, mutant: Mutant) -> dict[str, Any]:
    """Plant a fault in the copy `root`, run the tests and mend it; return what came of it.

    Raises ValueError if the fault's text does not stand there once, or what comes of it is no code.
    """
    found = places(root, mutant.find)
    if len(found) != 1:
        raise ValueError(f"{mutant.room}, {mutant.name}: its text stands {len(found)} times")
    path, begin, end = found[0]
    text = path.read_text(encoding="utf-8")
    changed = text[:begin] + mutant.replace + text[end:]
    try:
        compile(changed, str(path), "exec")
    except SyntaxError as error:
        raise ValueError(f"{mutant.room}, {mutant.name}: {error}") from error
    start = time.monotonic()
    path.write_text(changed, encoding="utf-8")
    try:
        noticed = next((by for tests in mutant.tests if (by := failing_test(root, tests))), None)
    finally:
        path.write_text(text, encoding="utf-8")
    return {
        "room": mutant.room,
        "name": mutant.name,
        "noticed_by": noticed,
        "seconds": round(time.monotonic() - start),
    }


def failing_test(root: Path, tests: str) -> str | None:
    """Return the first test of a folder that fails; None if all pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    try:
        ended = subprocess.run(
            [*command, tests],
            cwd=root,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{tests}: no end within {SECONDS} s"
    if ended.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
    if failed is None:
        raise ValueError(f"pytest {tests}: {ended.stdout[-300:]}{ended.stderr[-300:]}")
    return failed[1]


def render(figures: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each room, and one for each fault that no test noticed."""
    rooms = list(dict.fromkeys(row["room"] for row in figures))
    rows = []
    for room in rooms:
        own = [row for row in figures if row["room"] == room]
        noticed = sum(row["noticed_by"] is not None for row in own)
        rows.append([room, len(own), noticed, round(sum(row["seconds"] for row in own) / 60, 1)])
    yield from table(["room", "faults", "noticed", "minutes"], rows)
    yield ""
    for row in figures:
        if row["noticed_by"] is None:
            yield f"- Not noticed: {row['name'].replace('-', ' ')} ({row['room']})."


def make_parser() -> ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.mutants", __doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these rooms or faults alone")
    parser.add_argument(
        "--list", action="store_true", help="check and list the faults, run nothing"
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    words = given(words)
    parser = make_parser()
    arguments = parser.parse_args(words)
    chosen = [
        mutant
        for mutant in read_mutants()
        if not arguments.only or {mutant.room, mutant.name} & set(arguments.only)
    ]
    if arguments.list:
        for mutant in chosen:
            print(f"{mutant.room:12} {mutant.name:45} {len(places(ROOT, mutant.find))} place(s)")
        return 0
    figures: list[dict[str, Any]] = figures_so_far(parser, words, arguments.raw) or []
    known = {row["name"] for row in figures}
    with tempfile.TemporaryDirectory(prefix="obscuro-mutants-") as folder:
        root = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, root / name)
        (root / ".venv").symlink_to(ROOT / ".venv")
        for tests in sorted({tests for mutant in chosen for tests in mutant.tests}):
            if failed := failing_test(root, tests):
                parser.exit(1, f"{failed} fails without a fault; nothing is planted\n")
        for mutant in chosen:
            if mutant.name in known:
                continue
            figures.append(verdict(root, mutant))
            said = figures[-1]["noticed_by"] or "NOT NOTICED"
            say(f"{mutant.room} {mutant.name}: {said} ({figures[-1]['seconds']} s)")
            if arguments.raw is not None:
                raw.save(arguments.raw, raw.command_line(parser.prog, words), figures)
    print("\n".join(render(figures)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
