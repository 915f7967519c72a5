"""`obscuro tournament` plays the tournament of a TOML file and writes its results."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from obscuro.arena.event import Event, GameTask
from obscuro.arena.game_record import GameRecord
from obscuro.arena.game_workers import GameWorkers
from obscuro.arena.journal import Journal, JournalError, read_journal
from obscuro.arena.local_workers import LocalWorkers
from obscuro.arena.play_event import EventResult, play_event
from obscuro.arena.rating import Anchor
from obscuro.cli.command_error import CommandError
from obscuro.cli.main import INTERRUPTED
from obscuro.tournament.report_parts import points_text
from obscuro.tournament.result_files import (
    JOURNAL,
    REPORT,
    TournamentState,
    read_anchor,
    state_after,
    under_way,
    write_results,
)
from obscuro.tournament.standings import Standings
from obscuro.tournament.tournament_file import TournamentFileError, read_tournament

MakeWorkers = Callable[[int, Callable[[str], None]], GameWorkers]


def run(
    arguments: argparse.Namespace,
    *,
    console: Console | None = None,
    make_workers: MakeWorkers = LocalWorkers,
) -> int:
    """Play the tournament, or make its report anew; return the exit code. Raises CommandError.

    make_workers: takes the number of games at a time and a function for warnings.
    """
    console = console or Console(highlight=False, markup=False)
    if (arguments.file is None) == (arguments.report is None):
        raise CommandError("name a tournament file, or a directory with --report")
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
    try:
        with Journal.open(directory / JOURNAL, wanted.event) as journal:
            done = len(journal.games)
            _write(
                directory,
                Standings(wanted.event, journal.games, wanted.anchor),
                under_way(done, len(wanted.event.tasks)),
            )
            if done:
                console.print(f"Resumed: {done} of {len(wanted.event.tasks)} games are played.")
            result = _play(wanted.event, journal, console, wanted.anchor, make_workers, concurrency)
    except JournalError as error:
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
    except (JournalError, ValueError) as error:
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
    said: set[str] = set()

    def warn(text: str) -> None:
        if text not in said:
            said.add(text)
            console.print(text, soft_wrap=True)

    bar = Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeElapsedColumn(),
        console=console,
    )
    progress = bar.add_task("", total=len(event.tasks), completed=len(journal.games))

    def view() -> Group:
        return Group(standings_table(Standings(event, journal.games, anchor)), bar)

    with Live(
        view() if console.is_terminal else None,
        console=console,
        transient=True,
        auto_refresh=console.is_terminal,
    ) as live:

        def on_game(task: GameTask, record: GameRecord) -> None:
            bar.update(progress, completed=len(journal.games))
            if console.is_terminal:
                live.update(view())
            console.print(game_line(task, record), soft_wrap=True)

        def on_fault(task: GameTask, fault: str) -> None:
            warn(f"game {task.number + 1} was broken off and is played again: {fault}")

        return play_event(
            event, make_workers(concurrency, warn), journal, on_game=on_game, on_fault=on_fault
        )


def _finish(result: EventResult, directory: Path, anchor: Anchor, console: Console) -> int:
    """Write and show the results; return the exit code. Raises CommandError after a failure."""
    standings = Standings(result.event, result.games, anchor)
    played, planned = len(result.games), len(result.event.tasks)
    _write(directory, standings, state_after(played, planned, result.reason))
    if not result.complete:
        state = state_after(played, planned).text
        console.print(f"\n{state} The same command resumes it.", soft_wrap=True)
    _show(standings, directory, console)
    if result.complete:
        return 0
    if isinstance(result.failure, KeyboardInterrupt):
        return INTERRUPTED
    raise CommandError(str(result.failure))


def _write(directory: Path, standings: Standings, state: TournamentState) -> None:
    """Write the results of these games. Raises CommandError."""
    try:
        write_results(directory, standings, state)
    except OSError as error:
        raise CommandError(f"can't write into {directory}: {error.strerror or error}") from None


def _show(standings: Standings, directory: Path, console: Console) -> None:
    """Print the standings in the terminal."""
    if standings.games:
        console.print()
        console.print(standings_table(standings))
        for line in summary(standings):
            console.print(line, soft_wrap=True)
    console.print(f"report: {directory / REPORT}", soft_wrap=True)


def game_line(task: GameTask, game: GameRecord) -> str:
    """Describe one game in a line."""
    moves = (len(game.plies) + 1) // 2
    return (
        f"game {task.number + 1}: {game.white} - {game.black} {game.result}, "
        f"{game.ending}, {moves} moves, {task.opening.name}"
    )


def standings_table(standings: Standings) -> Table:
    """Return the rating list as a table for the terminal."""
    table = Table(box=None, pad_edge=False)
    for heading in ("", "player", "Elo", "± 95 %", "points", "score", "better than next"):
        table.add_column(heading, justify="left" if heading == "player" else "right")
    ratings = standings.ratings.ratings
    for rank, rating in enumerate(ratings):
        name = standings.entrants[rating.player].name
        cells = [str(rank + 1), name]
        if rating.games:
            below = ratings[rank + 1].player if rank + 1 < len(ratings) else None
            better = (
                math.nan if below is None else standings.ratings.superiority(rating.player, below)
            )
            cells += [
                f"{rating.elo:+.0f}" + ("*" if rating.one_sided else ""),
                f"{rating.error:.0f}",
                f"{points_text(rating.points)}/{rating.games}",
                f"{rating.points / rating.games:.1%}",
                "" if math.isnan(better) else f"{better:.1%}",
            ]
        table.add_row(*(Text(cell) for cell in cells))
    return table


def summary(standings: Standings) -> list[str]:
    """Describe in lines what the table does not say."""
    found = standings.ratings
    lines = [f"White's advantage {found.white_advantage} Elo (95 %)"]
    if any(rating.one_sided for rating in found.ratings):
        lines.append("* won or lost all its games; a weak prior keeps the rating finite")
    if found.groups > 1:
        lines.append(f"{found.groups} groups of players never met; don't compare their ratings")
    for family in standings.families:
        lines.append(f"{family.name}: {family.per_doubling} Elo for each doubling of the time")
    for game in standings.irregular():
        lines.append(f"irregular game {game.task.number + 1}: {game.record.ending}")
    return lines
