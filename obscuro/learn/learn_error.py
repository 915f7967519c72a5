"""Errors of the room that a user can do something about."""


class LearnError(Exception):
    """Data or a fit is not to be had; the text is one line for the user."""
