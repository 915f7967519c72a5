"""The example of the README, as it is written there, with the real engine."""

from __future__ import annotations

from typing import Any

import chess.engine
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.docs.pages import ROOT, page

PLIES = 3


def test_the_readme_example_plays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = [block.text for block in page("README.md").blocks if block.language == "python"]
    limit = chess.engine.Limit
    # A few plies by nodes stand for a game of a second a move.
    monkeypatch.setattr(chess.engine, "Limit", lambda time: limit(nodes=20))
    monkeypatch.setattr(FogOfWarBoard, "is_game_over", lambda board: len(board.move_stack) >= PLIES)
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "README.md", "exec"), names)
    board = names["board"]
    assert len(board.move_stack) == PLIES
    *seen, result = capsys.readouterr().out.split()
    assert seen[-1] == board.fog_fen(chess.WHITE)
    assert (len(seen), result) == (PLIES, "*")
