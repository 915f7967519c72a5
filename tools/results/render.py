"""Renders sections of pages from raw files, and puts them between their marks.

    <!-- begin NAME: made by make pages -->
    ...
    <!-- end NAME -->

All else on a page is written by hand and stays. A part that states figures for which there is no
command stands between `<!-- by hand NAME -->` and `<!-- end NAME -->`, and the manifest says why.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shlex
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.common import table
from tools.results.manifest import Loaded, Manifest, Page, Picture, Run, Section, find_function
from tools.results.raw import Raw, load

WIDTH = 100
NOT_KEPT = "Written by hand: the raw figures were not kept."
GAMES_NOT_KEPT = "Written by hand: the games were not kept."
BLOCK = re.compile(
    r"<!-- (?P<kind>begin|by hand) (?P<name>[\w-]+)(?:: made by make pages)? -->\n"
    r"(?P<text>.*?)<!-- end (?P=name) -->",
    re.DOTALL,
)


class RenderError(Exception):
    """A page and the manifest don't fit, or a section can't be rendered; one line of text."""


def load_runs(manifest: Manifest, runs: Iterable[Run]) -> list[Loaded]:
    """Read the raw files of some runs, without those to come. Raises RawFileError."""
    found = []
    for run in runs:
        if not manifest.is_to_come(run):
            path = manifest.raw_file(run)
            found.append(Loaded(run, load(path), path.parent))
    return found


def blocks(text: str) -> dict[str, tuple[str, str]]:
    """Return the marked blocks of a page: `begin` or `by hand`, and the text. Raises RenderError."""
    found: dict[str, tuple[str, str]] = {}
    for block in BLOCK.finditer(text):
        if block["name"] in found:
            raise RenderError(f"the marks of {block['name']} are there twice")
        if "<!-- " in block["text"]:
            raise RenderError(f"there is another mark within {block['name']}")
        found[block["name"]] = block["kind"], block["text"]
    return found


def render_page(manifest: Manifest, page: Page) -> str:
    """Return a page's text with all its sections rendered anew. Raises RenderError, RawFileError."""
    text = manifest.page_file(page).read_text(encoding="utf-8")
    marked = {name: kind for name, (kind, _) in blocks(text).items()}
    wanted = dict.fromkeys(page.sections, "begin") | dict.fromkeys(page.by_hand, "by hand")
    if marked != wanted:
        odd = sorted(dict(marked.items() ^ wanted.items()))
        raise RenderError(f"{page.name}: marks and manifest differ about {', '.join(odd)}")

    def fill(block: re.Match[str]) -> str:
        name = block["name"]
        if block["kind"] != "begin":
            return block[0]
        lines = render_section(manifest, page, page.sections[name])
        body = "\n".join([*lines]).strip("\n")
        return f"<!-- begin {name}: made by make pages -->\n{body}\n<!-- end {name} -->"

    return BLOCK.sub(fill, text)


def render_section(manifest: Manifest, page: Page, section: Section) -> Iterator[str]:
    """Yield a section: what made it, and its tables. Raises RenderError, RawFileError.

    Where an earlier section of the page shows the same runs, that one says what made them.
    """
    loaded = load_runs(manifest, manifest.runs_of(page, section))
    if section.planned or not section.runs:
        yield from find_function(section.render_runs)(loaded)
        return
    first = next(each for each in page.sections.values() if each.runs == section.runs)
    if first == section:
        yield from origins(loaded)
    if section.render_runs:
        copied = [is_copied_table(each.raw, section) for each in loaded]
    else:
        copied = [each.raw.transcribed_from_page for each in loaded]
    if all(copied):
        yield from copied_tables([each.raw for each in loaded], section)
    elif any(copied):
        names = ", ".join(section.runs)
        raise RenderError(f"{page.name}, {section.name}: run all of {names} to replace copied ones")
    elif section.render_runs:
        yield from find_function(section.render_runs)(loaded)
    else:
        render: Callable[[Any], Iterator[str]] = find_function(section.render)
        for each in loaded:
            if len(loaded) > 1:
                yield from (f"**{each.run.title}**", "")
            yield from (*render(each.raw.data), "")


def is_copied_table(raw: Raw, section: Section) -> bool:
    """Whether a raw file has cells that were copied from the page, for this section."""
    return raw.transcribed_from_page and isinstance(raw.data, dict) and section.name in raw.data


def origins(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield commands, and date, commit, machine and notes; what runs share stands there once."""
    yield "```"
    for each in loaded:
        yield from wrap_command(each.raw.command)
    yield from ("```", "")
    for fact in dict.fromkeys(origin(each.raw) for each in loaded):
        yield from (*wrap(fact), "")
    notes = {each.raw.note for each in loaded}
    if len(notes) == 1:
        yield from (*wrap(notes.pop()), "")
        return
    for each in loaded:
        if each.raw.note:
            yield from wrap(f"- {each.run.title}: {each.raw.note}", "  ")
    yield ""


def origin(raw: Raw) -> str:
    """Return when, at which commit and on what a raw file was made, in sentences."""
    text = f"{raw.date}, commit {raw.commit}; {raw.machine_line()}."
    if raw.transcribed_from_page:
        text += f" {GAMES_NOT_KEPT if raw.command.startswith('obscuro match') else NOT_KEPT}"
    return text


def wrap(text: str, indent: str = "") -> list[str]:
    """Return text in lines of at most WIDTH characters."""
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def wrap_command(command: str) -> Iterator[str]:
    """Yield a command in lines that a shell reads as one, broken before its options."""
    line, rest = "", shlex.split(command)
    while rest:
        count = next((i for i, word in enumerate(rest) if i and word.startswith("--")), len(rest))
        part = shlex.join(rest[:count])
        rest = rest[count:]
        if line and len(line) + len(part) + 3 > WIDTH:
            yield f"{line} \\"
            line = "    " + part
        else:
            line = f"{line} {part}" if line else part
    yield line


def copied_tables(raws: Sequence[Raw], section: Section) -> Iterator[str]:
    """Yield the copied cells of a section: tables, or one code block. Raises RenderError.

    The tables of several runs are joined to one, see `join`.
    """
    try:
        copied = [raw.data[section.name] for raw in raws]
        if "lines" in copied[0]:
            yield from ("```", *copied[0]["lines"], "```")
        elif "tables" in copied[0]:
            for each in copied[0]["tables"]:
                yield from (*table(each["headings"], each["rows"], each["align"]), "")
        else:
            joined = functools.reduce(join, copied)
            yield from table(joined["headings"], joined["rows"], joined["align"])
    except (KeyError, TypeError, ValueError) as error:
        raise RenderError(f"{section.page}, {section.name}: bad copied table, {error!r}") from None


def join(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Join two copied tables. Raises ValueError if they don't fit.

    With equal headings, the rows follow each other. Otherwise the second table's columns stand
    beside the first's; the leading columns that have equal headings must be equal.
    """
    if first["headings"] == second["headings"]:
        return {**first, "rows": first["rows"] + second["rows"]}
    pairs = zip(first["headings"], second["headings"], strict=False)
    keys = next(i for i, (left, right) in enumerate(pairs) if left != right)
    rows = []
    for left, right in zip(first["rows"], second["rows"], strict=True):
        if left[:keys] != right[:keys]:
            raise ValueError(f"{left[:keys]} is not {right[:keys]}")
        rows.append(left + right[keys:])
    return {
        "headings": first["headings"] + second["headings"][keys:],
        "align": first["align"] + second["align"][keys:],
        "rows": rows,
    }


# -- pictures ---------------------------------------------------------------------------------


def stamp(raw_files: Sequence[Path]) -> str:
    """Return what a picture says of the raw files that it was drawn from."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in raw_files))
    return f"raw sha256 {digest.hexdigest()}"


def runs_of(manifest: Manifest, page: Page, picture: Picture) -> list[Run]:
    """Return the runs that a picture shows."""
    if picture.section:
        return list(manifest.runs_of(page, page.sections[picture.section]))
    return [page.runs[picture.run]]


def is_current(manifest: Manifest, page: Page, picture: Picture) -> bool:
    """Whether a picture was drawn from the raw files that are there."""
    file = manifest.folder / picture.file
    loaded = load_runs(manifest, runs_of(manifest, page, picture))
    mark = stamp([manifest.raw_file(each.run) for each in loaded])
    return file.exists() and mark.encode() in file.read_bytes()


def draw(manifest: Manifest, page: Page, picture: Picture) -> None:
    """Draw a picture from its raw files, with the stamp in the PNG's description."""
    loaded = load_runs(manifest, runs_of(manifest, page, picture))
    mark = stamp([manifest.raw_file(each.run) for each in loaded])
    shown = loaded if picture.section else loaded[0]
    find_function(picture.draw)(manifest.folder / picture.file, shown, mark)
