"""The code and the tests that the pages name exist, under these names."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, all_pages, page

PACKAGE = ROOT / "obscuro"
TESTS = ROOT / "tests"

_REFERENCE = re.compile(r"(…|[a-z][\w/]*):([A-Za-z_]\w*)")
_FILE = re.compile(r"[\w./-]+\.py")
_DOTTED = re.compile(r"obscuro(?:\.\w+)+")


@functools.cache
def names_in(path: Path) -> frozenset[str]:
    """Return what a module defines: functions, classes, methods, constants and imported names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)


def code_file(name: str) -> Path | None:
    """Find a module of the package by its path without `.py`, or by its own name alone."""
    path = PACKAGE / f"{name}.py"
    if path.is_file():
        return path
    if "/" in name:
        return None
    found = list(PACKAGE.rglob(f"{name}.py"))
    return found[0] if len(found) == 1 else None


def file_of_tests(name: str) -> Path | None:
    """Find a file of tests: `search/subgame` is tests/search/test_subgame.py."""
    path = TESTS / name
    path = path.with_name(f"test_{path.name}.py")
    return path if path.is_file() else None


def exists(file: str, name: str) -> bool:
    """Tell whether a reference `file:name` names code, or a test."""
    code, tests = code_file(file), file_of_tests(file)
    if code is not None and name in names_in(code):
        return True
    return tests is not None and f"test_{name}" in names_in(tests)


def references() -> list[tuple[int, str, str]]:
    """Read all references of the algorithm's page: line, file, name; `…` repeats the last file."""
    found: list[tuple[int, str, str]] = []
    for number, span in page("docs/algorithm.md").spans():
        reference = _REFERENCE.fullmatch(span)
        if reference is not None and span not in ("module:name", "file:name"):
            file = found[-1][1] if reference[1] == "…" else reference[1]
            found.append((number, file, reference[2]))
    return found


def test_every_reference_of_the_algorithm_exists() -> None:
    missing = [
        f"line {n}: {file}:{name}" for n, file, name in references() if not exists(file, name)
    ]
    assert missing == []
    assert len(references()) > 80


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("search/solver", "no_such_function"),
        ("search/no_such_module", "sweep"),
        ("search/solver", "no_such_test"),
    ],
)
def test_a_reference_to_what_is_not_there_is_found(file: str, name: str) -> None:
    assert not exists(file, name)


def test_files_and_directories_named_in_the_pages_exist() -> None:
    missing = [
        f"{each.name}:{number} {span}"
        for each in all_pages()
        if each.name != "CHANGELOG.md"
        for number, span in each.spans()
        if not named_file_exists(span)
    ]
    assert missing == []


def named_file_exists(span: str) -> bool:
    """Tell whether a code span that looks like a file or directory of ours is one; True for others.

    A file is named from the root, from the package, or by its own name where that is unique.
    """
    if span in EXAMPLES:
        return True
    if re.fullmatch(r"(obscuro|tests|tools|docs|engine_bin)/[\w./-]*", span):
        return (ROOT / span).exists()
    if _FILE.fullmatch(span):
        if (ROOT / span).is_file() or (PACKAGE / span).is_file() or (TESTS / span).is_file():
            return True
        return "/" not in span and any(
            next(place.rglob(span), None) for place in (PACKAGE, TESTS, ROOT / "tools")
        )
    return True


EXAMPLES = {"my_evaluator.py", "my_engine.py", "docs/results/proofs.md"}
"""Files that a page has its reader write, or that a command writes."""


def test_dotted_names_exist() -> None:
    missing = [
        f"{each.name}:{number} {dotted}"
        for each in all_pages()
        if each.name != "CHANGELOG.md"  # it names what was there then
        for number, span in each.spans()
        for dotted in _DOTTED.findall(span)
        if not dotted_exists(dotted)
    ]
    assert missing == []


def dotted_exists(dotted: str) -> bool:
    """Tell whether `obscuro.a.b` is a module, or a name that a module defines."""
    if dotted == "obscuro.evaluators":  # a group of entry points
        return True
    path = ROOT.joinpath(*dotted.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    module, name = path.parent, path.name
    for file in (module.with_suffix(".py"), module / "__init__.py"):
        if file.is_file() and name in names_in(file):
            return True
    owner = module.parent.with_suffix(".py")  # a method, or an attribute of a class
    return owner.is_file() and {module.name, name} <= names_in(owner)


def test_the_architecture_shows_every_room() -> None:
    shown = {
        found[1]
        for line in page("docs/architecture.md").prose
        if (found := re.match(r"\| `((?:obscuro|tools)/[\w/]+)/` \|", line.text))
    }
    rooms = {
        init.parent.relative_to(ROOT).as_posix()
        for top in (PACKAGE, ROOT / "tools")
        for init in top.rglob("__init__.py")
        if init.parent != top
    }
    assert shown == rooms
