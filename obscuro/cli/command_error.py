"""Errors that a user can do something about."""


class CommandError(Exception):
    """A subcommand can't go on; the text is one line for the user."""
