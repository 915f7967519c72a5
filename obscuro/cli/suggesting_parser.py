"""A parser of arguments that says what a misspelt command, choice or flag may have meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from obscuro.installation import page
from obscuro.suggestion import did_you_mean

USAGE = 2
"""The exit code after a mistake in the command line."""
_PAGE = re.compile(r"\bdocs/(\w+\.md)\b")


class SuggestingParser(argparse.ArgumentParser):
    """Refuses what it does not know, each with one line and the exit code 2.

    arguments: all that were added, those of the commands aside.
    """

    def __init__(self, **settings: Any) -> None:
        self.arguments: list[argparse.Action] = []
        super().__init__(**settings)

    def add_argument(self, *names: Any, **settings: Any) -> Any:
        """Add an argument, and remember it."""
        action = super().add_argument(*names, **settings)
        self.arguments.append(action)
        return action

    def add_subparsers(self, **settings: Any) -> Any:
        """Add commands, and remember them."""
        action = super().add_subparsers(**settings)
        self.arguments.append(action)
        return action

    def walk(self) -> Iterator[argparse.Action]:
        """Yield every argument, those of the commands too."""
        for action in self.arguments:
            yield action
            if isinstance(action.choices, dict):
                for command in action.choices.values():
                    yield from command.walk()

    def format_help(self) -> str:
        """Return the help, with the places of the pages that it names."""
        return _PAGE.sub(lambda match: page(match[1]), super().format_help())

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse arguments. Unlike the base class, refuse any that are left over.

        A command's parser is called by this method too, so its own flags are suggested.
        """
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            flags = [flag for action in self.arguments for flag in action.option_strings]
            word = unknown[0].partition("=")[0]
            hint = did_you_mean(word, flags) if word.startswith("-") else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return known, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise ArgumentError if an action has choices, and a value is none of them."""
        if action.choices is None or value in action.choices:
            return
        names = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(
            action,
            f"{value!r} is none of {', '.join(names)}{did_you_mean(str(value), names)}",
        )

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and where to read what is right; leave."""
        self.exit(USAGE, f"{self.prog}: {message} (see: {self.prog} --help)\n")
