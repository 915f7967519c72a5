"""The one exception that the front end raises for a line of the user."""


class ProtocolError(ValueError):
    """A line can't be read or carried out; the text is one line for the user."""
