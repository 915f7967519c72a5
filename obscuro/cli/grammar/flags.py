"""What commands share: how one is added, and the flags that several have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TypeAlias

from obscuro.cli.suggesting_parser import SuggestingParser
from obscuro.players.roster import PLAYERS
from obscuro.rules.stalemate import LOSS, STALEMATES

Parsers: TypeAlias = "argparse._SubParsersAction[SuggestingParser]"


def players_text() -> str:
    """Return the list of the players for the help."""
    width = max(map(len, PLAYERS))
    rows = (f"  {kind.name:{width}}  {kind.about}" for kind in PLAYERS.values())
    return "\n".join(("players:", *rows))


def add_player(parser: argparse.ArgumentParser) -> None:
    """Add `--player`, for a command that plays as one of this program's players."""
    parser.add_argument(
        "--player",
        metavar="NAME",
        choices=tuple(PLAYERS),
        default="obscuro",
        help=f"who plays: {', '.join(PLAYERS)}; default: obscuro",
    )


def add_command(commands: Parsers, name: str, about: str, epilog: str = "") -> SuggestingParser:
    """Add a command and return its parser. about: one line, without a capital or a full stop."""
    parser: SuggestingParser = commands.add_parser(
        name,
        help=about,
        description=about[0].upper() + about[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=name)
    return parser


def add_number(
    parser: argparse.ArgumentParser,
    flag: str,
    about: str,
    *,
    metavar: str = "N",
    least: int = 1,
    default: int | None = None,
) -> None:
    """Add a flag with a whole number. default: is named in the help unless it is None."""
    text = about if default is None else f"{about}; default: {default}"
    parser.add_argument(flag, metavar=metavar, type=whole_number(least), default=default, help=text)


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add `--quiet`."""
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")


def add_option(parser: argparse.ArgumentParser, about: str, flag: str = "--option") -> None:
    """Add `--option NAME=VALUE`, or another flag of that kind."""
    add_list(parser, flag, about, metavar="NAME=VALUE")


def add_list(parser: argparse.ArgumentParser, flag: str, about: str, *, metavar: str) -> None:
    """Add a flag that may be given several times, and makes a list of texts."""
    parser.add_argument(
        flag,
        metavar=metavar,
        action="append",
        default=[],
        help=f"{about}; may be given several times",
    )


def add_stalemate(parser: argparse.ArgumentParser) -> None:
    """Add `--stalemate`, the rule for a side that cannot move."""
    parser.add_argument(
        "--stalemate",
        choices=STALEMATES,
        default=LOSS,
        help=f"what a side without a move gets; pychess: draw; default: {LOSS}",
    )


def whole_number(least: int) -> Callable[[str], int]:
    """Return a function that reads a whole number and refuses one below *least*."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        return number

    return read
