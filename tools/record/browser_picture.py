r"""Take a picture in Chromium: of a recorded game's page, a tournament's report, or `obscuro web`.

    python -m tools.record.browser_picture game docs/pictures/shown.pgn --ply 36 \
        --out docs/pictures/shown.png
    python -m tools.record.browser_picture report /tmp/round_robin/report.html \
        --out docs/pictures/report.png
    python -m tools.record.browser_picture start --out docs/pictures/web_start.png
    python -m tools.record.browser_picture play --select d4 --out docs/pictures/web_play.png
    python -m tools.record.browser_picture play --dark --width 390 --height 844 \
        --out docs/pictures/web_phone.png
    python -m tools.record.browser_picture look docs/pictures/look.pgn --height 900 \
        --out docs/pictures/web_look.png

shown.pgn and look.pgn are the second games of

    obscuro match obscuro obscuro --games 2 --movetime 500 --openings none \
        --pgn docs/pictures/shown.pgn
    obscuro match obscuro greedy --games 2 --movetime 300 --openings none \
        --pgn docs/pictures/look.pgn

The report is that of `obscuro tournament docs/examples/round_robin.toml --out /tmp/round_robin`. For
start, play and look the server must run, by `obscuro web --no-browser`. The engine answers as it
likes, so no two pictures of a game are the same.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Error, Page, expect

from obscuro.machine import usable_cores
from obscuro.viewer.game_file import GameFileError, read_game
from obscuro.viewer.html_page import html_page
from obscuro.viewer.make_document import make_document
from tools.browser import NoBrowserError, running_browser, save_picture
from tools.common import given, tool_parser

MAX_POSITIONS = 1_000_000  # as in `obscuro show`
MOVES = "e4 Nf3 d4 Nc3 Bc4 O-O Qe2 Be3 Rad1 Bf7 Bxf7 Ne5 Nxe5 Qh5"
WAIT = 60_000  # ms
ANALYSIS = 600_000  # ms
OF_FILES, OF_SERVER = ("game", "report", "look"), ("start", "play", "look")


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.browser_picture", __doc__, stores=False)
    kinds = dict.fromkeys((*OF_FILES, *OF_SERVER))
    parser.add_argument("page", choices=kinds, help="what to show")
    parser.add_argument("file", nargs="?", type=Path, help="of game, report and look")
    parser.add_argument("--url", default="http://127.0.0.1:8000/", help="default: %(default)s")
    parser.add_argument("--level", default="1", help="of the engine; default: %(default)s")
    parser.add_argument("--moves", default=MOVES, help="White's; illegal ones are left out")
    parser.add_argument("--game", type=int, default=1, help="its number in the file; default: 1")
    parser.add_argument("--ply", type=int, help="of the game; look: default a move that lost much")
    parser.add_argument("--piece", default="Any", help="game: whose belief; default: %(default)s")
    parser.add_argument("--view", default="Three boards", help="of look; default: %(default)s")
    parser.add_argument("--select", help="play: the square of the piece whose moves are shown")
    parser.add_argument("--width", type=int, default=1280, help="of the window; default: 1280")
    parser.add_argument("--height", type=int, default=800, help="of the window; default: 800")
    parser.add_argument("--dark", action="store_true", help="in dark colours")
    parser.add_argument("--out", type=Path, required=True, help="the PNG file to write")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Take the picture; returns the exit code."""
    parser = make_parser()
    chosen = parser.parse_args(given(words))
    if (chosen.file is None) == (chosen.page in OF_FILES):
        parser.error(f"{chosen.page} takes {'a' if chosen.file is None else 'no'} file")
    try:
        with running_browser() as browser, tempfile.TemporaryDirectory() as folder:
            page = browser.new_page(
                viewport={"width": chosen.width, "height": chosen.height},
                color_scheme="dark" if chosen.dark else "light",
            )
            page.set_default_timeout(WAIT)
            open_page(page, chosen, Path(folder))
            save_picture(page, chosen.out)
    except (Error, GameFileError, NoBrowserError, OSError) as error:
        print(f"browser_picture: {error}", file=sys.stderr)
        return 1
    return 0


def open_page(page: Page, chosen: argparse.Namespace, folder: Path) -> None:
    """Open what was asked for. folder: for a file that is only shown."""
    if chosen.page == "game":
        game = read_game(chosen.file, chosen.game)
        file = folder / "game.html"
        text = html_page(make_document(game, MAX_POSITIONS, usable_cores()))
        file.write_text(text, encoding="utf-8")
        page.goto(f"{file.as_uri()}#{chosen.ply or 0}")
        page.get_by_role("button", name=chosen.piece, exact=True).click()
    elif chosen.page == "report":
        page.goto(chosen.file.resolve(strict=True).as_uri())
    else:
        page.goto(chosen.url)
        expect(page.locator("#level option")).not_to_have_count(0)
        if chosen.page == "play":
            play(page, chosen)
        elif chosen.page == "look":
            look(page, chosen)


def look(page: Page, chosen: argparse.Namespace) -> None:
    """Open the file, let the engine analyse its game, and go to the ply."""
    page.locator("#file").set_input_files(chosen.file)
    page.wait_for_url("**/look/*")
    page.get_by_role("button", name="Analyse the game").click()
    expect(page.locator("#method")).to_contain_text("Analysis: by", timeout=ANALYSIS)
    page.get_by_role("button", name=chosen.view, exact=True).click()
    if chosen.ply is None:
        page.keyboard.press("m")
    else:
        page.evaluate("ply => location.hash = ply", str(chosen.ply))
        expect(page.locator("#ply")).to_have_value(str(chosen.ply))
    page.mouse.move(0, 0)
    page.locator(":focus").blur()


def play(page: Page, chosen: argparse.Namespace) -> None:
    """Start a game as White, and play the moves until the game ends or they do."""
    page.get_by_role("radio", name="White").check()
    page.locator("#level").select_option(chosen.level)
    page.locator("#time").select_option(label="5 min + 3 s a move")
    page.get_by_role("button", name="Play", exact=True).click()
    turn = page.locator("#turn")
    sheet = page.locator("#sheet tbody tr")
    number = 0
    for move in chosen.moves.split():
        expect(turn).to_have_text(re.compile("^Your move|^(You|Draw)"), timeout=WAIT)
        if page.locator("#end").is_visible():
            return
        page.get_by_label("Type a move").fill(move)
        page.keyboard.press("Enter")
        if page.locator("#notice").inner_text():
            continue  # it can't be played
        number += 1
        expect(sheet).to_have_count(number, timeout=WAIT)
        expect(turn).to_have_text(re.compile("thinks|^Your|^(You|Draw)"), timeout=WAIT)
    expect(turn).to_have_text(re.compile("^Your move|^(You|Draw)"), timeout=WAIT)
    page.locator("#typed").fill("")
    page.locator("#typed").blur()
    if chosen.select:
        page.locator(f'[data-square="{chosen.select}"]').focus()
        page.keyboard.press("Enter")


if __name__ == "__main__":
    sys.exit(main())
