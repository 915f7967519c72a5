"""The project's Markdown pages, taken apart: prose, code blocks, code spans, links and anchors."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
NOT_OURS = {"build", "dist"}

_FENCE = re.compile(r"^( *)```(\w*)\s*$")
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


class Line(NamedTuple):
    """A line of prose and its number in the file, from 1."""

    number: int
    text: str


class Block(NamedTuple):
    """A fenced code block: the number of its first line, its language ('' for none), its text."""

    number: int
    language: str
    text: str


class Page:
    """One Markdown file. name: its path from the root of the project."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.relative_to(ROOT).as_posix()
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def _parts(self) -> tuple[list[Line], list[Block]]:
        prose: list[Line] = []
        blocks: list[Block] = []
        begin, language, kept = 0, "", list[str]()
        for number, text in enumerate(self.text.splitlines(), 1):
            fence = _FENCE.match(text)
            if begin and fence:
                blocks.append(Block(begin, language, "\n".join(kept) + "\n"))
                begin = 0
            elif begin:
                kept.append(text)
            elif fence:
                begin, language, kept = number + 1, fence[2], []
            else:
                prose.append(Line(number, text))
        assert not begin, f"{self.name}:{begin - 1} begins a code block that does not end"
        return prose, blocks

    @property
    def prose(self) -> list[Line]:
        """Return all lines outside of code blocks."""
        return self._parts[0]

    @property
    def blocks(self) -> list[Block]:
        """Return all code blocks."""
        return self._parts[1]

    def spans(self) -> Iterator[tuple[int, str]]:
        """Yield the code spans within prose, each with its line's number."""
        for line in self.prose:
            for span in _SPAN.findall(line.text):
                yield line.number, span

    def links(self) -> Iterator[tuple[int, str]]:
        """Yield the targets of links and pictures, each with its line's number."""
        for line in self.prose:
            for target in _LINK.findall(_SPAN.sub("``", line.text)):
                yield line.number, target

    @cached_property
    def anchors(self) -> set[str]:
        """The names that GitHub gives to the headings."""
        found: set[str] = set()
        for line in self.prose:
            heading = _HEADING.match(line.text)
            if heading is None:
                continue
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = _NOT_IN_ANCHORS.sub("", plain).replace(" ", "-")
            number = 1
            unique = name
            while unique in found:
                unique = f"{name}-{number}"
                number += 1
            found.add(unique)
        return found


@functools.cache
def all_pages() -> tuple[Page, ...]:
    """Read every Markdown page of the project."""
    found = []
    for folder, subfolders, files in os.walk(ROOT):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        subfolders[:] = [name for name in subfolders if name not in NOT_OURS]
        found += [Path(folder, name) for name in files if name.endswith(".md")]
    return tuple(Page(path) for path in sorted(found))


def page(name: str) -> Page:
    """Read the page at a path from the root of the project."""
    return Page(ROOT / name)
