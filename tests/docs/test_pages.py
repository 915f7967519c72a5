"""What every page promises: lines that fit, links that lead somewhere, code that compiles."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT, Page, all_pages, page

COLUMNS = 100

_URL = re.compile(r"^[a-z]+:")


def columns(text: str) -> int:
    """Return how wide a line is, the targets of its links left out, which a reader does not see."""
    return len(re.sub(r"\]\([^)]*\)", "]", text))


def may_be_wide(text: str) -> bool:
    """Tell whether a line can't be broken: a row of a table, or a single word."""
    return text.lstrip().startswith("|") or len(text.split()) == 1


def test_lines_of_prose_end_at_100_columns() -> None:
    long = [
        f"{each.name}:{line.number} has {columns(line.text)} columns"
        for each in all_pages()
        for line in each.prose
        if columns(line.text) > COLUMNS and not may_be_wide(line.text)
    ]
    assert long == []


def broken_link(origin: Page, target: str, pages: dict[str, Page]) -> bool:
    """Tell whether a relative link leads nowhere."""
    file, _, anchor = target.partition("#")
    path = (origin.path.parent / file).resolve() if file else origin.path
    if not path.exists() or not path.is_relative_to(ROOT):
        return True
    if not anchor:
        return False
    name = path.relative_to(ROOT).as_posix()
    return name not in pages or anchor not in pages[name].anchors


def test_relative_links_and_anchors_lead_somewhere() -> None:
    pages = {each.name: each for each in all_pages()}
    broken = [
        f"{each.name}:{number} {target}"
        for each in pages.values()
        for number, target in each.links()
        if not _URL.match(target) and broken_link(each, target, pages)
    ]
    assert broken == []


def test_a_link_to_a_missing_page_or_heading_is_found() -> None:
    pages = {each.name: each for each in all_pages()}
    index = pages["docs/index.md"]
    assert not broken_link(index, "protocol.md#options", pages)
    assert broken_link(index, "protocol.md#no-such-heading", pages)
    assert broken_link(index, "no_such_page.md", pages)


def test_the_index_leads_to_every_page() -> None:
    index = page("docs/index.md")
    reached = {
        (index.path.parent / target.partition("#")[0]).resolve()
        for _, target in index.links()
        if not _URL.match(target)
    }
    missing = [
        each.name
        for each in all_pages()
        if each.path.is_relative_to(ROOT / "docs") and each.path not in reached | {index.path}
    ]
    assert missing == []


def test_python_blocks_compile() -> None:
    found = 0
    for each in all_pages():
        for block in each.blocks:
            if block.language == "python":
                compile("\n" * (block.number - 1) + block.text, each.name, "exec")
                found += 1
    assert found >= 3
