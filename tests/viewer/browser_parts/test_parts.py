"""The parts that others wrote: they are there, and are what our pages take them for."""

from __future__ import annotations

import pytest

from obscuro.viewer.browser_parts import parts
from obscuro.viewer.browser_parts.parts import NAMES, MissingPartsError, read_part


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_text(name: str) -> None:
    assert len(read_part(name)) > 500


def test_the_modules_stand_alone() -> None:
    for name in ("chessground.js", "uplot.js"):
        text = read_part(name)
        assert "export{" in text or "export {" in text
        assert "import " not in text.replace("import this", "")


def test_no_part_names_a_file_to_load() -> None:
    for name in ("chessground.css", "uplot.css"):
        text = read_part(name)
        assert "@import" not in text
        assert text.count("url(") == text.count("url('data:") + text.count('url("data:')


def test_no_other_file_can_be_read() -> None:
    with pytest.raises(KeyError):
        read_part("../parts.py")


def test_a_missing_part_is_one_line_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    read_part.cache_clear()
    monkeypatch.setattr(parts.resources, "files", lambda package: _Nowhere())
    with pytest.raises(MissingPartsError) as caught:
        read_part("uplot.js")
    assert "engine_bin/install_browser_parts" in str(caught.value)
    assert "\n" not in str(caught.value)


class _Nowhere:
    """A folder without files."""

    def __truediv__(self, name: str) -> _Nowhere:
        return self

    def read_text(self, encoding: str) -> str:
        raise FileNotFoundError
