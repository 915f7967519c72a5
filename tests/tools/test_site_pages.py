"""The site of the documentation: its navigation, and the links of its pages."""

from __future__ import annotations

import pytest

from tests.docs.pages import all_pages
from tools import site_pages
from tools.site_pages import DOCS, ROOT, navigation, outside_files, site_links, site_path, source_of

INDEX = (DOCS / "index.md").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation_once() -> None:
    found = [place for tab in navigation(INDEX) for entries in tab.values() for page in entries
             for place in page.values()]  # fmt: skip
    assert len(found) == len(set(found))
    here = {page.path for page in all_pages() if page.path.is_relative_to(DOCS)}
    assert {site_path(path) for path in here} - set(found) == {"index.md"}


def test_every_heading_of_the_index_is_a_tab_with_a_short_name() -> None:
    names = [name for tab in navigation(INDEX) for name in tab]
    assert names == ["Play", "Bots and GUIs", "Matches", "Engine", "Research", "Results"]


@pytest.mark.parametrize(
    ("page", "text", "turned"),
    [
        ("docs/web.md", "[a](protocol.md#go)", "[a](protocol.md#go)"),
        ("docs/web.md", "[a](../README.md#start)", "[a](repository/README.md#start)"),
        ("docs/results/paper.md", "[a](../web.md)", "[a](../web.md)"),
        ("docs/results/paper.md", "![p](scaling.png)", "![p](scaling.png)"),
        (
            "docs/results/paper.md",
            "[a](../../tools/play/paper_claims.py)",
            "[a](../repository/tools/play/paper_claims.py.txt)",
        ),
        ("README.md", "![p](docs/pictures/shown.png)", "![p](../pictures/shown.png)"),
        ("README.md", "[`a`](docs/web.md)", "[`a`](../web.md)"),
        ("README.md", "[a](https://example.org/x.md)", "[a](https://example.org/x.md)"),
        ("README.md", "[a](#start)", "[a](#start)"),
        ("CONTRIBUTING.md", "[the folder](docs/results)", "the folder"),
        ("README.md", "```\n[a](docs/web.md)\n```", "```\n[a](docs/web.md)\n```"),
    ],
)
def test_links_are_turned_into_those_of_the_site(page: str, text: str, turned: str) -> None:
    assert site_links(text, ROOT / page) == turned


def test_all_that_pages_link_to_outside_of_docs_is_taken_in() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in outside_files()}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"} <= found
    assert "tools/play/paper_claims.py" in found  # a page of results links to it
    assert not any(name.startswith("docs/") for name in found)


@pytest.mark.parametrize("name", ["docs/web.md", "docs/results/paper.md", "README.md"])
def test_a_page_of_the_site_knows_its_source(name: str) -> None:
    assert source_of(site_path(ROOT / name)) == ROOT / name


def test_the_configuration_names_this_hook() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "  - tools/site_pages.py\n" in text and "strict: true" in text
    assert site_pages.on_config.__doc__
