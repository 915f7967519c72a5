"""TOML that a person has written: what is wrong with it is one line with the line's number."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")


class TomlError(ValueError):
    """A text is no TOML. The text of the error is one line for the user."""


def read_toml(text: str, path: Path) -> dict[str, Any]:
    """Return the table that a text holds. path: where it came from. Raises TomlError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = place[1] if place and place[1] else len(text.splitlines())
        what = _PLACE.sub("", str(error))
        raise TomlError(f"{path}, line {line}: {what[:1].lower()}{what[1:]}") from None
    except RecursionError:
        raise TomlError(f"{path}: its lists and tables are nested too deep") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise TomlError(f"{path}: a number has too many digits") from None
