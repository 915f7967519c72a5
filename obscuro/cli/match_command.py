"""`obscuro match` plays games between two players. It prints the result and writes PGN."""

from __future__ import annotations

import argparse
import contextlib
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import chess
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from obscuro.arena.builtin_players import engine_command
from obscuro.arena.game_record import Contestant, GameRecord
from obscuro.arena.match import MatchResult, play_match
from obscuro.arena.pgn import write_pgn
from obscuro.arena.players import RandomPlayer
from obscuro.arena.statistics import QUANTITIES, Statistics, number
from obscuro.arena.time_control import TimeControl
from obscuro.arena.uci_player import UciPlayer
from obscuro.arena.uci_process import EngineError
from obscuro.cli.command_error import CommandError
from obscuro.cli.main import INTERRUPTED
from obscuro.engine.options import OptionError, Options

MakeContestant = Callable[[], Contestant]


def run(arguments: argparse.Namespace, *, console: Console | None = None) -> int:
    """Play the match and return the exit code. Raises CommandError."""
    console = console or Console(highlight=False, markup=False)
    said: set[str] = set()

    def warn(text: str) -> None:
        if text not in said:
            said.add(text)
            console.print(text, soft_wrap=True)

    first, second = names(arguments.first, arguments.second)
    makers = [
        contestant(text, name, read_options(texts, flag), warn)
        for text, name, texts, flag in (
            (arguments.first, first, arguments.option_a, "--option-a"),
            (arguments.second, second, arguments.option_b, "--option-b"),
        )
    ]
    control = time_control(arguments)
    result = MatchResult(first, second, control)
    failure: BaseException | None = None
    with _pgn_file(arguments.pgn) as pgn, _progress(console) as progress:
        task = progress.add_task("", total=arguments.games)

        def game_over(number: int, game: GameRecord) -> None:
            if pgn is not None:
                write_pgn(pgn, game, round_=number + 1)
            progress.update(task, advance=1, description=str(result.tally()))
            console.print(game_line(number, game), soft_wrap=True)

        try:
            play_match(
                *makers,
                games=arguments.games,
                control=control,
                concurrency=arguments.concurrency,
                seed=arguments.seed,
                max_plies=2 * arguments.max_moves,
                on_game=game_over,
                result=result,
            )
        except (KeyboardInterrupt, EngineError) as error:
            failure = error
    if failure is not None:
        done = len(result.games)
        console.print(f"\nBroken off after {done} of {arguments.games} games.")
    if result.games:
        console.print()
        for line in summary(result):
            console.print(line, soft_wrap=True)
    if isinstance(failure, EngineError):
        raise CommandError(str(failure))
    return 0 if failure is None else INTERRUPTED


def time_control(arguments: argparse.Namespace) -> TimeControl:
    """Return the time control that the arguments ask for. Raises CommandError."""
    if arguments.tc is None:
        return TimeControl(arguments.movetime)
    try:
        return TimeControl.parse(arguments.tc)
    except ValueError as error:
        raise CommandError(f"--tc: {error}") from None


def names(first: str, second: str) -> tuple[str, str]:
    """Return two different names for the players."""
    found = [_name(text) for text in (first, second)]
    if found[0] == found[1]:
        found = [f"{name} {letter}" for name, letter in zip(found, "AB", strict=True)]
    return found[0], found[1]


def _name(text: str) -> str:
    words = _split(text)
    return Path(words[0]).name if words else text


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise CommandError(f"can't read the command {text!r}: {error}") from None


def read_options(texts: Sequence[str], flag: str) -> dict[str, str]:
    """Read texts of the form `NAME=VALUE`. flag: for the error. Raises CommandError."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise CommandError(f"{flag}: {text!r} is not NAME=VALUE")
        options[name.strip()] = value.strip()
    return options


def contestant(
    text: str, name: str, options: dict[str, str], warn: Callable[[str], None]
) -> MakeContestant:
    """Return a function that makes the described player. Raises CommandError.

    text: `obscuro`, `random`, or the command line of a UCI engine. warn: gets the engine's warnings.
    """
    if text == "random":
        if options:
            raise CommandError("random has no options")
        return lambda: RandomPlayer(name)
    if text == "obscuro":
        known = Options()
        for option, value in options.items():
            try:
                known.set(option, value)
            except OptionError as error:
                raise CommandError(str(error)) from None
        command = engine_command()
    else:
        command = _split(text)
        if not command or shutil.which(command[0]) is None:
            raise CommandError(f"{text!r} is neither obscuro, nor random, nor a program")
    return lambda: UciPlayer(command, name=name, options=options, on_warning=warn)


@contextlib.contextmanager
def _pgn_file(path: str | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        stream = open(path, "a", encoding="utf-8")  # noqa: SIM115 - it is closed below
    except OSError as error:
        raise CommandError(f"can't write {path}: {error.strerror}") from None
    with stream:
        yield stream


def _progress(console: Console) -> Progress:
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games {task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def game_line(number: int, game: GameRecord) -> str:
    """Describe one game in a line."""
    moves = (len(game.plies) + 1) // 2
    return f"game {number + 1}: {game.white} - {game.black} {game.result}, {game.ending}, {moves} moves"


def summary(result: MatchResult) -> list[str]:
    """Describe the result in lines: score, colours, Elo, and each engine's means."""
    total = result.tally()
    colors = [result.tally(color) for color in (chess.WHITE, chess.BLACK)]
    games = "1 game" if total.games == 1 else f"{total.games} games"
    lines = [
        f"{result.first} against {result.second}, {games} at {result.control}",
        f"score     {total.points:g} of {total.games} ({total.points / total.games:.1%}), "
        f"won/drawn/lost {total}",
        f"colours   as White {colors[0]}, as Black {colors[1]}",
        f"Elo       {result.elo()} (95 %)",
    ]
    for first, name in ((True, result.first), (False, result.second)):
        lines += statistics_lines(name, result.statistics(first))
    for index, game in result.irregular():
        lines.append(f"irregular game {index + 1}: {game.ending}")
    return lines


def statistics_lines(name: str, statistics: Statistics) -> list[str]:
    """Describe an engine's mean move in one line; none for a player without reports."""
    said = {key: mean for key, mean in statistics.means.items() if mean is not None}
    if not said:
        return []
    parts = [f"{QUANTITIES[key]} {number(mean, int(key == 'depth'))}" for key, mean in said.items()]
    if statistics.overrun is not None:
        parts[-1] += f"; largest overrun {number(statistics.overrun)} ms"
    return [f"{name} a move: {', '.join(parts)}; mean time {statistics.seconds:.3f} s"]
