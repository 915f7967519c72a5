"""The manifest docs/results/manifest.toml: which command makes which raw file, and what shows it.

A page `NAME` is the table `[NAME]`. It is the file `NAME.md` beside the manifest, unless `[NAME]` has
`file`, a path from there. It has

- `[NAME.runs.RUN]`: `command`, exactly as one types it at the top of the repository; `raw`, the file
  under docs/results/raw; `label`, what a table calls it;
- `[NAME.kept]`: raw files whose command is no longer in the code, each with the commit to run it at;
- `[NAME.sections.SECTION]`: `runs`, and either `render`, a function that turns the data of one run
  into lines of Markdown, or `render_runs`, one that does so for all of them (`Loaded`); perhaps
  `planned = true`: then runs without a raw file are still to come and are left out, and the
  function says what made the others; perhaps `others`, runs of other pages that the function gets
  as well, each written `PAGE.RUN`, which brings all runs with its label, or `PAGE:SECTION` for all
  of a section. A section without runs of its own says nothing of what made its figures, and needs
  `render_runs`;
- `[NAME.pictures.PICTURE]`: `file`, beside the page; `run`, or `section` for all of its runs; `draw`, a
  function that gets the path and the run's data, or a list of all of them;
- `[NAME.by_hand]`: parts of the page that no command makes, each with the reason.

A function is written `module:name`. `load` checks all that it can without running anything.
"""

from __future__ import annotations

import importlib
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tools.results.raw import ROOT, Raw

RESULTS = ROOT / "docs" / "results"
MANIFEST = RESULTS / "manifest.toml"
SUFFIXES = (".json", ".json.gz")


class ManifestError(Exception):
    """The manifest is wrong; the text is one line for who wrote it."""


class Run(NamedTuple):
    """A command, and the raw file that it makes."""

    page: str
    name: str
    command: str
    raw: str  # below docs/results/raw
    label: str = ""

    @property
    def words(self) -> list[str]:
        """The command, split as a shell does it."""
        return shlex.split(self.command)

    @property
    def title(self) -> str:
        """What tables call it: its label, or else its name."""
        return self.label or self.name

    def in_one_row(self, other: Run) -> bool:
        """Whether both are parts of one match: they have one page and one title."""
        return (self.page, self.title) == (other.page, other.title)


class Section(NamedTuple):
    """A part of a page that is rendered, between its marks."""

    page: str
    name: str
    runs: tuple[str, ...]
    render: str = ""
    render_runs: str = ""
    planned: bool = False
    others: tuple[str, ...] = ()  # of other pages, read as well: PAGE.RUN or PAGE:SECTION


class Picture(NamedTuple):
    """A picture beside a page, drawn from one run or from all runs of a section."""

    page: str
    name: str
    file: str
    draw: str
    run: str = ""
    section: str = ""


class Loaded(NamedTuple):
    """A run, and what its raw file holds."""

    run: Run
    raw: Raw
    folder: Path  # where the raw file is, and the games beside it


@dataclass(frozen=True)
class Page:
    """One page of results."""

    name: str
    runs: dict[str, Run] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)  # files below docs/results/raw
    sections: dict[str, Section] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)
    by_hand: dict[str, str] = field(default_factory=dict)
    file: str = ""  # from the manifest's folder; empty for NAME.md

    def with_label_of(self, name: str) -> Iterator[Run]:
        """Yield a run and the others that tables show in its row."""
        run = self.runs[name]
        yield from (each for each in self.runs.values() if each.in_one_row(run))


@dataclass(frozen=True)
class Manifest:
    """All pages, and the folder that they are in."""

    folder: Path
    pages: dict[str, Page]

    def page(self, name: str) -> Page:
        """Return a page. Raises ManifestError."""
        if name not in self.pages:
            raise ManifestError(f"no page {name!r}; pages are {', '.join(self.pages)}")
        return self.pages[name]

    def page_file(self, page: Page) -> Path:
        """Return where a page is."""
        return (self.folder / (page.file or f"{page.name}.md")).resolve()

    def raw_file(self, run: Run) -> Path:
        """Return where a run's raw file is."""
        return self.folder / "raw" / run.raw

    def is_to_come(self, run: Run) -> bool:
        """Whether a run has no raw file, and need not have one yet."""
        page = self.page(run.page)
        shown = [section for section in page.sections.values() if run.name in section.runs]
        planned = bool(shown) and all(section.planned for section in shown)
        return planned and not self.raw_file(run).exists()

    def runs_of(self, page: Page, section: Section) -> Iterator[Run]:
        """Yield the runs that a section reads, those of other pages last."""
        yield from (page.runs[name] for name in section.runs)
        for other in section.others:
            name, colon, part = other.partition(":")
            if colon:
                yield from self.runs_of(self.page(name), self.page(name).sections[part])
            else:
                name, _, run = other.partition(".")
                yield from self.page(name).with_label_of(run)

    def runs(self) -> Iterator[Run]:
        """Yield all runs of all pages."""
        for page in self.pages.values():
            yield from page.runs.values()


def load(file: Path = MANIFEST) -> Manifest:
    """Read and check a manifest. Raises ManifestError."""
    try:
        pages = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(f"{file}: {error}") from None
    manifest = Manifest(file.parent, {name: _page(name, value) for name, value in pages.items()})
    raws: dict[str, Run] = {}
    for run in manifest.runs():
        if run.raw in raws:
            raise ManifestError(f"{_at(run)}: {raws[run.raw].name} has the raw file {run.raw} too")
        raws[run.raw] = run
    known = {f"{run.page}.{run.name}" for run in manifest.runs()}
    known |= {f"{page.name}:{part}" for page in manifest.pages.values() for part in page.sections}
    for page in manifest.pages.values():
        for section in page.sections.values():
            if unknown := set(section.others) - known:
                raise ManifestError(f"{_at(section)}: no run {', '.join(sorted(unknown))}")
    return manifest


def find_function(reference: str) -> Callable[..., Any]:
    """Return the function of `module:name`. Raises ManifestError."""
    module, _, name = reference.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ManifestError(f"{reference}: {error}") from None
    if not callable(function):
        raise ManifestError(f"{reference} is no function")
    return function  # type: ignore[no-any-return]


def _page(name: str, value: Any) -> Page:
    parts = ("runs", "kept", "sections", "pictures", "by_hand")
    fields = _fields(name, value, {**dict.fromkeys(parts, dict), "file": str})
    runs = {
        each: Run(name, each, **_fields(f"{name}.runs.{each}", told, _RUN, ("command", "raw")))
        for each, told in fields.get("runs", {}).items()
    }
    sections = {}
    for each, told in fields.get("sections", {}).items():
        found = {"runs": [], **_fields(f"{name}.sections.{each}", told, _SECTION)}
        lists = {key: tuple(value) for key, value in found.items() if isinstance(value, list)}
        sections[each] = Section(name, each, **{**found, **lists})
    pictures = {
        each: Picture(
            name, each, **_fields(f"{name}.pictures.{each}", told, _PICTURE, ("file", "draw"))
        )
        for each, told in fields.get("pictures", {}).items()
    }
    notes = fields.get("by_hand", {})
    by_hand = _fields(f"{name}.by_hand", notes, dict.fromkeys(notes, str))
    files = fields.get("kept", {})
    kept = _fields(f"{name}.kept", files, dict.fromkeys(files, str))
    page = Page(name, runs, kept, sections, pictures, by_hand, fields.get("file", ""))
    _check(page)
    return page


_RUN = {"command": str, "raw": str, "label": str}
_SECTION = {"runs": list, "others": list, "render": str, "render_runs": str, "planned": bool}
_PICTURE = {"file": str, "run": str, "section": str, "draw": str}


def _fields(
    place: str,
    value: Any,
    types: Mapping[str, type],
    needed: Mapping[str, type] | tuple[str, ...] = (),
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ManifestError(f"[{place}] must be a table")
    for key, each in value.items():
        if key not in types:
            raise ManifestError(f"[{place}]: {key!r} is not one of {', '.join(types)}")
        if not isinstance(each, types[key]):
            raise ManifestError(f"[{place}]: {key} must be of type {types[key].__name__}")
    for key in needed:
        if key not in value:
            raise ManifestError(f"[{place}] lacks {key}")
    return value


_COMMANDS = ("python -m tools.", "obscuro match ", "obscuro bench")


def _check(page: Page) -> None:
    for run in page.runs.values():
        if not run.command.startswith(_COMMANDS):
            raise ManifestError(f"{_at(run)}: a command is a tool, `obscuro match` or `bench`")
        if not run.raw.endswith(SUFFIXES) or Path(run.raw).parts[:1] != (page.name,):
            raise ManifestError(f"{_at(run)}: raw must be {page.name}/NAME.json or .json.gz")
    used: set[str] = set()
    for section in page.sections.values():
        used.update(section.runs)
        if not section.runs and not section.render_runs:
            raise ManifestError(f"{_at(section)} has no runs")
        if bool(section.render) == bool(section.render_runs):
            raise ManifestError(f"{_at(section)} needs either render or render_runs")
        if section.planned and not section.render_runs:
            raise ManifestError(f"{_at(section)} is planned, and needs render_runs")
    for picture in page.pictures.values():
        if bool(picture.run) == bool(picture.section):
            raise ManifestError(f"{_at(picture)} needs either run or section")
        if picture.section and picture.section not in page.sections:
            raise ManifestError(f"{_at(picture)}: no section {picture.section!r}")
        used.update([picture.run] if picture.run else [])
    if unknown := used - page.runs.keys():
        raise ManifestError(f"[{page.name}]: no run {', '.join(sorted(unknown))}")
    if unused := page.runs.keys() - used:
        raise ManifestError(f"[{page.name}]: nothing shows the run {', '.join(sorted(unused))}")
    if both := page.sections.keys() & page.by_hand.keys():
        raise ManifestError(f"[{page.name}]: {', '.join(both)} is rendered and by hand")


def _at(thing: Run | Section | Picture) -> str:
    return f"[{thing.page}] {thing.name}"
