"""The engine's options for a server that plays for others: those that are given, and defaults."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from obscuro.cli.command_error import CommandError
from obscuro.engine.options import OptionError, Options


def server_options(
    given: Mapping[str, str],
    defaults: Mapping[str, str],
    forbidden: Collection[str],
    server: str,
) -> dict[str, str]:
    """Check the options that a user gave, add defaults, and return all.

    forbidden: names that the server sets itself, or that make no sense there. server: its name, for
    errors. Raises CommandError.
    """
    known, chosen = Options(), dict(defaults)
    for text, value in given.items():
        try:
            name = known.set(text, value)
        except OptionError as error:
            raise CommandError(str(error)) from None
        if name in forbidden:
            raise CommandError(f"--option {name}: {server} does not set this option")
        chosen[name] = value
    return chosen
