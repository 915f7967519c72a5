"""Errors that a user can do something about."""


class CommandError(Exception):
    """A subcommand can't go on. The message is one line for the user."""
