"""`obscuro show` writes a recorded game as one HTML page: what each side saw and believed.

With `--report` it writes one page about all games of a file, with `--explorer` one of all openings.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import chess.pgn
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from obscuro.cli.command_support import CommandError, UsageError, read_options
from obscuro.cli.explorer_command import write_explorer
from obscuro.cli.file_report_command import make_analyst, move_name, write_page, write_report
from obscuro.client.limit import Limit
from obscuro.engine.options import OptionError
from obscuro.engine.player_kind import OBSCURO
from obscuro.machine import usable_cores
from obscuro.matches.builtin_players import set_options
from obscuro.viewer.analysis import AnalysisError
from obscuro.viewer.browser_parts.parts import MissingPartsError
from obscuro.viewer.document import GameDocument, ShownAdvice, ShownAnalysis
from obscuro.viewer.game_file import GameFileError, read_game
from obscuro.viewer.html_page import html_page, require_parts
from obscuro.viewer.make_document import make_document, turns_to_explain


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
    sources, number = [Path(name) for name in arguments.pgn], arguments.game or 1
    if arguments.explorer is not None:
        if set(_given(arguments)) - {"--explorer"}:
            raise UsageError(f"--explorer takes no {', no '.join(_given(arguments)[1:])}")
        return write_explorer(sources, Path(arguments.explorer), console, errors)
    if len(sources) > 1:
        raise UsageError("only --explorer takes several files")
    source = sources[0]
    target = Path(arguments.out) if arguments.out else default_target(source, number)
    options = read_options(arguments.option, "--option")
    limit = None
    if arguments.analyse is not None or arguments.nodes is not None:
        limit = Limit(arguments.analyse, arguments.nodes)
    if options and limit is None:
        raise UsageError("--option is for the engine of --analyse MS or --nodes N")
    try:
        set_options(OBSCURO, options)
    except OptionError as error:
        raise UsageError(str(error)) from None
    if arguments.report is not None:
        if arguments.game is not None or arguments.out is not None:
            raise UsageError("--report is about all games and names its page: no --game, no --out")
        return write_report(source, Path(arguments.report), limit, options, console, errors)
    try:
        require_parts()
        game = read_game(source, number)
    except (GameFileError, MissingPartsError) as error:
        raise CommandError(str(error)) from None
    plies = sum(1 for _ in game.mainline())
    advice: Sequence[ShownAdvice | None] = ()
    analysis = None
    with _progress(errors) as progress:
        if limit is not None:
            advice, analysis = analysed(game, limit, options, errors, progress)
        beliefs = progress.add_task("beliefs", total=1 + plies)
        document = make_document(
            game,
            arguments.max_positions,
            usable_cores(),
            lambda: progress.advance(beliefs),
            advice,
            analysis,
        )
    data = target.suffix == ".json"
    text = json.dumps(document, ensure_ascii=False) if data else html_page(document)
    write_page(target, text)
    console.print(summary(document, target), soft_wrap=True)
    for line in reasons(document):
        console.print(line, soft_wrap=True)
    return 0


def _given(arguments: argparse.Namespace) -> list[str]:
    """Return the flags that the user has set and that change what is written."""
    names = ("explorer", "report", "game", "out", "analyse", "nodes")
    given = [f"--{name}" for name in names if getattr(arguments, name) is not None]
    return [*given, *(["--option"] if arguments.option else [])]


def analysed(
    game: chess.pgn.Game,
    limit: Limit,
    options: Mapping[str, str],
    errors: Console,
    progress: Progress,
) -> tuple[list[ShownAdvice | None], ShownAnalysis]:
    """Let the engine look at a game; return its advice for each move, and who gave it.

    options: of the engine. errors: for the engine's warnings. Raises CommandError if the engine can't
    be started.
    """
    task = progress.add_task("analysis", total=sum(1 for _ in game.mainline()))
    with make_analyst(limit, options, errors) as analyst:
        try:
            advice = analyst.analyse(game, lambda ply, found: progress.advance(task))
            turns = turns_to_explain(game, advice)
            task = progress.add_task("mistakes", total=len(turns))
            advice = analyst.explain(game, advice, turns, lambda: progress.advance(task))
        except AnalysisError as error:
            raise CommandError(str(error)) from None
        return advice, analyst.description


def reasons(document: GameDocument) -> Iterator[str]:
    """Yield why the moves that lost most were mistakes, in the order of play."""
    for move in document["moves"]:
        why = None if move["advice"] is None else move["advice"]["why"]
        if why is not None:
            yield f"{move_name(move)}: {' '.join(why['text'])}"


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
    failed = sum(move["advice"] is None for move in document["moves"])
    if document["analysis"] is not None and failed:
        text += f"; the engine failed at {failed} move{'' if failed == 1 else 's'}"
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
