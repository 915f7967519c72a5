"""Debian's Chromium without a window: for tests of pages, and for pictures of them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Programs that will do, as engine_bin/install_chromium looks for them."""

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

COLORS = 256


class NoBrowserError(RuntimeError):
    """There is no Chromium. The message says how to get it."""


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Start the browser, and end it when the block ends. Raises NoBrowserError."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        raise NoBrowserError("there is no Chromium; engine_bin/install_chromium installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def save_picture(page: Page, path: Path) -> None:
    """Write what a page shows as a PNG file. The few colours of ours need a third of the bytes."""
    page.mouse.move(0, 0)
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.quantize(COLORS).save(path, optimize=True)
