"""Render the pages under docs/results from their raw files.

    python -m tools.results.pages
    python -m tools.results.pages --check

Only what stands between marks changes; see `tools/results/render.py`. With --check nothing is
written, and the exit code is 1 if a page or a picture is not what its raw files make of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.common import given, say, tool_parser
from tools.results.manifest import MANIFEST, ManifestError, load
from tools.results.raw import RawFileError
from tools.results.render import RenderError, draw, is_current, render_page


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.results.pages", __doc__, stores=False)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is old")
    parser.add_argument("--manifest", type=Path, default=MANIFEST, metavar="FILE")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Render, or check; returns the exit code."""
    arguments = make_parser().parse_args(given(words))
    old = []
    try:
        manifest = load(arguments.manifest)
        for page in manifest.pages.values():
            file = manifest.page_file(page)
            text = render_page(manifest, page)
            if text != file.read_text(encoding="utf-8"):
                old.append(str(file))
                if not arguments.check:
                    file.write_text(text, encoding="utf-8")
            for picture in page.pictures.values():
                if not is_current(manifest, page, picture):
                    old.append(picture.file)
                    if not arguments.check:
                        draw(manifest, page, picture)
    except (ManifestError, RawFileError, RenderError, OSError) as error:
        say(f"pages: {error}")
        return 2
    for name in old:
        say(f"{name} {'is not what its raw files say' if arguments.check else 'is written'}")
    if not old:
        say("all pages are as their raw files say")
    return int(arguments.check and bool(old))


if __name__ == "__main__":
    sys.exit(main())
