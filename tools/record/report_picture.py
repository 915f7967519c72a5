r"""Take a picture of a tournament's report in Chromium.

    obscuro tournament docs/examples/round_robin.toml --out /tmp/round_robin
    python -m tools.record.report_picture /tmp/round_robin/report.html \
        --out docs/pictures/report.png

"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.browser import NoBrowserError, running_browser
from tools.common import given, tool_parser


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.record.report_picture", __doc__, stores=False)
    parser.add_argument("report", type=Path, help="the HTML file of a report")
    parser.add_argument("--width", type=int, default=1000, help="of the window; default: 1000")
    parser.add_argument("--height", type=int, default=900, help="of the window; default: 900")
    parser.add_argument("--dark", action="store_true", help="in dark colours")
    parser.add_argument("--out", type=Path, required=True, help="the PNG file to write")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Take the picture; returns the exit code."""
    chosen = make_parser().parse_args(given(words))
    if not chosen.report.is_file():
        print(f"report_picture: there is no file {chosen.report}", file=sys.stderr)
        return 1
    try:
        with running_browser() as browser:
            page = browser.new_page(
                viewport={"width": chosen.width, "height": chosen.height},
                color_scheme="dark" if chosen.dark else "light",
            )
            page.goto(chosen.report.resolve().as_uri())
            page.screenshot(path=chosen.out)
    except NoBrowserError as error:
        print(f"report_picture: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
