"""The one exception of the front end."""


class ProtocolError(ValueError):
    """A line that can't be read or done; its text is one line for the user."""
