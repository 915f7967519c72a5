r"""Draw a position of a recorded game: what one side saw, beside the whole board, as one SVG.

    python -m tools.play.picture docs/pictures/game.pgn --move 10 --out docs/pictures/game.svg

The left board shows what the side to move saw before its move, and an arrow for the move it played.
The right board shows the referee's position, with the squares that the side did not see in shadow.
The game is one that `obscuro match --pgn` wrote. If the engine's comment on the move tells the size
of its belief, the caption tells it too. docs/pictures/game.pgn is the first game of

    obscuro match obscuro obscuro --games 3 --movetime 1000 --option-a Threads=1 \
        --option-b Threads=1 --pgn docs/pictures/game.pgn

"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import chess
import chess.pgn
import chess.svg

from obscuro.rules.board import FogOfWarBoard
from tools.common import given, tool_parser

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"

BOARD = 390  # the size of a board of python-chess, in its own units
GAP = 30
HEADING = 34
CAPTION = 40
WIDTH = 2 * BOARD + GAP
HEIGHT = HEADING + BOARD + CAPTION

FOG = "#56616e"
SHADOW = "#38424ea0"
PAPER = "#ffffff"
INK = "#24292f"


class Moment(NamedTuple):
    """A position of a game before a move, and what the game's file says about it."""

    board: FogOfWarBoard
    move: chess.Move
    belief: int | None  # positions that the mover held possible; None: not told


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.picture", __doc__, stores=False)
    parser.add_argument("pgn", type=Path, help="a file of games; see --game")
    parser.add_argument("--game", type=int, default=1, help="its number in the file; default: 1")
    parser.add_argument("--move", type=int, required=True, help="the number of the move")
    parser.add_argument("--side", choices=("white", "black"), default="white")
    parser.add_argument("--out", type=Path, required=True, help="the SVG file to write")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Draw the picture; returns the exit code."""
    chosen = make_parser().parse_args(given(words))
    try:
        moment = find(chosen.pgn, chosen.game, chosen.move, chosen.side == "white")
    except (OSError, ValueError) as error:
        print(f"picture: {error}", file=sys.stderr)
        return 1
    chosen.out.write_text(draw(moment), encoding="utf-8")
    return 0


def find(path: Path, game: int, move: int, side: chess.Color) -> Moment:
    """Read the position before a side's move. Raises ValueError if there is none, and OSError."""
    with path.open(encoding="utf-8") as stream:
        found = None
        for _ in range(game):
            found = chess.pgn.read_game(stream)
    if found is None:
        raise ValueError(f"{path} has no game {game}")
    for node in found.mainline():
        before = node.parent.board()
        if (before.fullmove_number, before.turn) == (move, side):
            assert isinstance(before, FogOfWarBoard), "the header Variant is missing"
            belief = re.search(r"\|P\| (\d+)", node.comment)
            return Moment(before, node.move, int(belief[1]) if belief else None)
    raise ValueError(f"game {game} of {path} has no move {move} of {chess.COLOR_NAMES[side]}")


def draw(moment: Moment) -> str:
    """Return the picture as the text of an SVG file."""
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.Element(
        f"{{{SVG}}}svg", {"viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": str(WIDTH)}
    )
    text = caption(moment)
    ElementTree.SubElement(root, f"{{{SVG}}}title").text = text
    ElementTree.SubElement(
        root, f"{{{SVG}}}rect", {"width": "100%", "height": "100%", "fill": PAPER}
    )
    mover = chess.COLOR_NAMES[moment.board.turn].capitalize()
    whole = full_board(moment)
    drawn = {element.get("id") for element in whole.iter() if element.get("id")}
    for x, heading, board in (
        (0, f"What {mover} sees", fogged_board(moment, drawn)),
        (BOARD + GAP, "The position", whole),
    ):
        _text(root, x + BOARD / 2, HEADING - 12, 19, heading)
        board.set("x", str(x))
        board.set("y", str(HEADING))
        root.append(board)
    _text(root, WIDTH / 2, HEIGHT - 14, 16, text)
    ElementTree.indent(root, " ")
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def caption(moment: Moment) -> str:
    """Return one line about the position."""
    board = moment.board
    mover = chess.COLOR_NAMES[board.turn].capitalize()
    dots = "." if board.turn else "…"
    played = f"{board.fullmove_number}{dots}{board.san(moment.move)}"
    seen = len(board.vision(board.turn))
    text = f"{mover} sees {seen} of 64 squares"
    if moment.belief is not None:
        text += f", holds {moment.belief:,} positions possible"
    return f"{text}, and plays {played}"


def fogged_board(moment: Moment, drawn: set[str | None]) -> ElementTree.Element:
    """Draw what the mover sees. drawn: pieces that the other board of the picture defines."""
    board = moment.board
    hidden = chess.SquareSet(~board.vision_mask(board.turn) & chess.BB_ALL)
    svg = _board(board.fogged(board.turn), moment, dict.fromkeys(hidden, FOG), arrow=True)
    for definitions in svg.iter(f"{{{SVG}}}defs"):
        for element in list(definitions):
            if element.get("id") in drawn:
                definitions.remove(element)
    return svg


def full_board(moment: Moment) -> ElementTree.Element:
    """Draw all pieces, with the squares that the mover does not see in shadow."""
    board = moment.board
    hidden = chess.SquareSet(~board.vision_mask(board.turn) & chess.BB_ALL)
    return _board(board, moment, dict.fromkeys(hidden, SHADOW), arrow=False)


def _board(
    board: chess.BaseBoard, moment: Moment, fill: dict[chess.Square, str], *, arrow: bool
) -> ElementTree.Element:
    move = moment.move
    text = chess.svg.board(
        board,
        orientation=moment.board.turn,
        fill=fill,
        arrows=[chess.svg.Arrow(move.from_square, move.to_square)] if arrow else [],
        size=BOARD,
    )
    svg = ElementTree.fromstring(text)
    for element in svg.findall(f"{{{SVG}}}desc"):  # the board as text: noise in a picture
        svg.remove(element)
    return svg


def _text(root: ElementTree.Element, x: float, y: float, size: int, text: str) -> None:
    font = {"font-family": "sans-serif", "font-size": str(size), "fill": INK}
    place = {"x": str(x), "y": str(y), "text-anchor": "middle"}
    ElementTree.SubElement(root, f"{{{SVG}}}text", font | place).text = text


if __name__ == "__main__":
    sys.exit(main())
