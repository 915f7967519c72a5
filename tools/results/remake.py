"""Run the commands of a page under docs/results again, and render it: `make results PAGE=NAME`.

    python -m tools.results.remake first_moves
    python -m tools.results.remake first_moves --section white
    python -m tools.results.remake first_moves --list

Runs what the manifest says, one command after the other, and replaces the raw files. A command that
fails leaves its raw file as it is; the next ones are run all the same, and the exit code is 1. The
games of a match are kept beside its raw file. A match that was broken off is resumed. Times mean
something on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tools.common import INTERRUPTED, ROOT, given, say, tool_parser
from tools.results import pages, raw
from tools.results.manifest import MANIFEST, Manifest, ManifestError, Page, Run, load

ENGINE = ROOT / "engine_bin" / "obscuro"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.results.remake", __doc__, stores=False)
    parser.add_argument("page", nargs="?", help="its name, without .md; without it: list the pages")
    parser.add_argument("--section", help="only the runs of this section")
    parser.add_argument("--list", action="store_true", help="run nothing, show the commands")
    parser.add_argument("--manifest", type=Path, default=MANIFEST, metavar="FILE")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Run the commands and render the pages; returns the exit code."""
    arguments = make_parser().parse_args(given(words))
    try:
        manifest = load(arguments.manifest)
        if arguments.page is None:
            say(f"pages: {', '.join(manifest.pages)}")
            return 2
        page = manifest.page(arguments.page)
        runs = chosen_runs(page, arguments.section)
    except ManifestError as error:
        say(f"remake: {error}")
        return 2
    for number, run in enumerate(runs):
        shown_by = [section.name for section in page.sections.values() if run.name in section.runs]
        say(f"{number + 1} of {len(runs)}: {run.name}, shown by {', '.join(shown_by)}")
        say(f"    {run.command}")
    if arguments.list:
        return 0
    failed = []
    for number, run in enumerate(runs):
        say(f"\n=== {number + 1} of {len(runs)}: {run.command}")
        begin = time.monotonic()
        try:
            code = remake(manifest, run)
        except KeyboardInterrupt:
            return INTERRUPTED
        say(f"=== {'failed' if code else 'done'} after {time.monotonic() - begin:.0f} s")
        if code:
            failed.append(run.name)
    code = pages.main(["--manifest", str(arguments.manifest)])
    if failed:
        say(f"failed: {', '.join(failed)}")
    return code or int(bool(failed))


def chosen_runs(page: Page, section: str | None) -> list[Run]:
    """Return the runs of a section, or of the whole page. Raises ManifestError."""
    if section is None:
        return list(page.runs.values())
    if section not in page.sections:
        raise ManifestError(
            f"{page.name} has no section {section!r}, but {', '.join(page.sections)}"
        )
    return [page.runs[name] for name in page.sections[section].runs]


def remake(manifest: Manifest, run: Run) -> int:
    """Run a command and replace its raw file; return its exit code."""
    file = manifest.raw_file(run)
    program, *words = run.words
    if program == "python":
        return run_tool(words, file)
    if words[0] == "match":
        return run_match(words, file)
    return run_benchmark(words, file)


def run_tool(words: Sequence[str], file: Path) -> int:
    """Run `python -m tools.…`, which stores its figures itself."""
    command = [sys.executable, *words, "--raw", str(file)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def run_match(words: Sequence[str], file: Path) -> int:
    """Run `obscuro match`, and keep its games beside the raw file.

    Until the match is over its journal lies there too, so that the same call resumes it.
    """
    name = file.name.partition(".")[0]
    journal, games = file.parent / f"{name}.jsonl", f"{name}.pgn.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pgn = Path(folder) / "games.pgn"
        command = [str(ENGINE), *words, "--log", str(journal), "--pgn", str(pgn)]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code == 0:
            raw.write_bytes(file.parent / games, pgn.read_bytes())
            raw.save(file, shlex.join(["obscuro", *words]), None, games=games)
            journal.unlink()
    return code


def run_benchmark(words: Sequence[str], file: Path) -> int:
    """Run `obscuro bench`, and store the JSON that it prints."""
    command = [str(ENGINE), *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode == 0:
        raw.save(file, shlex.join(["obscuro", *words]), json.loads(done.stdout))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
