"""Files that are replaced as a whole, also by two at the same time."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from obscuro.matches.atomic_file import replace_text, replacing


def test_two_may_replace_a_file_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as first, replacing(path) as second:
        first.write("first")
        second.write("second")
    first.close()
    second.close()
    assert path.read_text() == "first"  # which was done last
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_no_link_that_another_has_put_there_is_followed(tmp_path: Path) -> None:
    """The name of the new file can't be known before."""
    (tmp_path / "other").write_text("untouched")
    (tmp_path / ".file.new").symlink_to(tmp_path / "other")
    replace_text(tmp_path / "file", "text")
    assert (tmp_path / "other").read_text() == "untouched"
    assert (tmp_path / "file").read_text() == "text"


def test_the_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    replace_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_after_an_error_the_old_text_is_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ValueError, match="no"), replacing(path) as stream:
        stream.write("new")
        raise ValueError("no")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
