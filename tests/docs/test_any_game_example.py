"""The example of docs/any_game.md, as it is written there."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import page


def test_the_example_game_is_checked_solved_and_played(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = [
        block.text for block in page("docs/any_game.md").blocks if block.language == "python"
    ]
    lines = [line for line in code.splitlines() if line.strip()]
    assert len(lines) <= 60
    exec(compile(code, "docs/any_game.md", "exec"), {"__name__": "example"})
    facts, solved, played = capsys.readouterr().out.splitlines()
    assert "whole=True" in facts
    value, exploitability = map(float, solved.split()[:2])
    assert value == pytest.approx(0.5, abs=0.01)
    assert exploitability < 0.01
    assert re.search(r"payoff=-?[01]\.0", played)
