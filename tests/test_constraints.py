"""constraints.txt holds every package that its extras need, with hashes and without any address."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "constraints.txt").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ("bridge", "web", "zs21")

_PIN = re.compile(r"^([\w.-]+)==(\S+)((?: \\\n +--hash=sha256:[0-9a-f]{64})+)$", re.M)


def pins() -> dict[str, str]:
    """Return the version of each package by its name."""
    return {canonicalize_name(name): version for name, version, _ in _PIN.findall(TEXT)}


def needed(requirement: Requirement, seen: set[str]) -> Iterator[Requirement]:
    """Yield a requirement and, by the metadata of what is installed, all that it needs in turn."""
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return
    yield requirement
    name = canonicalize_name(requirement.name)
    if name in seen:
        return
    seen.add(name)
    for text in metadata.requires(name) or ():
        yield from needed(Requirement(text), seen)


def test_it_holds_all_that_its_extras_need_within_our_bounds() -> None:
    own = [*PROJECT["dependencies"]]
    for extra in EXTRAS:
        own += PROJECT["optional-dependencies"][extra]
    found, seen = pins(), set[str]()
    for text in own:
        for requirement in needed(Requirement(text), seen):
            name = canonicalize_name(requirement.name)
            assert name in found, f"{name}, which {text} needs, is missing"
            assert requirement.specifier.contains(found[name], prereleases=True), requirement
    assert len(seen) > len(own)


def test_every_line_is_a_version_with_hashes() -> None:
    rest = _PIN.sub("", re.sub(r"^#.*$", "", TEXT, flags=re.M))
    assert rest.strip() == ""
    assert len(pins()) > 20


def test_it_names_no_address() -> None:
    assert "://" not in TEXT and "--index-url" not in TEXT and "--find-links" not in TEXT


@pytest.mark.parametrize("page", ["docs/install.md", "docs/releasing.md"])
def test_the_pages_name_it(page: str) -> None:
    assert "constraints.txt" in (ROOT / page).read_text()


def test_the_command_that_makes_it_is_on_the_page_of_releases() -> None:
    command = re.search(r"^#    (pip-compile .*)$", TEXT, re.M)
    assert command is not None
    words = " ".join((ROOT / "docs/releasing.md").read_text().replace("\\\n", " ").split())
    for word in command[1].split():
        assert word in words, word
    assert all(f"--extra={extra}" in words for extra in EXTRAS)
