"""The trees of openings: games part where they should, nothing is counted twice or left unsaid."""

from __future__ import annotations

import chess
import pytest

from obscuro.rules.board import FogOfWarBoard
from obscuro.viewer.game_file import games_of_text
from obscuro.viewer.opening_tree import (
    MOST_PLIES,
    USUAL_START,
    PlayedLine,
    ShownBranch,
    change_text,
    played_line,
    tree_of,
)

GAMES = """
[White "a"]
[Black "b"]
[Result "1-0"]

1. e4 a5 2. Nf3 1-0

[Result "0-1"]

1. e4 g6 2. Nf3 d5 0-1

[Result "1/2-1/2"]

1. e4 d5 2. exd5 1/2-1/2

[Result "*"]

1. d4 *
"""


def lines(text: str = GAMES) -> list[PlayedLine]:
    return [
        played_line(game, f"game {number}")
        for number, game in enumerate(games_of_text(text).games, 1)
    ]


def nodes(branch: ShownBranch) -> list[ShownBranch]:
    return [branch, *(node for below in branch["below"] for node in nodes(below))]


def labels(branch: ShownBranch) -> list[tuple[str, int]]:
    return [(below["label"], sum(below["results"])) for below in branch["below"]]


def test_whole_positions_part_at_every_move() -> None:
    tree = tree_of(lines(), None)
    assert tree["results"] == [1, 1, 1, 1] and tree["turn"] == "white"
    assert labels(tree) == [("1. e4", 3), ("1. d4", 1)]
    assert labels(tree["below"][0]) == [("1… a5", 1), ("1… g6", 1), ("1… d5", 1)]
    board = FogOfWarBoard()
    board.push_san("e4")
    node = tree["below"][0]
    assert (node["truth"], node["last"], node["turn"]) == (board.board_fen(), "e2e4", "black")
    assert node["seen"] == [board.fog_fen(color) for color in (chess.WHITE, chess.BLACK)]


def test_games_stay_together_while_a_side_sees_the_same() -> None:
    tree = tree_of(lines(), chess.WHITE)
    assert labels(tree) == [("1. e4", 3), ("1. d4", 1)]
    after = tree["below"][0]
    assert after["turn"] is None
    assert labels(after) == [("nothing new", 2), ("sees pawn d5", 1)]
    unseen = after["below"][0]
    assert (sum(unseen["results"]), unseen["truths"], unseen["common"]) == (2, 2, 1)
    assert labels(unseen) == [("2. Nf3", 2)]


def test_black_first_sees_what_white_has_done() -> None:
    tree = tree_of(lines(), chess.BLACK)
    assert tree["turn"] is None
    assert labels(tree) == [("nothing new", 4)]
    (node,) = tree["below"]
    assert node["turn"] == "black" and node["truths"] == 2
    assert {label for label, _ in labels(node)} == {"1… a5", "1… g6", "1… d5"}


@pytest.mark.parametrize("side", [None, chess.WHITE, chess.BLACK])
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_every_game_is_accounted_for(side: chess.Color | None, most: int) -> None:
    for node in nodes(tree_of(lines(), side, most)):
        below = [
            sum(results) for results in zip(*(b["results"] for b in node["below"]), strict=True)
        ]
        assert all(a <= b for a, b in zip(below, node["results"], strict=False))
        if node["below"]:
            assert node["rest"] == 0
        assert node["rest"] <= sum(node["results"])


def test_what_is_rare_is_left_and_said() -> None:
    tree = tree_of(lines(), None, 3)
    assert len(nodes(tree)) == 3
    assert [node["rest"] for node in tree["below"]] == [3, 0]
    whole = tree_of(lines(), None)
    (played_on,) = (node for node in nodes(whole) if node["label"] == "1… g6")
    assert (played_on["below"], played_on["rest"]) == ([], 1)
    assert played_on["games"] == ["? – ? 0-1 (game 2)"]


def test_games_of_other_starts_have_their_own_branch() -> None:
    fens = ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "4k3/8/8/8/8/8/3P4/4K3 w - - 0 1"]
    texts = [f'[FEN "{fen}"]\n[Opening "{name}"]\n\n1. Kf1 *\n' for fen in fens for name in "xx"]
    tree = tree_of(lines("\n".join([GAMES, *texts])), chess.WHITE)
    assert labels(tree) == [(USUAL_START, 4), (fens[0], 2), (fens[1], 2)]
    named = tree_of(lines("\n".join([GAMES, texts[0]])), None)
    assert labels(named) == [(USUAL_START, 4), ("x", 1)]


def test_no_tree_is_deeper_than_its_bound() -> None:
    moves = " ".join(["Nf3 Nf6 Ng1 Ng8"] * 40)
    tree = tree_of(lines(f'[Result "*"]\n\n{moves} *\n') * 2, None, 10_000)
    assert len(nodes(tree)) <= MOST_PLIES + 1


@pytest.mark.parametrize(
    ("fen", "move", "side", "text"),
    [
        (
            "4k3/8/8/3p4/4P3/8/8/4K3 b - - 0 1",
            "d5e4",
            chess.WHITE,
            "lost pawn e4, no longer sees pawn d5",
        ),
        ("4k3/4p3/8/8/3P4/8/8/4K3 b - - 0 1", "e7e5", chess.WHITE, "sees pawn e5"),
        ("4k3/8/8/3pP3/8/8/8/4K3 b - - 0 1", "d5d4", chess.WHITE, ""),
        ("4k3/8/4n3/8/4P3/8/8/R3K3 b - - 0 1", "e6c5", chess.WHITE, ""),
        ("4k3/8/2n5/8/4P3/8/8/4K3 b - - 0 1", "c6e5", chess.WHITE, "e5 out of sight"),
        ("4k3/8/8/4n3/4P3/8/8/4K3 b - - 0 1", "e5c6", chess.WHITE, "e5 in sight"),
        ("4k3/8/8/8/8/n7/8/R3K3 b - - 0 1", "a3b5", chess.WHITE, "no longer sees knight a3"),
        ("4k3/p7/8/8/8/8/8/R3K3 w - - 0 1", "e1e2", chess.WHITE, ""),
        ("4k3/p7/8/8/8/8/7R/4K3 w - - 0 1", "h2a2", chess.WHITE, "sees pawn a7"),
    ],
)
def test_a_ply_in_words(fen: str, move: str, side: chess.Color, text: str) -> None:
    board = FogOfWarBoard(fen)
    before = board.observation(side)
    board.push_uci(move)
    assert change_text(before, board.observation(side), side) == text
