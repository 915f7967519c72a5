"""Makes a site of the documentation: a hook of MkDocs, which mkdocs.yml names.

The pages are written for the repository. Three things differ on the site:

- The navigation comes from docs/index.md: each of its headings is a tab, each page that it links to
  there for the first time is an entry. A test sees to it that the index leads to every page.
- Pages and files outside docs/ that a page links to, such as README.md or a tool's source, are taken
  in below `repository/`.
- Links to a folder lead nowhere on a site, so their text alone stays.

MkDocs loads this file by itself, outside of any package.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
OUTSIDE = "repository"
"""Where on the site the files outside docs/ are."""
TEXTS = {".md": ".md", ".png": ".png", ".svg": ".svg"}
"""Files that keep their ending. All others become text that a browser shows."""

TABS = {
    "You want to play": "Play",
    "You write a bot, a GUI or a server": "Bots and GUIs",
    "You test engines": "Matches",
    "You develop the engine": "Engine",
    "You do research": "Research",
}
"""Short names of docs/index.md's headings, where they are too long for a tab."""

_HEADING = re.compile(r"^## (.+)$")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_ELSEWHERE = re.compile(r"^(?:[a-z]+:|#)")


def on_config(config: Any) -> Any:
    """Make the navigation."""
    config.nav = [{"Home": "index.md"}, *navigation((DOCS / "index.md").read_text("utf-8"))]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Take in all files outside docs/ that a page on the site links to."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - MkDocs imports this file

    for path in outside_files():
        place = site_path(path)
        text = path.read_bytes() if path.suffix in (".png", ".svg") else path.read_text("utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn a page's links into those of the site."""
    return site_links(markdown, source_of(page.file.src_uri))


def navigation(index: str) -> list[dict[str, list[dict[str, str]]]]:
    """Return MkDocs's navigation from the text of docs/index.md."""
    tabs: list[dict[str, list[dict[str, str]]]] = []
    seen: set[str] = set()
    for line in _FENCE.sub("", index).splitlines():
        if heading := _HEADING.match(line):
            tabs.append({tab_name(heading[1]): []})
        for _, text, target in _LINK.findall(line) if tabs else ():
            place = site_path((DOCS / target.partition("#")[0]).resolve())
            if not _ELSEWHERE.match(target) and place.endswith(".md") and place not in seen:
                seen.add(place)
                next(iter(tabs[-1].values())).append({plain(text): place})
    return tabs


def tab_name(heading: str) -> str:
    """Return a short name for a heading such as `You want to play`."""
    return TABS.get(heading, heading)


def plain(text: str) -> str:
    """Return a link's text without marks."""
    return " ".join(text.replace("`", "").split())


def site_path(path: Path) -> str:
    """Return where a file of the repository is on the site, from the site's top."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    inner = path.relative_to(ROOT).as_posix()
    suffix = TEXTS.get(path.suffix, ".txt")
    return f"{OUTSIDE}/{inner}" + ("" if inner.endswith(suffix) else suffix)


def source_of(place: str) -> Path:
    """Return the Markdown file of the repository that a page of the site is made of."""
    inner = place.removeprefix(f"{OUTSIDE}/")
    return (DOCS if inner == place else ROOT) / inner


def links_of(text: str) -> Iterator[str]:
    """Yield the targets of a page's links within the repository."""
    for _, _, target in _LINK.findall(_FENCE.sub("", text)):
        if not _ELSEWHERE.match(target):
            yield target.partition("#")[0]


def outside_files() -> list[Path]:
    """Return the files outside docs/ that can be reached from the pages, in their order."""
    waiting, found = sorted(DOCS.rglob("*.md")), dict[Path, None]()
    while waiting:
        page = waiting.pop()
        for target in links_of(page.read_text("utf-8")):
            path = (page.parent / target).resolve()
            if path.is_file() and not path.is_relative_to(DOCS) and path not in found:
                found[path] = None
                if path.suffix == ".md":
                    waiting.append(path)
    return sorted(found)


def site_links(text: str, source: Path) -> str:
    """Return a page's text with the links of the site. source: its file in the repository."""
    here = posixpath.dirname(site_path(source))

    def turn(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        if _ELSEWHERE.match(target):
            return link[0]
        file, hash_sign, anchor = target.partition("#")
        path = (source.parent / file).resolve()
        if path.is_dir():
            return words
        place = posixpath.relpath(site_path(path), here or ".")
        return f"{mark}[{words}]({place}{hash_sign}{anchor})"

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(turn, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(turn, text[end:])])
