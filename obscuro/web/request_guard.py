"""Lets only requests through that our own pages make, and adds the headers that protect a page."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_SAFE = {"GET", "HEAD"}
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_POLICY = "Content-Security-Policy"
CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""For all that is not a page."""


class RequestGuard:
    """Checks `Host` and `Origin` before the application sees a request.

    A page of another site can make a browser send requests here. It can't choose their `Origin`.
    With a name of its own that leads to this machine it could make `Origin` and `Host` agree; so
    the name must be one of ours.

    hosts: the names that this server goes by. any_address: whether all addresses in numbers do too.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], any_address: bool = False) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._any_address = any_address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, _protected(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # before `accept`: HTTP 403
        else:
            answer = JSONResponse({"error": refusal}, 403)
            await answer(scope, receive, _protected(send))

    def _refusal(self, scope: Scope) -> str | None:
        """Return why a request is refused; None: it is not."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return "this server does not go by that name; see --allowed-host"
        if scope["type"] == "http" and scope["method"] in _SAFE:
            return None
        if _netloc(headers.get("origin", "")) != host.lower():
            return "the request comes from another site"
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or (self._any_address and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _netloc(origin: str) -> str:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return ""
    return parts.netloc.lower() if parts.scheme in ("http", "https") else ""


def _protected(send: Send) -> Send:
    async def protected(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault(_POLICY, CLOSED_POLICY)
        await send(message)

    return protected
