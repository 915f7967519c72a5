"""What the tools share: their command line, their options, their tables, and how they end.

A tool that measures is made of four parts. `make_parser` returns its command line. `measure` or its
like returns the figures as plain lists and dicts. `render` turns these figures into Markdown. `main`
joins the three by `publish`, which prints the tables and, with `--raw FILE`, stores the figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from obscuro.engine.options import OPTIONS, Option, OptionError, Options
from tools.results import raw

ROOT = raw.ROOT
INTERRUPTED = 130
"""The exit code of a tool that Ctrl-C has stopped."""

Render = Callable[[Any], Iterable[str]]
"""Turns a tool's figures into lines of Markdown."""


# -- the command line -------------------------------------------------------------------------


def tool_parser(module: str, doc: str | None, *, stores: bool = True) -> argparse.ArgumentParser:
    """Return a parser named after the module, which explains itself by the module's docstring.

    With *stores*, it has `--raw FILE`, where `publish` stores the figures.
    """
    about, _, more = (doc or "").partition("\n")
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if stores:
        add_raw(parser)
    return parser


def add_raw(parser: argparse.ArgumentParser) -> None:
    """Add `--raw FILE`."""
    parser.add_argument(
        "--raw", type=Path, metavar="FILE", help="store the figures: .json, or .json.gz"
    )


def add_at_most(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--at-most N`, for a tool that goes on from its raw file; see `figures_so_far`."""
    parser.add_argument(
        "--at-most",
        type=int,
        metavar="N",
        help=f"add so many {what} to those that the raw file holds, and pause",
    )


def figures_so_far(
    parser: argparse.ArgumentParser, words: Sequence[str], file: Path | None
) -> Any | None:
    """Return the figures that the same command has stored; None if there are none.

    Raises RawFileError if the file can't be read.
    """
    if file is None or not file.exists():
        return None
    found = raw.load(file)
    same = found.command == raw.command_line(parser.prog, words)
    return found.data if same and not found.transcribed_from_page else None


def given(words: Sequence[str] | None) -> list[str]:
    """Return the words of the command line, *words* if a caller has said them."""
    return list(sys.argv[1:] if words is None else words)


def find_option(name: str) -> Option:
    """Return an option of the engine. Raises KeyError."""
    for option in OPTIONS:
        if option.name == name:
            return option
    raise KeyError(name)


def add_evaluator(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Add `--evaluator`, with the engine's evaluators and its default, or another one."""
    option = find_option("Evaluator")
    parser.add_argument("--evaluator", choices=option.choices, default=default or option.default)


def engine_options(**values: object) -> Options:
    """Return the engine's options with some set; `Move_Overhead=0` sets `Move Overhead`.

    Raises OptionError.
    """
    options = Options()
    for name, value in values.items():
        options.set(name.replace("_", " "), str(value))
    return options


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--option NAME=VALUE`, for any option of the engine; see `set_options`."""
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set an option of the engine; may be given several times",
    )


def set_options(parser: argparse.ArgumentParser, options: Options, told: Sequence[str]) -> None:
    """Set what `--option` said; leaves the program with the parser's error if it is wrong."""
    for text in told:
        name, equals, value = text.partition("=")
        if not equals:
            parser.error(f"--option: {text!r} is not NAME=VALUE")
        try:
            options.set(name, value)
        except OptionError as error:
            parser.error(f"--option: {error}")


# -- tables -----------------------------------------------------------------------------------


def table_head(headings: Sequence[str], align: str = "") -> Iterator[str]:
    """Yield the first two lines of a table.

    align: `l` or `r` for each column; a column that it doesn't reach is `-`, without alignment.
    """
    yield table_row(headings)
    marks = {"l": "---", "r": "--:", "-": "---"}
    yield "|" + "|".join(marks[mark] for mark in align.ljust(len(headings), "-")) + "|"


def table_row(cells: Iterable[object]) -> str:
    """Return a line of a table; a bar within a cell is escaped."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def table(
    headings: Sequence[str], rows: Iterable[Iterable[object]], align: str = ""
) -> Iterator[str]:
    """Yield a whole table in Markdown."""
    yield from table_head(headings, align)
    for row in rows:
        yield table_row(row)


# -- the end ----------------------------------------------------------------------------------


def publish(
    parser: argparse.ArgumentParser,
    words: Sequence[str],
    file: Path | None,
    figures: Any,
    render: Render,
    *,
    games: str | None = None,
) -> None:
    """Print the tables, and store the figures where `--raw` says so.

    games: the name of a PGN file beside that one.
    """
    print("\n".join(render(figures)))
    if file is not None:
        raw.save(file, raw.command_line(parser.prog, words), figures, games=games)
        print(f"{file} is written.", file=sys.stderr)


def say(text: str) -> None:
    """Report progress: one line on stderr, at once."""
    print(text, file=sys.stderr, flush=True)
