"""Who a browser is: a random cookie, of which the server keeps a hash only."""

from __future__ import annotations

import hashlib
import re
import secrets

from starlette.requests import HTTPConnection
from starlette.responses import Response

COOKIE = "obscuro_visitor"
_YEAR = 365 * 24 * 3600
_KEY = re.compile(r"[0-9a-f]{32}")


def visitor_of(connection: HTTPConnection) -> str | None:
    """Return the hash of the visitor's cookie; None without a cookie of ours."""
    key = connection.cookies.get(COOKIE, "")
    return _hash(key) if _KEY.fullmatch(key) else None


def new_visitor() -> tuple[str, str]:
    """Return the cookie of a new visitor, and its hash."""
    key = secrets.token_hex(16)
    return key, _hash(key)


def set_cookie(response: Response, key: str, *, secure: bool) -> None:
    """Give a visitor a cookie. secure: whether the browser came by https.

    Only answers to a request from one of our own pages set it: the browser leaves out a strict
    cookie where a link of another site leads here, and a new one would replace it.
    """
    response.set_cookie(COOKIE, key, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
