"""Write a document and the program that draws it into one HTML page, which loads nothing else."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import string
from importlib import resources

import chess
import chess.svg

from obscuro.browser_parts.parts import read_part
from obscuro.show.document import GameDocument

MODULES = (
    "game",
    "elements",
    "board",
    "curves",
    "charts",
    "details",
    "moves",
    "sights",
    "about",
    "viewer",
    "page",
)
"""Files of `web/`, without `.js`. The last one starts the page; the others are what it imports."""

PART = "uplot"
"""The browser part that the modules import by this name: it draws the curves."""

SPECIFIER = "obscuro/{}.js"
"""How the modules import each other. The page's import map says where they are."""


def html_page(document: GameDocument) -> str:
    """Return the page as text.

    The modules are data URLs, so they stay the files that they are, and need no bundler. A policy
    in the page forbids it to load anything, and to run any script but its own. Raises
    MissingPartsError if the browser parts were not fetched.
    """
    imports = {SPECIFIER.format(name): _data_url(_web(f"{name}.js")) for name in MODULES}
    imports[PART] = _data_url(_part())
    import_map = json.dumps({"imports": imports})
    start = f'import "{SPECIFIER.format(MODULES[-1])}";'
    return string.Template(_web("page.html")).substitute(
        title=html.escape(_title(document)),
        policy=html.escape(_policy([import_map, start])),
        style=read_part(f"{PART}.css") + _web("style.css"),
        pieces="".join(chess.svg.PIECES[symbol] for symbol in "PNBRQKpnbrqk"),
        document=_json(document),
        import_map=import_map,
        start=start,
    )


def require_parts() -> None:
    """Raise MissingPartsError if `html_page` would: to be told before a game's long work."""
    _part()


def _web(name: str) -> str:
    return (resources.files("obscuro.show") / "web" / name).read_text(encoding="utf-8")


def _part() -> str:
    """Return the browser part below its licence, which must go with each copy."""
    return f"/*\n{read_part(f'{PART}.LICENSE')}*/\n{read_part(f'{PART}.js')}"


def _data_url(text: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(text.encode()).decode("ascii")


def _policy(scripts: list[str]) -> str:
    """Return a content security policy that allows these inline scripts and data URLs only."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
        for script in scripts
    ]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes)
    return (
        f"default-src 'none'; script-src {allowed} data:; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _title(document: GameDocument) -> str:
    return f"{document['white']} – {document['black']} {document['result']}"


def _json(document: GameDocument) -> str:
    r"""Return the document as JSON that no HTML parser can take for markup: `<` is `\u003c`."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
