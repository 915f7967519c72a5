"""The proof over Mistboard's code: what it compares, without that code."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import pytest

from obscuro.bots.our_view import OurView
from obscuro.client.engine import Think
from obscuro.rules.board import DrawnStalemateBoard, FogOfWarBoard
from tests.bots.mistboard.wire import wire_move
from tools.proofs.mistboard import (
    LINES,
    REBUILT,
    compare_game,
    has_fault,
    main,
    other_positions,
    render,
    uci_of,
)

GAME = "e2e4 d7d5 f1b5 a7a6 b5e8"


def told_of(moves: str) -> dict[str, Any]:
    """What the driver prints of a game by Mistboard's rules, made from ours."""
    board, plies, made = FogOfWarBoard(), [], []

    def look() -> None:
        over = board.outcome()
        seen = [board.observation(side) for side in (chess.WHITE, chess.BLACK)]
        plies.append(
            {
                "seen": [[chess.square_name(s) for s in chess.SquareSet(o.seen)] for o in seen],
                "pieces": [len(o.board().piece_map()) for o in seen],
                "moves": [wire_move(board, move) for move in board.legal_moves],
                "status": {"type": "playing", "turn": "white"}
                if over is None
                else {"type": "finished", "winner": "white", "reason": "king-captured"},
            }
        )

    look()
    for uci in moves.split():
        made.append(wire_move(board, chess.Move.from_uci(uci)))
        board.push_uci(uci)
        look()
    return {"moves": made, "plies": plies, "white": "a"}


def test_a_game_by_the_same_rules() -> None:
    counts: Counter[str] = Counter()
    compare_game(told_of(GAME), counts)
    assert +counts == {"positions": 6, "ends: king-captured": 1}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda plies: plies[1]["seen"][0].pop(), "vision differs"),
        (lambda plies: plies[2]["moves"].pop(), "moves differ"),
        (lambda plies: plies[5]["status"].update(winner="black"), "winner differs"),
        (lambda plies: plies[5]["status"].update(type="playing"), "ends here only"),
        (lambda plies: plies[3]["status"].update(type="finished"), "ends there only"),
    ],
)
def test_other_rules_are_found(change: Any, found: str) -> None:
    game = told_of(GAME)
    change(game["plies"])
    counts: Counter[str] = Counter()
    compare_game(game, counts)
    assert counts[found] == 1


@pytest.mark.parametrize("name", LINES)
def test_the_lines_are_games(name: str) -> None:
    fen, moves = LINES[name]
    board = DrawnStalemateBoard(fen)
    for uci in moves:
        wire = {"from": uci[:2], "to": uci[2:4], "promotion": "queen" if uci[4:] else None}
        board.push_uci(uci_of(board, {key: value for key, value in wire.items() if value}))


def test_an_engine_that_was_told_something_else_is_found() -> None:
    game, view = told_of(GAME), OurView(chess.WHITE, None)
    asked = []
    for ply in (0, 2, 4):
        view.follow(GAME.split()[:ply])
        asked.append(Think(ply, view.position(), ("x",), chess.WHITE))
    black = OurView(chess.BLACK, None)
    others = []
    for ply in (1, 3):
        black.follow(GAME.split()[:ply])
        others.append(Think(ply, black.position(), ("x",), chess.BLACK))
    assert other_positions([game], {"a": asked, "b": others}, told=True) == 0
    assert other_positions([game], {"a": asked, "b": others[:1]}, told=True) == 1
    assert other_positions([game], {"a": asked[::-1], "b": others}, told=True) == 2
    assert other_positions([game], {"a": asked, "b": others}, told=False) == 3


FIGURES: dict[str, Any] = {
    "rules": {
        "games": 2,
        "counts": {"positions": 1234, "ends: king-captured": 2},
        "lines": [{"line": "x", "theirs": 11, "ours": None, "counts": {}}],
    },
    "matches": [
        {
            "match": "m",
            "players": ["obscuro", "random"],
            "games": 2,
            "a": 1,
            "b": 0,
            "draws": 1,
            "outcomes": {"king-captured": 1, "draw": 1},
            "plies": 90,
            "turns": 90,
            "other": 0,
            "warnings": [f"engine: warning {REBUILT}"],
        }
    ],
}


def test_tables() -> None:
    text = "\n".join(render(FIGURES))
    assert "1,234 positions of 2 random games" in text
    assert "| x | ply 11 | goes on | 0 | 0 |" in text
    row = "| m | obscuro – random | 2 | 1 / 1 / 0 | king-captured 1, draw 1 | 90 | 90 | 0 | 1 | 0 |"
    assert row in text


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("rules", {"counts": {"positions": 1, "vision differs": 1}}),
        ("matches", {"other": 1}),
        ("matches", {"outcomes": {"illegal-move-forfeit": 1}}),
        ("matches", {"outcomes": {"clock-expired": 1}}),
        ("matches", {"warnings": ["engine: error illegal move"]}),
    ],
)
def test_faults_are_found(part: str, change: dict[str, Any]) -> None:
    figures = copy.deepcopy(FIGURES)
    assert not has_fault(figures)
    (figures[part] if part == "rules" else figures[part][0]).update(change)
    assert has_fault(figures)


def test_a_folder_that_is_no_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--mistboard", str(tmp_path)])
    assert "is no checkout of Mistboard" in capsys.readouterr().err
