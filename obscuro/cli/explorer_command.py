"""`obscuro show --explorer` writes one page: what was played in many games, and what was seen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import chess
from rich.console import Console

from obscuro.cli.command_support import CommandError
from obscuro.cli.file_report_command import MOST_FAULTS, report_progress, write_page
from obscuro.viewer.game_file import GameFault, GameFileError, all_games
from obscuro.viewer.html_page import explorer_page
from obscuro.viewer.opening_tree import MOST_NODES, PlayedLine, ShownTrees, played_line, tree_of

GAME_FILES = (".pgn", ".json", ".jsonl", ".ndjson", ".gz")
"""How the names of a folder's files of games end. A file that is named itself may have any name."""
_SECONDS = 0.1


def write_explorer(sources: Sequence[Path], target: Path, console: Console, errors: Console) -> int:
    """Write the page of all games of files and folders; return the exit code. Raises CommandError.

    Ctrl-C ends the reading; the page then has the games so far.
    """
    faults: list[str] = []
    lines: list[PlayedLine] = []
    stopped = ""
    with report_progress(errors) as progress:
        task = progress.add_task("games", total=None, text="")
        shown = 0.0
        try:
            for line in _lines(sources, faults):
                lines.append(line)
                if time.monotonic() - shown > _SECONDS:
                    shown = time.monotonic()
                    progress.update(task, text=f"{len(lines):,} games")
        except KeyboardInterrupt:
            stopped = f"broken off after {_count(lines)}"
        for fault in faults[:MOST_FAULTS]:
            errors.print(fault, soft_wrap=True)
        if len(faults) > MOST_FAULTS:
            errors.print(f"and {len(faults) - MOST_FAULTS} more")
        if not lines:
            where = ", ".join(map(str, sources))
            raise CommandError(f"no game of {where} can be read")
        trees = {
            name: tree_of(
                lines,
                side,
                on_node=lambda nodes, name=name: progress.update(  # type: ignore[misc]
                    task, text=f"{len(lines):,} games, {name}: {nodes:,} branches"
                ),
            )
            for name, side in (("white", chess.WHITE), ("black", chess.BLACK), ("whole", None))
        }
    page = ShownTrees(
        title=f"Openings of {', '.join(path.name or str(path) for path in sources[:3])}"
        + (f" and {len(sources) - 3} more" if len(sources) > 3 else ""),
        games=len(lines),
        faults=len(faults),
        stopped=stopped,
        most=MOST_NODES,
        **trees,  # type: ignore[typeddict-item]
    )
    write_page(target, explorer_page(page))
    text = f"{target}: {_count(lines)}"
    if faults:
        text += f"; {len(faults):,} can't be read"
    console.print(f"{text}; {stopped}" if stopped else text, soft_wrap=True)
    return 0


def _count(lines: Sequence[PlayedLine]) -> str:
    return f"{len(lines):,} game{'' if len(lines) == 1 else 's'}"


def _lines(sources: Sequence[Path], faults: list[str]) -> Iterator[PlayedLine]:
    """Yield the openings of all games; a file of a folder that has none is a fault like others.

    Raises CommandError for a file that was named and can't be read.
    """
    for source in sources:
        inside = _files(source)
        for path in inside or [source]:
            number = 0

            def on_fault(fault: GameFault, path: Path = path) -> None:
                nonlocal number
                number = fault.number
                faults.append(fault.text(path))

            try:
                for game in all_games(path, on_fault):
                    number += 1
                    yield played_line(game, f"{path.name}, game {number}")
            except GameFileError as error:
                if inside is None:
                    raise CommandError(str(error)) from None
                faults.append(str(error))


def _files(source: Path) -> list[Path] | None:
    """Return the files of games in a folder and its folders; None if it is no folder."""
    if not source.is_dir():
        return None
    found = sorted(path for path in source.rglob("*") if path.suffix.lower() in GAME_FILES)
    if not found:
        raise CommandError(f"{source} has no file whose name ends in {', '.join(GAME_FILES)}")
    return found
