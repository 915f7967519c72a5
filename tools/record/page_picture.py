r"""Take a picture of a recorded game's page in Chromium, as `obscuro show` writes it.

    python -m tools.record.page_picture docs/pictures/shown.pgn --ply 36 \
        --out docs/pictures/shown.png

docs/pictures/shown.pgn is the second game of

    obscuro match obscuro obscuro --games 2 --movetime 500 --openings none \
        --pgn docs/pictures/shown.pgn

"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from obscuro.engine.machine import usable_cores
from obscuro.viewer.game_file import GameFileError, read_game
from obscuro.viewer.html_page import html_page
from obscuro.viewer.make_document import make_document
from tools.browser import NoBrowserError, running_browser, save_picture
from tools.common import given, tool_parser

MAX_POSITIONS = 1_000_000  # as in `obscuro show`


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.page_picture", __doc__, stores=False)
    parser.add_argument("pgn", type=Path, help="a file of games; see --game")
    parser.add_argument("--game", type=int, default=1, help="its number in the file; default: 1")
    parser.add_argument("--ply", type=int, default=0, help="the position; default: 0, the start")
    parser.add_argument("--piece", default="Any", help="whose belief is shown; default: Any")
    parser.add_argument("--width", type=int, default=1280, help="of the window; default: 1280")
    parser.add_argument("--height", type=int, default=800, help="of the window; default: 800")
    parser.add_argument("--dark", action="store_true", help="in dark colours")
    parser.add_argument("--out", type=Path, required=True, help="the PNG file to write")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Take the picture; returns the exit code."""
    chosen = make_parser().parse_args(given(words))
    try:
        game = read_game(chosen.pgn, chosen.game)
        document = make_document(game, MAX_POSITIONS, usable_cores())
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "game.html")
            page.write_text(html_page(document), encoding="utf-8")
            take_picture(page, chosen)
    except (GameFileError, NoBrowserError, OSError) as error:
        print(f"page_picture: {error}", file=sys.stderr)
        return 1
    return 0


def take_picture(file: Path, chosen: argparse.Namespace) -> None:
    """Open a page in the browser and write what it shows. Raises NoBrowserError."""
    with running_browser() as browser:
        page = browser.new_page(
            viewport={"width": chosen.width, "height": chosen.height},
            color_scheme="dark" if chosen.dark else "light",
        )
        page.goto(f"{file.as_uri()}#{chosen.ply}")
        page.get_by_role("button", name=chosen.piece, exact=True).click()
        save_picture(page, chosen.out)


if __name__ == "__main__":
    sys.exit(main())
