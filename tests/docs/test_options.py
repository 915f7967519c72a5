"""The tables of options, of `Search`'s keys, and of players hold exactly these, with their facts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obscuro.engine.options import OPTIONS, SEARCH_KEYS
from obscuro.machine import total_memory, usable_cores
from obscuro.players.roster import PLAYERS
from tests.docs.pages import page
from tools.record.option_table import BEGIN, END, OF_MACHINE, TABLES, with_table


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_the_table_is_what_the_command_writes_and_each_row_says_what_it_does(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert with_table(text, TABLES[page]) == text
    table = text.partition(BEGIN)[2].partition(END)[0]
    rows = re.findall(r"^\| `([^`]+)` \|.*\| ([^|]*) \|$", table, re.M)
    assert [name for name, _ in rows] == [option.name for option in TABLES[page]]
    assert all(len(what) > 10 for _, what in rows)


def test_a_false_default_is_put_right_and_the_words_stay() -> None:
    text = page("docs/protocol.md").text
    false = text.replace("| spin | `30` |", "| spin | `31` |")
    assert false != text
    assert with_table(false, OPTIONS) == text


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="begin options"):
        with_table("no table", OPTIONS)


def test_the_words_for_what_depends_on_the_machine_are_true() -> None:
    by_name = {option.name: option for option in (*OPTIONS, *SEARCH_KEYS)}
    memory = total_memory() or 4 << 30
    said = {
        ("Threads", "default"): min(usable_cores(), 4),
        ("Hash", "default"): min(max(memory // (1 << 20) // 8, 64), 1024),
        ("Hash", "maximum"): max(memory // (1 << 20), 1024),
        ("eval_cache", "maximum"): max(memory // (1 << 20), 1024),
        ("Max Positions", "default"): min(max(memory // 800, 100_000), 4_000_000),
        ("Max Positions", "maximum"): 8_000_000,
    }
    assert said.keys() == OF_MACHINE.keys()
    assert said == {(name, fact): getattr(by_name[name], fact) for name, fact in said}


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
