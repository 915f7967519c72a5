"""The tool that plays many games in one process, for a few."""

from __future__ import annotations

import os
import re

import pytest

from tools.proofs.endurance import main, state_of


def test_a_few_games(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--games", "2", "--warm-up", "1", "--every", "1", "--nodes", "5", "--plies", "6"]
    main(few)
    out, said = capsys.readouterr()
    rows = re.findall(r"^\| (\d+) \| (\d+) \|", out, re.MULTILINE)
    assert [int(games) for games, _ in rows] == [1, 2]
    assert 0 < int(rows[-1][1]) <= 12
    assert "Since game 1: " in out and "info string error" not in said


def test_what_a_process_holds() -> None:
    state = state_of(os.getpid())
    assert state.mebibytes > 1 and state.threads >= 1 and state.files >= 3
