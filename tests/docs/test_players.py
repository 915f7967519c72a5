"""The table of players in docs/protocol.md holds exactly the players, with their options."""

from __future__ import annotations

import re

from obscuro.players.roster import PLAYERS
from tests.docs.pages import page


def test_the_table_names_every_player_with_its_options() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", page("docs/protocol.md").text, re.M)
    said = {name: re.findall(r"`([^`]+)`", options) for name, options in rows if name in PLAYERS}
    assert list(said) == list(PLAYERS)
    assert said.pop("obscuro") == []
    for name, options in said.items():
        table = PLAYERS[name].options
        keys = [key.name for option in table for key in option.keys]
        assert options == [option.name for option in table] + keys


def test_the_default_sample_is_on_the_page() -> None:
    keys = next(option for option in PLAYERS["depth1"].options if option.keys).keys
    sample = next(key for key in keys if key.name == "sample_size")
    text = " ".join(page("docs/protocol.md").text.split())
    assert f"by default {sample.default}" in text
