"""What can go wrong with a request to the server."""

from __future__ import annotations

ERROR_CHARACTERS = 200
"""How many characters of a server's or a library's words about an error the user gets to see."""

_TOKEN_ADVICE = "OBSCURO_BOT_TOKEN must be the token of a bot account, with the scope bot:play"
_ADVICE = {
    400: "the server wants what this version of the bridge does not send; try a newer one",
    401: _TOKEN_ADVICE,
    403: _TOKEN_ADVICE,
    404: "is --url the address of a server with the bot API?",
}


class ApiError(Exception):
    """The server refused a request or was out of reach; the text is one line without secrets."""


class Refused(ApiError):  # noqa: N818 - it is the name of the thing
    """The server said no (4xx), so that asking again would not help. status: the HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status

    @property
    def advice(self) -> str:
        """What the user can do about it; empty if there is nothing to say."""
        return _ADVICE.get(self.status, "")


class Unauthorized(Refused):
    """The token is invalid, or does not allow the request (401, 403)."""


class Unreachable(ApiError):  # noqa: N818 - it is the name of the thing
    """The server gave no sensible answer, also not when asked again."""


class TooMany(Unreachable):
    """The server got too many requests (429), and did not do this one."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's text. httpx writes the address there, but no header."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text[:ERROR_CHARACTERS]
