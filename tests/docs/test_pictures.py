"""The picture of the README shows a real game, and the fogged board hides what it must hide."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import chess
import pytest

from tests.docs.pages import ROOT, page
from tools.play.picture import HREF, SVG, caption, draw, find, main

GAME = ROOT / "docs" / "pictures" / "game.pgn"
PICTURE = ROOT / "docs" / "pictures" / "game.svg"
MOVE = 10


def pieces(svg: ElementTree.Element) -> Counter[str]:
    """Count the pieces that a board of the picture shows, as `white-rook`."""
    uses = (use.get(HREF) or use.get("href") or "" for use in svg.iter(f"{{{SVG}}}use"))
    return Counter(name.removeprefix("#") for name in uses if name.startswith(("#white", "#black")))


def pieces_of(board: chess.BaseBoard) -> Counter[str]:
    return Counter(
        f"{chess.COLOR_NAMES[piece.color]}-{chess.PIECE_NAMES[piece.piece_type]}"
        for piece in board.piece_map().values()
    )


@pytest.mark.parametrize("side", [chess.WHITE, chess.BLACK])
def test_the_fogged_board_shows_what_the_side_sees_and_the_other_one_everything(
    side: chess.Color,
) -> None:
    moment = find(GAME, 1, MOVE, side)
    fogged, whole = ElementTree.fromstring(draw(moment)).findall(f"{{{SVG}}}svg")
    assert pieces(fogged) == pieces_of(moment.board.fogged(side))
    assert pieces(whole) == pieces_of(moment.board)
    assert pieces(fogged) != pieces(whole)


def test_every_piece_that_is_shown_is_defined_once() -> None:
    root = ElementTree.fromstring(draw(find(GAME, 1, MOVE, chess.WHITE)))
    defined = Counter(element.get("id") for element in root.iter() if element.get("id"))
    assert set(defined.values()) == {1}
    assert set(pieces(root)) <= set(defined)


def test_the_picture_in_the_repository_is_of_this_game() -> None:
    moment = find(GAME, 1, MOVE, chess.WHITE)
    root = ElementTree.parse(PICTURE).getroot()
    assert root.findtext(f"{{{SVG}}}title") == caption(moment)
    boards = [pieces(board) for board in root.findall(f"{{{SVG}}}svg")]
    assert boards == [pieces_of(moment.board.fogged(chess.WHITE)), pieces_of(moment.board)]
    assert any(target == "docs/pictures/game.svg" for _, target in page("README.md").links())


def test_the_command_draws_it_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "game.svg"
    words = [str(GAME), "--out", str(out), "--side", "black", "--move"]
    assert main([*words, "3"]) == 0
    assert "Black sees 33 of 64 squares, holds 189 positions possible, and plays 3…Bg7" in (
        out.read_text(encoding="utf-8")
    )
    assert main([*words, "300"]) == 1
    assert "has no move 300 of black" in capsys.readouterr().err
