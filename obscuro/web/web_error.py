"""What a browser asked for can't be done: a status of HTTP and one line for its user."""

from __future__ import annotations

BAD_REQUEST = 400
NOT_FOUND = 404
CONFLICT = 409
TOO_LARGE = 413
TOO_MANY = 429
UNAVAILABLE = 503


class WebError(Exception):
    """The text is one line for the user. status: of the HTTP answer."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
