"""Files that are replaced as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from obscuro.matches.atomic_file import replace_text, replacing


def test_a_link_at_a_name_that_can_be_guessed_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".games.pgn.new").symlink_to(victim)
    replace_text(tmp_path / "games.pgn", "new")
    assert victim.read_text() == "mine"
    assert (tmp_path / "games.pgn").read_text() == "new"


def test_two_may_replace_one_file_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with replacing(path) as one:
        one.write("one")
        with replacing(path) as two:
            two.write("two")
        two.close()
    one.close()
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    replace_text(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path):
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
