"""What holds for every tool: how it is started, what it says of itself, where it is listed."""

from __future__ import annotations

import importlib
import re
import shlex

import pytest

from tools.common import ROOT

TOOLS = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in (ROOT / "tools").glob("*/*.py")
    if 'if __name__ == "__main__":' in file.read_text(encoding="utf-8")
)


@pytest.fixture(params=TOOLS)
def tool(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_tool_explains_itself(tool: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(tool)
    with pytest.raises(SystemExit) as left:
        module.main(["--help"])
    assert left.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"usage: python -m {tool} ")
    assert " ".join((module.__doc__ or "-").splitlines()[0].split()) in said


def test_a_tool_reads_the_commands_of_its_docstring(tool: str) -> None:
    module = importlib.import_module(tool)
    text = re.sub(r"\\\n\s*", "", module.__doc__ or "")
    commands = re.findall(rf"^    python -m ({re.escape(tool)}\b.*)$", text, re.MULTILINE)
    assert commands, "the docstring shows how it is started"
    for command in commands:
        words = shlex.split(command.replace("[", "").replace("]", ""), comments=True)
        module.make_parser().parse_known_args(words[1:])


def test_unknown_words_are_refused(tool: str) -> None:
    with pytest.raises(SystemExit) as left:
        importlib.import_module(tool).main(["--no-such-option"])
    assert left.value.code == 2


def test_every_tool_is_listed_and_no_other() -> None:
    text = (ROOT / "tools" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)\.(\w+)` \| (.+) \|$", text, re.MULTILINE)
    assert sorted(f"tools.{room}.{name}" for room, name, _ in listed) == TOOLS
    assert set(re.findall(r"^## `(\w+)/`", text, re.MULTILINE)) == {
        tool.split(".")[1] for tool in TOOLS
    }
