"""The arena's page on tournaments: its files can be read, and its tables list every key."""

from __future__ import annotations

import re
from pathlib import Path

from obscuro.matches.tournament_file import FILE_KEYS, PLAYER_KEYS, parse_tournament
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")


def keys_of_table(after: str) -> set[str]:
    """The keys in the first column of the first table after this text."""
    rows = PAGE.partition(after)[2].partition("|---|---|---|\n")[2].partition("\n\n")[0]
    return {key for row in rows.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_key_is_on_the_page() -> None:
    assert keys_of_table("The keys of the file are:") == FILE_KEYS.keys() - {"player"}
    assert keys_of_table("Each table `[[player]]` is one player:") == PLAYER_KEYS.keys()


def test_the_files_on_the_page_can_be_read() -> None:
    files = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    events = [parse_tournament(text, Path("page.toml")).event for text in files]
    assert [event.name for event in events] == ["First round robin", "Time scaling"]
