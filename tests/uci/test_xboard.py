"""A whole game in XBoard, through its adapter UCI2WB. Debian has both, and a screen without a monitor."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import chess.pgn
import pytest

from obscuro.rules.board import FogOfWarBoard
from tests.uci.dialogue import ROOT
from tests.uci.test_process import COMMAND

GAMES = "/usr/games"
PATIENCE_SECONDS = 900
"""The engine may have to compile, on a busy machine."""


def program(name: str) -> str:
    """Return where a program is; skip the test if it is nowhere."""
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), GAMES]))
    return found or pytest.skip(f"{name} is not installed")


@pytest.mark.slow
def test_xboard_plays_a_whole_game_and_knows_who_has_won(tmp_path: Path) -> None:
    xboard, adapter, screen = map(program, ("xboard", "uci2wb", "Xvfb"))
    engines = []
    for name, arguments in (("first", []), ("second", ["--player", "greedy"])):
        engine = tmp_path / name
        words = [*COMMAND, *arguments, "--log", str(tmp_path / f"{name}.log")]
        engine.write_text(f"#!/bin/sh\ncd {shlex.quote(str(ROOT))}\nexec {shlex.join(words)}\n")
        engine.chmod(0o755)
        engines.append(f"{adapter} {engine}")
    game = tmp_path / "game.pgn"
    with subprocess.Popen(
        [screen, "-displayfd", "1", "-screen", "0", "1000x800x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as display:
        assert display.stdout is not None
        place = f":{display.stdout.readline().strip()}"
        words = [xboard, "-variant", "fogofwar", "-xlegal", "-mg", "1", "-tc", "1", "-inc", "1"]
        with subprocess.Popen(
            [*words, "-sgf", str(game), "-fcp", engines[0], "-scp", engines[1]],
            env={**os.environ, "DISPLAY": place, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as window:
            # It shows the result until somebody closes the window.
            for _ in range(PATIENCE_SECONDS):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    window.wait(1)
                if game.exists() or window.returncode is not None:
                    break
            window.terminate()
        display.terminate()
    sent = [
        line.partition("> position startpos moves ")[2].split()
        for line in (tmp_path / "second.log").read_text().splitlines()
    ]
    board = FogOfWarBoard()
    for move in max(sent, key=len):
        board.push_uci(move)
    headers = chess.pgn.read_headers(io.StringIO(game.read_text()))
    assert headers is not None and len(board.move_stack) > 4
    assert board.is_game_over()
    assert headers["Result"] == board.result()
