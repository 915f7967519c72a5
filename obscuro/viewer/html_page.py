"""The page that shows a game: one HTML file that loads nothing else, or a page of a server."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import string
from collections.abc import Mapping, Sequence
from importlib import resources

import chess
import chess.svg

from obscuro.viewer.browser_parts.parts import read_part
from obscuro.viewer.document import GameDocument
from obscuro.viewer.opening_tree import ShownTrees

MODULES = (
    "game",
    "elements",
    "board",
    "curves",
    "charts",
    "curve_set",
    "advice",
    "details",
    "moves",
    "sights",
    "about",
    "viewer",
    "shown_game",
    "page",
)
"""Files of `web/`, without `.js`. The last one starts the page; the others are what it imports."""

EXPLORER_MODULES = ("game", "elements", "board", "explorer")
"""The same for the page of the opening trees."""

SERVED_START = "js/look_page.js"
"""What starts the page of a server, in place of the last module."""

PART = "uplot"
"""The browser part that the modules import by this name: it draws the curves."""

SPECIFIER = "obscuro/{}.js"
"""How the modules import each other. The page's import map says where they are."""

_STYLE = re.compile(r'style="([^"]*)"')


def html_page(document: GameDocument) -> str:
    """Return a page as text, with its game and all that it needs.

    The modules are data URLs, so they stay the files that they are, and need no bundler. A policy
    in the page forbids it to load anything, and to run any script but its own. Raises
    MissingPartsError if the browser parts were not fetched.
    """
    return _page(
        home="",
        **_inside(
            MODULES,
            {PART: _data_url(_part())},
            read_part(f"{PART}.css") + _web("style.css"),
            _title(document),
            "game",
            document,
        ),
    )


def explorer_page(trees: ShownTrees) -> str:
    """Return the page of the opening trees as text; like `html_page`, it loads nothing."""
    style = _web("style.css") + _web("explorer.css")
    parts = _inside(EXPLORER_MODULES, {}, style, trees["title"], "trees", trees)
    return string.Template(_web("explorer.html")).substitute(parts, pieces=_pieces())


def served_page(import_map: str, base: str = "/") -> str:
    """Return the page that a server gives for any game; it asks the server for the game.

    import_map: the element with the map. base: what all paths of the server begin with; under it
    are the modules in `js/`, the styles in `css/`, and the browser parts in `parts/`. The server
    replaces marks in both.
    """
    return _page(
        head=f'<link rel="stylesheet" href="{base}parts/{PART}.css">\n'
        f'<link rel="stylesheet" href="{base}css/style.css">\n'
        f'<link rel="icon" href="{base}css/icon.svg">',
        title="A game - Obscuro",
        home=f'<a id="home" href="{base}">Obscuro</a>\n',
        scripts=f'{import_map}\n<script type="module" src="{base}{SERVED_START}"></script>',
    )


def require_parts() -> None:
    """Raise MissingPartsError if `html_page` would: to be told before a game's long work."""
    _part()


def _inside(
    modules: Sequence[str],
    others: Mapping[str, str],
    style: str,
    title: str,
    name: str,
    data: object,
) -> dict[str, str]:
    """Return the parts of a template for a page that has all that it needs.

    others: addresses of what the modules import besides each other. name: the id of the data.
    """
    imports = {SPECIFIER.format(each): _data_url(_web(f"{each}.js")) for each in modules}
    import_map = json.dumps({"imports": imports | dict(others)})
    start = f'import "{SPECIFIER.format(modules[-1])}";'
    policy = html.escape(_policy([import_map, start]))
    return {
        "head": f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>\n{style}</style>",
        "title": html.escape(title),
        "scripts": f'<script id="{name}" type="application/json">{_json(data)}</script>\n'
        f'<script type="importmap">{import_map}</script>\n'
        f'<script type="module">{start}</script>',
    }


def _page(**parts: str) -> str:
    return string.Template(_web("page.html")).substitute(parts, pieces=_pieces())


def _pieces() -> str:
    """Return python-chess's drawings of all pieces, without styles that a policy may forbid."""
    drawings = "".join(chess.svg.PIECES[symbol] for symbol in "PNBRQKpnbrqk")
    return _STYLE.sub(lambda match: _attributes(match[1]), drawings)


def _attributes(style: str) -> str:
    """Turn declarations such as `fill:#fff; stroke:none` into attributes of SVG."""
    declarations = [part.split(":") for part in style.split(";") if part.strip()]
    return " ".join(f'{name.strip()}="{value.strip()}"' for name, value in declarations)


def _web(name: str) -> str:
    return (resources.files("obscuro.viewer") / "web" / name).read_text(encoding="utf-8")


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


def _json(document: object) -> str:
    r"""Return the document as JSON that no HTML parser can take for markup: `<` is `\u003c`."""
    text = json.dumps(document, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")
