"""`obscuro show --report` writes one page about all games of a file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import chess
import chess.pgn
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from obscuro.cli.command_support import CommandError
from obscuro.client.engine import engine_command
from obscuro.client.limit import Limit
from obscuro.viewer.analysis import AnalysisError, Analyst
from obscuro.viewer.document import ShownAdvice, ShownMove
from obscuro.viewer.file_report import FileReport, Mistake, report_page
from obscuro.viewer.game_facts import game_facts
from obscuro.viewer.game_file import GameFault, GameFileError, all_games, first_board
from obscuro.viewer.loss_parts import LossParts
from obscuro.viewer.make_document import LEAST_LOSS, turns_to_explain

MOST_FAULTS = 10
"""The most faults that the terminal names; the page has all."""
POSITIONS = 100_000
"""The engine's `Max Positions` for a file of games, unless the user sets it: speed before all."""
_SECONDS = 0.1
"""How often a line of progress changes."""


def write_report(
    source: Path,
    target: Path,
    limit: Limit | None,
    options: Mapping[str, str],
    console: Console,
    errors: Console,
) -> int:
    """Write the page and return the exit code. Raises CommandError.

    limit: of the engine's searches; None: no engine looks at the games. options: of the engine.
    Ctrl-C ends the work; the page then has the games so far.
    """
    report = FileReport(source.name)
    if limit is None:
        _read(source, report, None, errors)
    else:
        chosen = any(name.lower() == "max positions" for name in options)
        named = options if chosen else {"Max Positions": str(POSITIONS), **options}
        with make_analyst(limit, named, errors) as analyst:
            _read(source, report, analyst, errors)
            report.analysis = analyst.description
    for fault in report.faults[:MOST_FAULTS]:
        errors.print(fault, soft_wrap=True)
    if len(report.faults) > MOST_FAULTS:
        errors.print(f"and {len(report.faults) - MOST_FAULTS} more; the page has them all")
    if not report.games:
        why = (
            f"no game of {source} can be read" if report.faults else "stopped before the first game"
        )
        raise CommandError(why)
    write_page(target, report_page(report))
    console.print(_summary(report, target), soft_wrap=True)
    return 0


def _read(source: Path, report: FileReport, analyst: Analyst | None, errors: Console) -> None:
    """Fill a report with the games of a file, until Ctrl-C. Raises CommandError."""
    numbers: list[int] = []  # of the games that can't be read

    def on_fault(fault: GameFault) -> None:
        report.faults.append(fault.text())
        numbers.append(fault.number)

    shown = 0.0
    with report_progress(errors) as progress:
        task = progress.add_task("games", total=None, text="")
        try:
            for game in all_games(source, on_fault):
                number = len(report.games) + len(numbers) + 1
                mistakes = (
                    [] if analyst is None else _mistakes(analyst, game, number, progress, task)
                )
                report.games.append(game_facts(game, number))
                report.mistakes += mistakes
                if time.monotonic() - shown > _SECONDS:
                    shown = time.monotonic()
                    progress.update(task, text=f"{number:,} games")
        except KeyboardInterrupt:
            report.stopped = f"Broken off after {_count(report)}; the file may have more."
        except (GameFileError, AnalysisError) as error:
            raise CommandError(str(error)) from None


def _mistakes(
    analyst: Analyst, game: chess.pgn.Game, number: int, progress: Progress, task: TaskID
) -> list[Mistake]:
    """Let the engine look at a game; return the moves that lost much. Raises AnalysisError."""
    plies = sum(1 for _ in game.mainline())
    done = 0

    def on_ply(ply: int, advice: ShownAdvice | None) -> None:
        nonlocal done
        done += 1
        progress.update(task, text=f"game {number:,}: {done} of {plies} plies")

    advice = analyst.analyse(game, on_ply)
    progress.update(task, text=f"game {number:,}: mistakes")
    advice = analyst.explain(game, advice, turns_to_explain(game, advice))
    return _explained(game, number, advice)


def _explained(
    game: chess.pgn.Game, number: int, advice: Sequence[ShownAdvice | None]
) -> list[Mistake]:
    found = []
    board = first_board(game)
    for move, each in zip(game.mainline_moves(), advice, strict=True):
        why = None if each is None else each["why"]
        if each is not None and why is not None:
            dots = "." if board.turn == chess.WHITE else "..."
            parts = LossParts(why["lost"], why["unknowable"], why["unthought"], why["chosen"])
            name = f"{board.fullmove_number}{dots} {board.san(move)}"
            if parts.size >= LEAST_LOSS:
                found.append(Mistake(number, board.turn, name, parts, " ".join(why["text"])))
        board.push(move)
    return found


def _summary(report: FileReport, target: Path) -> str:
    text = f"{target}: {_count(report)}"
    if report.analysis is not None:
        text += f", {len(report.mistakes):,} mistakes"
    if report.faults:
        text += f"; {len(report.faults):,} can't be read"
    return f"{text}; broken off" if report.stopped else text


def _count(report: FileReport) -> str:
    games = len(report.games)
    return f"{games:,} game{'' if games == 1 else 's'}"


def report_progress(console: Console) -> Progress:
    """Return a line of progress whose task has a field `text`; nothing where there is no terminal."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.fields[text]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


# -- what `show` of one game uses too -----------------------------------------------------------


def make_analyst(limit: Limit, options: Mapping[str, str], errors: Console) -> Analyst:
    """Return an analyst with the engine of the package. errors: for the engine's warnings."""
    return Analyst(
        engine_command(),
        limit=limit,
        options=options,
        on_warning=lambda text: errors.print(text, soft_wrap=True),
    )


def write_page(target: Path, text: str) -> None:
    """Write a file. Raises CommandError."""
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"can't write {target}: {error.strerror}") from None


def move_name(move: ShownMove) -> str:
    """Return a move with its number: `12. Qxd7`, or `12... Qxd7` for Black."""
    return f"{move['number']}{'.' if move['mover'] == 'white' else '...'} {move['san']}"
