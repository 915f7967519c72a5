"""The files that browsers get: a fixed table by name, read once. No request reaches a path."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from string import Template

from obscuro.viewer.browser_parts import parts
from obscuro.viewer.html_page import served_page

IMPORT_MAP = "import_map"
BASE = "base"
"""A page is a `string.Template` with these names: the text of its import map, and the path that
all addresses begin with."""
STATIC_ROOMS = ("js", "css", "parts")
"""What the addresses of the files begin with."""
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".html": "text/html; charset=utf-8",
    ".LICENSE": "text/plain; charset=utf-8",
}
_ROOMS = {"obscuro.web": "static", "obscuro.viewer": "web"}
"""The packages and their folders with files of our own."""


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as browsers get it. policy: the value of Content-Security-Policy; None: no page."""

    body: bytes
    media_type: str
    tag: str
    policy: str | None = None


class StaticTable:
    """All files by their place under `/`, such as `js/board.js`; pages by name, such as `play`.

    root: what all paths of the server begin with. Raises MissingPartsError if the parts of others
    are not there.
    """

    def __init__(self, root: str = "") -> None:
        base = f"{root}/"
        self.files: dict[str, StaticFile] = {}
        self.pages: dict[str, StaticFile] = {}
        modules: dict[str, str] = {}
        for name in parts.NAMES:
            self.files[f"parts/{name}"] = _file(name, parts.read_part(name))
            if name.endswith(".js"):
                modules[name.removesuffix(".js")] = f"{base}parts/{name}"
        pages: dict[str, str] = {}
        for package, name, text in _own_files():
            stem, _, kind = name.rpartition(".")
            if kind == "html" and package == "obscuro.web":
                pages[stem] = text
            elif kind in ("js", "css", "svg"):
                folder = "js" if kind == "js" else "css"
                self.files[f"{folder}/{name}"] = _file(name, text)
                if kind == "js":
                    modules[f"obscuro/{name}"] = f"{base}js/{name}"
        pages["look"] = served_page(
            f'<script type="importmap">${IMPORT_MAP}</script>', f"${{{BASE}}}"
        )
        import_map = json.dumps({"imports": modules}, sort_keys=True)
        for stem, text in pages.items():
            self.pages[stem] = _page(text, import_map, base)


def _own_files() -> Iterator[tuple[str, str, str]]:
    for package, folder in _ROOMS.items():
        for entry in sorted((resources.files(package) / folder).iterdir(), key=lambda e: e.name):
            if entry.is_file() and entry.name.rpartition(".")[2] in ("js", "css", "svg", "html"):
                yield package, entry.name, entry.read_text(encoding="utf-8")


def _file(name: str, text: str, policy: str | None = None) -> StaticFile:
    body = text.encode()
    kind = "." + name.rpartition(".")[2]
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    return StaticFile(body, _TYPES[kind], tag, policy)


def _page(text: str, import_map: str, base: str) -> StaticFile:
    digest = base64.b64encode(hashlib.sha256(import_map.encode()).digest()).decode()
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' 'sha256-{digest}'",
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
    return _file(".html", Template(text).substitute({IMPORT_MAP: import_map, BASE: base}), policy)
