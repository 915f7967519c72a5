"""`obscuro match` plays games between two players, and tells who is stronger."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
from rich.console import Console

from obscuro.cli.command_support import INTERRUPTED, CommandError, UsageError, read_options
from obscuro.cli.event_table import MatchTable
from obscuro.matches.builtin_players import check_entrant, split_command
from obscuro.matches.coverage_table import coverage_lines
from obscuro.matches.event import ArenaError, Entrant, Event, GameTask, match_games
from obscuro.matches.game_record import OWN_OBSERVATIONS, GameRecord
from obscuro.matches.game_workers import GameWorkers, LocalWorkers
from obscuro.matches.journal import EventStore, Journal
from obscuro.matches.openings import openings_named
from obscuro.matches.pgn import PgnFile
from obscuro.matches.play_event import EventResult, play_event
from obscuro.matches.ray_workers import (
    ClusterError,
    RayWorkers,
    check_cores,
    check_ray,
    cores_of_a_game,
)
from obscuro.matches.result_files import BIASED, match_to_json, write_json
from obscuro.matches.sprt import H1, SprtBounds
from obscuro.matches.standings import FIRST, QUANTITIES, SECOND, MatchResult, Statistics, number
from obscuro.matches.time_control import TimeControl

GAMES, MOST_SPRT_GAMES = 10, 10_000
"""How many games are agreed unless the user says so: without and with a sequential test."""
MOVETIME = 1000
"""Milliseconds for each move unless the user says so."""

MakeWorkers = Callable[[int, Callable[[str], None]], GameWorkers]
"""Makes workers from the number of games at a time and a function for warnings."""


def run(arguments: argparse.Namespace, *, console: Console | None = None) -> int:
    """Play the match and return the exit code. Raises CommandError."""
    console = console or Console(highlight=False, markup=False)
    event = make_event(arguments)
    make_workers = crew_maker(arguments, event)
    _check_json_path(arguments.json)
    for line in unpaired(len(event.tasks)):
        console.print(line, soft_wrap=True)
    with contextlib.ExitStack() as files:
        journal, pgn = _open_files(arguments, event, files)
        store = EventStore(event) if journal is None else journal
        match = MatchResult(event, store.games)
        table = MatchTable(console, match, len(store.games))
        if journal is not None:
            for line in resumed(journal, event):
                console.print(line, soft_wrap=True)
        workers = make_workers(arguments.concurrency or 1, once(table.say))
        ended = _play(store, match, table, workers, pgn)
        if arguments.json is not None:
            _write_json(Path(arguments.json), match, ended)
    console.print()
    for line in verdict(match, ended, resumable=journal is not None):
        console.print(line, soft_wrap=True)
    return exit_code(ended)


def unpaired(games: int) -> Iterator[str]:
    """Say that the last game is without its twin, unless it is the only one."""
    if games > 1 and games % 2:
        yield (
            f"note: games come in pairs, and the last of {games} has no twin; "
            f"--games {games + 1} would complete its pair"
        )


def exit_code(ended: EventResult) -> int:
    """Return the exit code after an event. Raises CommandError with what broke it off."""
    if ended.failure is None or ended.complete:
        return 0
    if isinstance(ended.failure, KeyboardInterrupt):
        return INTERRUPTED
    raise CommandError(str(ended.failure))


def _play(
    store: EventStore,
    match: MatchResult,
    table: MatchTable,
    workers: GameWorkers,
    pgn: PgnFile | None,
) -> EventResult:
    def on_game(task: GameTask, game: GameRecord) -> None:
        if pgn is not None:
            pgn.add(task.number, game)
        table.game_ends(task, game)

    with table.drawing():
        return play_event(
            store.event,
            workers,
            store,
            on_start=table.game_begins,
            on_game=on_game,
            on_fault=table.game_breaks_off,
            stop_rule=match.decision,
        )


# -- what the arguments ask for -------------------------------------------------------------


def make_event(arguments: argparse.Namespace) -> Event:
    """Return the match that the arguments describe. Raises UsageError."""
    try:
        sprt = None if arguments.sprt is None else SprtBounds.parse(arguments.sprt)
    except ValueError as error:
        raise UsageError(f"--sprt: {error}") from None
    games = arguments.games or (GAMES if sprt is None else MOST_SPRT_GAMES)
    try:
        openings = openings_named(arguments.openings)
    except ValueError as error:
        raise UsageError(f"--openings: {error}") from None
    entrants = _entrants(arguments)
    return Event(
        name=" - ".join(entrant.name for entrant in entrants),
        entrants=entrants,
        tasks=match_games(games, openings, arguments.seed),
        control=_control(arguments, "") or TimeControl(MOVETIME),
        max_plies=2 * arguments.max_moves,
        coverage=arguments.coverage,
        sprt=sprt,
        stalemate=arguments.stalemate,
        resign=arguments.resign,
    )


def _entrants(arguments: argparse.Namespace) -> tuple[Entrant, Entrant]:
    first, second = (
        Entrant(name, text, read_options(options, f"--option-{letter}"), control)
        for letter, name, text, options, control in zip(
            "ab",
            names(arguments.first, arguments.second),
            (arguments.first, arguments.second),
            (arguments.option_a, arguments.option_b),
            (
                _control(arguments, "-a"),
                _control(arguments, "-b"),
            ),
            strict=True,
        )
    )
    for entrant in (first, second):
        try:
            check_entrant(entrant)
        except ValueError as error:
            raise UsageError(str(error)) from None
    return first, second


def _control(arguments: argparse.Namespace, suffix: str) -> TimeControl | None:
    """Return the control that the arguments with this suffix ask for; None if they ask for none."""
    movetime, clock, nodes = (
        getattr(arguments, name + suffix.replace("-", "_")) for name in ("movetime", "tc", "nodes")
    )
    if sum(each is not None for each in (movetime, clock, nodes)) > 1:
        raise UsageError(
            f"give one of --movetime{suffix}, --tc{suffix} and --nodes{suffix}, no more"
        )
    if clock is not None:
        try:
            return TimeControl.parse(clock)
        except ValueError as error:
            raise UsageError(f"--tc{suffix}: {error}") from None
    if nodes is not None:
        return TimeControl(None, nodes=nodes)
    return None if movetime is None else TimeControl(movetime)


def names(first: str, second: str) -> tuple[str, str]:
    """Return two different names for the players. Raises UsageError."""
    found = [_name(text) for text in (first, second)]
    if found[0] == found[1]:
        found = [f"{name} {letter}" for name, letter in zip(found, "AB", strict=True)]
    return found[0], found[1]


def _name(text: str) -> str:
    try:
        words = split_command(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return Path(words[0]).name if words else text


def crew_maker(arguments: argparse.Namespace, event: Event) -> MakeWorkers:
    """Return what makes the workers that the arguments ask for. Raises UsageError.

    arguments: those of a command with `--ray`. Without `--concurrency`, a cluster plays as many games
    at a time as it holds, whatever number the maker is given.
    """
    if arguments.ray is None:
        if arguments.cores_per_game is not None:
            raise UsageError("--cores-per-game needs --ray")
        return LocalWorkers
    address: str = arguments.ray
    cores: int = arguments.cores_per_game or cores_of_a_game(event.entrants)
    try:
        check_cores(event.entrants, cores)
        check_ray(address)
    except (ValueError, ClusterError) as error:
        raise UsageError(str(error)) from None

    def make(concurrency: int, warn: Callable[[str], None]) -> GameWorkers:
        return RayWorkers(address, cores, warn, most=arguments.concurrency)

    return make


def once(say: Callable[[str], None]) -> Callable[[str], None]:
    """Return a function that says each text once."""
    printed: set[str] = set()

    def say_once(text: str) -> None:
        if text not in printed:
            printed.add(text)
            say(text)

    return say_once


# -- files ----------------------------------------------------------------------------------


def _open_files(
    arguments: argparse.Namespace, event: Event, files: contextlib.ExitStack
) -> tuple[Journal | None, PgnFile | None]:
    """Open the journal, and the PGN file that is derived from it. Raises CommandError."""
    journal = pgn = None
    try:
        if arguments.log is not None:
            journal = files.enter_context(Journal.open(Path(arguments.log), event))
        if arguments.pgn is not None:
            path = Path(arguments.pgn)
            pgn = files.enter_context(
                PgnFile.append(path, event)
                if journal is None
                else PgnFile.derive(path, event, journal.games)
            )
    except ArenaError as error:
        raise CommandError(str(error)) from None
    return journal, pgn


def resumed(journal: Journal, event: Event) -> Iterator[str]:
    """Describe what a journal already holds."""
    if journal.torn:
        yield "The journal's last line was incomplete and is dropped: its game is played again."
    if journal.games:
        yield f"The journal holds {len(journal.games)} of {len(event.tasks)} games."


def _check_json_path(path: str | None) -> None:
    """Raise UsageError now, not after the last game, if the result can't be written."""
    if path is None:
        return
    folder = Path(path).parent
    if Path(path).is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK):
        raise UsageError(f"can't write {path}: no file can be made there")


def _write_json(path: Path, match: MatchResult, ended: EventResult) -> None:
    try:
        write_json(path, match_to_json(match, ended))
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror or error}") from None


# -- the result in words --------------------------------------------------------------------


def verdict(match: MatchResult, ended: EventResult, *, resumable: bool) -> Iterator[str]:
    """Describe the result in lines, a match that was broken off as such."""
    if not ended.complete:
        played, agreed = len(match.games), len(match.event.tasks)
        interrupted = isinstance(ended.failure, KeyboardInterrupt)
        # An error is told by the line on stderr.
        yield f"Broken off after {played} of {agreed} games{': interrupted' * interrupted}."
        if resumable:
            yield "The same command plays the rest."
    elif ended.failure is not None:
        yield f"After the decision: {ended.failure}"
    if match.games:
        yield from summary(match)


def summary(match: MatchResult) -> Iterator[str]:
    """Describe the games in lines: score, pairs, Elo, the test, each player's means, coverage."""
    total = match.tally()
    white, black = (match.tally(FIRST, color) for color in (chess.WHITE, chess.BLACK))
    games = "1 game" if total.games == 1 else f"{total.games} games"
    yield f"{match.first} against {match.second}, {games} at {times(match.event)}"
    yield (
        f"score     {total.points:g} of {total.games} ({total.points / total.games:.1%}), "
        f"won/drawn/lost {total}"
    )
    yield f"colours   as White {white}, as Black {black}"
    if match.pairs:
        counts = ", ".join(str(count) for count in match.pair_counts())
        yield f"pairs     {len(match.pairs)}, with 0, ½, 1, 1½ and 2 points: {counts}"
    yield f"Elo       {match.elo()} (95 %, by {'pairs' if match.pairs else 'games'})"
    yield from _test_lines(match)
    for entrant, name in ((FIRST, match.first), (SECOND, match.second)):
        if match.told(entrant) != OWN_OBSERVATIONS:
            yield f"{name} was told {match.told(entrant)}"
        yield from statistics_lines(name, match.statistics(entrant))
    yield from coverage_lines(match.games.values())
    for task, game in match.irregular():
        yield f"irregular game {task.number + 1}: {game.ending}"


def _test_lines(match: MatchResult) -> Iterator[str]:
    test = match.test
    if test is None:
        return
    bounds = test.bounds
    yield f"SPRT      {bounds}, LLR {test.llr:+.2f} ({bounds.lower:.2f}, {bounds.upper:.2f})"
    if test.accepted is None:
        yield "          undecided: no bound was reached"
    else:
        elo = bounds.elo1 if test.accepted == H1 else bounds.elo0
        yield f"          {test.accepted} accepted: an advantage of {elo:g} Elo explains the games better"
        yield f"          {BIASED}"


def times(event: Event) -> str:
    """Describe the time of both players."""
    first, second = (event.control_of(entrant) for entrant in (FIRST, SECOND))
    return str(first) if first == second else f"{first} against {second}"


def statistics_lines(name: str, statistics: Statistics) -> list[str]:
    """Describe an engine's mean move in one line; none for a player without reports."""
    means = {key: mean for key, mean in statistics.means.items() if mean is not None}
    if not means:
        return []
    parts = [
        f"{QUANTITIES[key]} {number(mean, int(key == 'depth'))}" for key, mean in means.items()
    ]
    if statistics.overrun is not None:
        parts[-1] += f"; largest overrun {number(statistics.overrun)} ms"
    return [f"{name} a move: {', '.join(parts)}; mean time {statistics.seconds:.3f} s"]
