"""The picture of a game's page."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from tests.browser import GROUP
from tests.docs.pages import ROOT, page
from tests.viewer.recorded import SHORT_GAME
from tools.record.page_picture import main

PICTURE = ROOT / "docs" / "pictures" / "shown.png"


@pytest.mark.xdist_group(GROUP)
def test_the_picture_is_of_the_page_in_a_window_of_this_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game, out = tmp_path / "game.pgn", tmp_path / "page.png"
    game.write_text(SHORT_GAME, encoding="utf-8")
    words = [str(game), "--ply", "3", "--piece", "King", "--width", "400", "--height", "300"]
    code = main([*words, "--dark", "--out", str(out)])
    if "there is no Chromium" in capsys.readouterr().err:
        pytest.skip("there is no Chromium; engine_bin/install_chromium installs it")
    assert code == 0
    with Image.open(out) as picture:
        assert picture.size == (400, 300)
        colors = picture.convert("RGB").getcolors(1 << 20)
    assert colors is not None
    most = max(colors)[1]
    assert isinstance(most, tuple) and sum(most) < 150  # the dark paper


def test_what_is_missing_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "none.pgn"), "--out", str(tmp_path / "none.png")]) == 1
    assert capsys.readouterr().err.startswith("page_picture: can't read")


def test_the_picture_in_the_repository_is_small_and_shown() -> None:
    with Image.open(PICTURE) as picture:
        assert picture.size == (1280, 800)
    assert PICTURE.stat().st_size < 150_000
    assert any(target == "pictures/shown.png" for _, target in page("docs/arena.md").links())
