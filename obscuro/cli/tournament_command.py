"""`obscuro tournament` plays the tournament of a TOML file and writes its results."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console

from obscuro.cli.command_support import CommandError, UsageError
from obscuro.cli.event_table import TournamentTable, standings_summary, standings_table
from obscuro.cli.match_command import MakeWorkers, crew_maker, exit_code, once, resumed
from obscuro.matches.event import ArenaError, Event
from obscuro.matches.journal import Journal, read_journal
from obscuro.matches.play_event import EventResult, play_event
from obscuro.matches.rating import Anchor
from obscuro.matches.result_files import (
    JOURNAL,
    REPORT,
    TournamentState,
    read_anchor,
    state_after,
    under_way,
    write_results,
)
from obscuro.matches.standings import Standings
from obscuro.matches.tournament_file import TournamentFileError, read_tournament


def run(
    arguments: argparse.Namespace,
    *,
    console: Console | None = None,
    make_workers: MakeWorkers | None = None,
) -> int:
    """Play the tournament, or make its report anew; return the exit code. Raises CommandError.

    make_workers: replaces what the arguments ask for.
    """
    console = console or Console(highlight=False, markup=False)
    if (arguments.file is None) == (arguments.report is None):
        raise UsageError("name a tournament file, or a directory with --report")
    if arguments.report is not None:
        return _report(Path(arguments.report), console)
    path = Path(arguments.file)
    try:
        wanted = read_tournament(path)
    except TournamentFileError as error:
        raise CommandError(str(error)) from None
    directory = Path(arguments.out) if arguments.out else _directory_of(path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"can't make {directory}: {error.strerror or error}") from None
    concurrency = arguments.concurrency or wanted.concurrency
    make_workers = make_workers or crew_maker(arguments, wanted.event)
    try:
        with Journal.open(directory / JOURNAL, wanted.event) as journal:
            done = len(journal.games)
            _write(
                directory,
                Standings(wanted.event, journal.games, wanted.anchor),
                under_way(done, len(wanted.event.tasks)),
            )
            for line in resumed(journal, wanted.event):
                console.print(line, soft_wrap=True)
            result = _play(wanted.event, journal, console, wanted.anchor, make_workers, concurrency)
    except ArenaError as error:
        raise CommandError(str(error)) from None
    return _finish(result, directory, wanted.anchor, console)


def _directory_of(path: Path) -> Path:
    """Return the directory for the results of a tournament file: its name without the suffix."""
    return path.with_suffix("") if path.suffix else path.with_name(f"{path.name}.results")


def _report(directory: Path, console: Console) -> int:
    """Make the files of a directory anew from its journal."""
    try:
        content = read_journal(directory / JOURNAL)
        anchor = read_anchor(directory, [entrant.name for entrant in content.event.entrants])
    except (ArenaError, ValueError) as error:
        raise CommandError(str(error)) from None
    standings = Standings(content.event, content.games, anchor)
    played, planned = len(content.games), len(content.event.tasks)
    complete = played == planned
    state = state_after(played, planned) if complete else under_way(played, planned)
    _write(directory, standings, state)
    if not complete:
        console.print(state.text)
    _show(standings, directory, console)
    return 0


def _play(
    event: Event,
    journal: Journal,
    console: Console,
    anchor: Anchor,
    make_workers: MakeWorkers,
    concurrency: int,
) -> EventResult:
    """Play what the journal does not hold yet, and show how it goes."""
    table = TournamentTable(console, event, journal.games, anchor)
    with table.drawing():
        return play_event(
            event,
            make_workers(concurrency, once(table.say)),
            journal,
            on_start=table.game_begins,
            on_game=table.game_ends,
            on_fault=table.game_breaks_off,
        )


def _finish(result: EventResult, directory: Path, anchor: Anchor, console: Console) -> int:
    """Write and show the results; return the exit code. Raises CommandError after a failure."""
    standings = Standings(result.event, result.games, anchor)
    played, planned = len(result.games), len(result.event.tasks)
    _write(directory, standings, state_after(played, planned, result.reason))
    if not result.complete:
        state = state_after(played, planned).text
        console.print(f"\n{state} The same command plays the rest.", soft_wrap=True)
    _show(standings, directory, console)
    return exit_code(result)


def _write(directory: Path, standings: Standings, state: TournamentState) -> None:
    """Write the results of these games. Raises CommandError."""
    try:
        write_results(directory, standings, state)
    except OSError as error:
        raise CommandError(f"can't write into {directory}: {error.strerror or error}") from None
    except ArenaError as error:
        raise CommandError(str(error)) from None


def _show(standings: Standings, directory: Path, console: Console) -> None:
    """Print the standings in the terminal."""
    if standings.games:
        console.print()
        console.print(standings_table(standings))
        for line in standings_summary(standings):
            console.print(line, soft_wrap=True)
    console.print(f"report: {directory / REPORT}", soft_wrap=True)
