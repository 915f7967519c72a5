"""`obscuro show` writes a recorded game as one HTML page: what each side saw and believed."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from obscuro.browser_parts.parts import MissingPartsError
from obscuro.cli.command_error import CommandError
from obscuro.engine.machine import usable_cores
from obscuro.show.document import GameDocument
from obscuro.show.game_file import GameFileError, read_game
from obscuro.show.html_page import html_page, require_parts
from obscuro.show.make_document import make_document


def run(
    arguments: argparse.Namespace,
    *,
    console: Console | None = None,
    errors: Console | None = None,
) -> int:
    """Write the page and return the exit code. Raises CommandError.

    console: for what was written, stdout by default. errors: for the progress bar, stderr.
    """
    console = console or Console(highlight=False, markup=False)
    errors = errors or Console(stderr=True, highlight=False, markup=False)
    source = Path(arguments.pgn)
    target = Path(arguments.out) if arguments.out else default_target(source, arguments.game)
    try:
        require_parts()
        game = read_game(source, arguments.game)
    except (GameFileError, MissingPartsError) as error:
        raise CommandError(str(error)) from None
    with _progress(errors) as progress:
        task = progress.add_task("beliefs", total=1 + sum(1 for _ in game.mainline()))
        document = make_document(
            game, arguments.max_positions, usable_cores(), lambda: progress.advance(task)
        )
    try:
        target.write_text(html_page(document), encoding="utf-8")
    except OSError as error:
        raise CommandError(f"can't write {target}: {error.strerror}") from None
    console.print(summary(document, target), soft_wrap=True)
    return 0


def default_target(source: Path, number: int) -> Path:
    """Return where the page goes unless the user says so: `games.html`, or `games-3.html`."""
    return source.with_name(f"{source.stem}{'' if number == 1 else f'-{number}'}.html")


def summary(document: GameDocument, target: Path) -> str:
    """Describe the page in a line."""
    moves = (len(document["moves"]) + 1) // 2
    players = f"{document['white']} - {document['black']} {document['result']}"
    text = f"{target}: {players}, {moves} move{'' if moves == 1 else 's'}"
    samples = sum(
        1
        for position in document["positions"]
        for belief in (position["white"]["belief"], position["black"]["belief"])
        if belief is not None and not belief["exact"]
    )
    if samples:
        text += f"; {samples} beliefs are samples (--max-positions)"
    return text


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("plies"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
