"""The base of errors that end an event and are told to the user."""


class ArenaError(Exception):
    """An event can't go on. The text is one line for the user. No finished game is lost."""
