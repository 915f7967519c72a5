"""Reads the browser parts: files that `engine_bin/install_browser_parts` fetches at set-up.

They are in every wheel, and not in the repository.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import resources

from obscuro.version import CHECKOUT

NAMES = (
    "chessground.js",
    "chessground.css",
    "chessground.LICENSE",
    "uplot.js",
    "uplot.css",
    "uplot.LICENSE",
)
"""`NAME.js` is an ES module, which our own modules import as `NAME`."""


FETCH = os.path.join(CHECKOUT, "engine_bin", "install_browser_parts")
"""What fetches the parts, in a checkout."""


class MissingPartsError(RuntimeError):
    """The parts were not fetched. The message is one line for the user."""


@cache
def read_part(name: str) -> str:
    """Return the text of one of NAMES. Raises MissingPartsError; KeyError for another name."""
    if name not in NAMES:
        raise KeyError(name)
    file = resources.files("obscuro.viewer.browser_parts") / "files" / name
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise MissingPartsError(
            f"the browser part {name} is missing; "
            + (f"run: {FETCH}" if os.path.exists(FETCH) else "install a wheel, which has it")
        ) from None
