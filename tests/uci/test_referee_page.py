"""The example of docs/referee.md, as it is written there, with the real engine."""

from __future__ import annotations

import re
import sys
from typing import Any

from tests.uci.dialogue import ROOT


def test_the_example_plays() -> None:
    page = (ROOT / "docs" / "referee.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/referee.md", "exec"), names)
    names["COMMAND"] = [sys.executable, "-m", "obscuro.cli.main", "uci"]
    names["OPTIONS"] |= {"Evaluator": "material", "Hash": "16", "Seed": "1"}
    board = names["play"]("go nodes 20", 6)
    assert len(board.move_stack) == 6 or board.is_game_over()
