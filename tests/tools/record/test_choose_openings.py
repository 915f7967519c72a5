"""The tool that chooses openings sees what can be won, and keeps no position twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.matches.openings import default_openings, parse_openings
from obscuro.rules.board import FogOfWarBoard
from tools.record import choose_openings
from tools.record.choose_openings import (
    CANDIDATES_FILE,
    Candidate,
    choose,
    largest_gain,
    opening_lines,
    read_candidates,
)


@pytest.mark.parametrize(
    ("fen", "pawns"),
    [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", 1),  # neither pawn is defended
        ("4k3/8/4p3/3p4/4P3/5P2/8/4K3 w - - 0 1", 0),  # both are
        ("4k3/8/4p3/3n4/4P3/8/8/4K3 b - - 0 1", 2),  # a knight for a pawn, if White were to move
        ("4k3/8/4p3/3n4/8/8/8/3QK3 w - - 0 1", 0),  # a queen for a knight
        ("3rk3/8/4p3/3n4/8/8/3Q4/3RK3 w - - 0 1", 0),  # two attack, two defend
        ("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", 1000),  # a king is attacked
        ("4k3/8/8/8/8/3p4/4r3/3K4 w - - 0 1", 0),  # a king does not take what is defended
        ("4k3/8/8/8/3p4/8/4r3/3K4 w - - 0 1", 5),  # but it takes what is not
    ],
)
def test_gain_of_captures_on_one_square(fen: str, pawns: int) -> None:
    assert largest_gain(FogOfWarBoard(fen)) == pawns


def test_a_line_is_kept_once_and_only_within_the_band(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"e4 e5": 0.04, "e4 e5 Nf3 Nf6": 0.2, "d4 d5": -0.1, "Nf3 Nf6 Ng1 Ng8 e4 e5": 0.04}
    boards = {}
    for line in (*values, "e4 d5"):  # the last one offers a pawn, and then the queen takes back
        board = FogOfWarBoard()
        for san in line.split():
            board.push_san(san)
        boards[line] = board
    monkeypatch.setattr(
        choose_openings,
        "white_value",
        lambda board, nodes: next(values[line] for line, own in boards.items() if own is board),
    )
    values["e4 d5"] = 0.0
    candidates = [Candidate(line, board) for line, board in boards.items()]
    kept = [candidate.name for candidate, _ in choose(candidates, nodes=1)]
    assert kept == ["e4 e5", "e4 d5"]


def test_the_file_is_read_as_it_was_chosen(tmp_path: Path) -> None:
    candidates = tmp_path / "candidates.txt"
    candidates.write_text("# a comment\nOpen Game: e4 e5\nIndian: d4 Nf6\n", encoding="utf-8")
    chosen = [(candidate, 0.04) for candidate in read_candidates(candidates)]
    openings = parse_openings("\n".join(opening_lines(chosen, nodes=1)), "openings")
    assert [(opening.name, opening.moves) for opening in openings] == [
        ("Open Game", ("e2e4", "e7e5")),
        ("Indian", ("d2d4", "g8f6")),
    ]


def test_the_default_openings_are_candidates() -> None:
    candidates = {
        candidate.name: tuple(move.uci() for move in candidate.board.move_stack)
        for candidate in read_candidates(CANDIDATES_FILE)
    }
    for opening in default_openings():
        assert candidates[opening.name] == opening.moves
