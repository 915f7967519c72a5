"""The commands in the pages exist, and take the flags that they are shown with."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from obscuro.cli.arguments import build_parser
from tests.docs.pages import ROOT, all_pages

_ASSIGNMENT = re.compile(r"[A-Z_]+=.*")
_PLACEHOLDER = {
    "N": "1", "MS": "100", "SECONDS": "10", "CP": "100", "S+I": "60+1", "NAME": "belief"
}  # fmt: skip
_LEFT_OUT = ("…", "...")
_NEEDED = {"match": ["A", "B"], "replay": ["LOG"], "show": ["GAME.pgn"]}
_STARTERS = ("obscuro", "engine_bin/obscuro", ".venv/bin/obscuro")
HISTORY = "CHANGELOG.md"
"""It quotes commands as they were in older versions."""


def commands(text: str) -> Iterator[list[str]]:
    """Yield the commands of a shell text, as words, without their leading assignments."""
    for line in text.replace("\\\n", " ").splitlines():
        code = re.sub(r"(^|\s)#.*", "", line).strip()
        for part in re.split(r"\s(?:&&|\||;|>|<)\s", code):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            while words and _ASSIGNMENT.fullmatch(words[0]):
                words.pop(0)
            if words:
                yield words


def quoted_commands() -> list[tuple[str, list[str]]]:
    """Return every command of every page with where it stands: in blocks, and in code spans."""
    found = []
    for each in all_pages():
        for block in each.blocks:
            if block.language in ("", "sh", "bash", "console"):
                found += [(f"{each.name}:{block.number}", words) for words in commands(block.text)]
        for number, span in each.spans():
            found += [(f"{each.name}:{number}", words) for words in commands(span)]
    return found


def is_history(place: str) -> bool:
    """Tell whether a page may quote commands of the past."""
    return place.startswith(HISTORY)


@pytest.fixture(autouse=True)
def plug_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the plug-in of docs/evaluators.md known by name, as the page does."""
    monkeypatch.setenv("OBSCURO_EVALUATORS", "linear=my_evaluator:make")


def parses(words: list[str]) -> bool:
    """Tell whether the command line takes these arguments.

    A mention may leave out what a command can't do without: `obscuro match --tc 60+0.5`.
    """
    wanted = [_PLACEHOLDER.get(word, word) for word in words if word not in _LEFT_OUT]
    return any(_parses(wanted + needed) for needed in ([], _NEEDED.get("".join(wanted[:1]), [])))


def _parses(words: list[str]) -> bool:
    try:
        build_parser().parse_args(words)
    except SystemExit as leaving:
        return leaving.code == 0  # --help and --version leave too
    return True


def test_commands_of_obscuro_parse(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        (place, words)
        for place, words in quoted_commands()
        if words[0] in _STARTERS and not is_history(place)
    ]
    wrong = [f"{place} {' '.join(words)}" for place, words in found if not parses(words[1:])]
    capsys.readouterr()
    assert wrong == []
    assert len(found) > 30


def test_a_command_with_a_flag_that_is_not_there_is_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert parses(["match", "A", "B", "--games", "N"])
    assert not parses(["match", "A", "B", "--no-such-flag"])
    assert not parses(["no-such-command"])
    capsys.readouterr()


def make_targets() -> set[str]:
    """Read the targets of the Makefile."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][\w-]*):(?!=)", text, re.M))


def test_targets_of_make_exist() -> None:
    found = [(place, words) for place, words in quoted_commands() if words[0] == "make"]
    wrong = [
        f"{place} make {target}"
        for place, words in found
        for target in words[1:]
        if not (target.startswith("-") or "=" in target or "/" in target)
        if target not in make_targets()
    ]
    assert wrong == []
    assert {"demo", "test", "warmup"} <= {word for _, words in found for word in words}


def module_file(name: str) -> Path | None:
    """Find the file that `python -m NAME` runs."""
    path = ROOT.joinpath(*name.split("."))
    return next((f for f in (path.with_suffix(".py"), path / "__main__.py") if f.is_file()), None)


@functools.cache
def texts_and_imports(path: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """Return all string literals of a module, and the files of the tools that it imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    texts = (node.value for node in nodes if isinstance(node, ast.Constant))
    modules = (node.module or "" for node in nodes if isinstance(node, ast.ImportFrom))
    files = (module_file(module) for module in modules if module.startswith("tools."))
    return (
        frozenset(text for text in texts if isinstance(text, str)),
        frozenset(file for file in files if file is not None),
    )


def texts_in(path: Path) -> set[str]:
    """Return all string literals of a module, and of the tools that it imports."""
    found: set[str] = set()
    left, seen = [path], {path}
    while left:
        texts, imports = texts_and_imports(left.pop())
        found |= texts
        left += imports - seen
        seen |= imports
    return found


def wrong_tool(words: list[str]) -> str | None:
    """Say what is wrong with the words after `python -m`: no such module, or no such flag."""
    file = module_file(words[0])
    if file is None:
        return words[0]
    flags = {word.partition("=")[0] for word in words[1:] if word.startswith("--")}
    missing = flags - texts_in(file) - {"--help"}
    return f"{words[0]} {' '.join(sorted(missing))}" if missing else None


def test_modules_started_with_python_exist_and_have_these_flags() -> None:
    found = [
        (place, words[2:])
        for place, words in quoted_commands()
        if words[:2] in (["python", "-m"], [".venv/bin/python", "-m"])
        if words[2].startswith(("tools", "tests", "obscuro")) and "ROOM" not in words[2]
    ]
    wrong = [
        f"{place} {fault}"
        for place, words in found
        if not is_history(place) and (fault := wrong_tool(words))
    ]
    assert wrong == []
    assert len(found) > 10


def test_a_tool_that_is_not_there_or_lacks_a_flag_is_found() -> None:
    assert wrong_tool(["tools.play.picture", "game.pgn", "--move", "15"]) is None
    assert wrong_tool(["tools.play.no_such_tool"]) is not None
    assert wrong_tool(["tools.play.picture", "--no-such-flag"]) is not None
