"""The numbers that the pages give for options and constants are those of the code."""

from __future__ import annotations

import argparse
import re

import pytest

from obscuro.cli.arguments import build_parser
from obscuro.cli.play_command import HELP
from obscuro.engine import turn_time
from obscuro.search import parameters
from obscuro.uci import order
from obscuro.web.web_limits import WebLimits
from tests.docs.pages import page


def subparsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of each command."""
    for action in build_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError("the command line has no commands")


def rows(name: str, heading: str) -> list[list[str]]:
    """Return the rows of the table under a heading of a page, as cells."""
    text = page(name).text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines[2:]]


def told(default: object) -> str:
    """Return how the bridge's page tells a default."""
    if isinstance(default, bool):
        return "yes" if default else "no"
    if default is None or default == []:
        return "never|none"
    return str(default).replace("-", "−")


def test_the_table_of_the_bridge_has_all_options_with_their_defaults() -> None:
    actions = {
        option: action
        for action in subparsers()["bridge"]._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }
    written: dict[str, str] = {}
    for names, defaults, _ in rows("docs/bridge.md", "Options"):
        options = re.findall(r"--[a-z0-9-]+", names)
        values = [value.strip("` ") for value in defaults.split(", ")]
        written.update(zip(options, values, strict=True))
    assert written.keys() == actions.keys()
    wrong = [
        f"{option}: {written[option]}, not {told(action.default)}"
        for option, action in actions.items()
        if written[option] not in told(action.default).split("|")
    ]
    assert wrong == []


def test_the_page_of_the_web_server_has_its_limits() -> None:
    limits = WebLimits()
    written = {name: (of_all, own) for name, of_all, own in rows("docs/web.md", "Safety")}

    def often(burst: float, rate: float) -> str:
        then = f"{rate:g} in a second" if rate > 1 else f"one in {1 / rate:g} s"
        return f"{burst:g} at once, then {then}"

    told = {
        "connections": (f"{limits.connections:,}", f"{limits.address_connections}"),
        "requests": (
            "one after the other",
            often(limits.request_burst, limits.request_rate),
        ),
        "sockets": (
            f"{limits.sockets:,}, of a person's game {limits.game_sockets}",
            f"{limits.address_sockets}",
        ),
        "unfinished games of a visitor": ("-", f"{limits.visitor_games}"),
        "new games, rematches too": ("-", often(limits.created_burst, limits.created_rate)),
        "a message, a request": (f"{limits.message >> 10} KiB", "-"),
        "messages on a socket": ("-", often(limits.message_burst, limits.message_rate)),
    }
    assert limits.body == limits.message
    assert {name: written[name] for name in told} == told
    text = page("docs/web.md").text
    assert f"after {limits.sleep_after / 60:g} minutes" in text
    assert f"all visitors {limits.stored:,} games" in text
    assert f"its clock shows {limits.pause_clock:g} s or less" in text
    assert limits.pause == 0.5  # half a second


def test_the_readme_lists_every_command() -> None:
    listed = {
        word
        for names, _ in rows("README.md", "Command line")
        for word in re.findall(r"`obscuro ([a-z]+)", names)
    }
    assert listed == set(subparsers())


def test_the_players_page_lists_what_can_be_typed() -> None:
    listed = " ".join(typed for typed, _ in rows("docs/playing.md", "In a terminal"))
    known = {line.partition(":")[0] for line in HELP} - {"a move"} | {"help"}
    assert set(re.findall(r"`([a-z]+)`", listed)) == known
    moves = HELP[0].partition(": ")[2].split(", ")
    assert all(f"`{move}`" in listed for move in moves)


def percent(share: float) -> str:
    return f"{share * 100:g} %"


CLOCK = (
    f"1/{turn_time.MOVES_TO_GO} of what remains + {percent(turn_time.INCREMENT_SHARE)}",
    f"{turn_time.UNSETTLED_FACTOR:g} times",
    f"at most {percent(turn_time.SAMPLING_SHARE)}",
    f"{percent(parameters.SOLVER_TAIL)} before its end",
    f"{percent(parameters.EASY_PROBABILITY)} of the strategy",
    f"off by {percent(round(parameters.EXTENSION - 1, 6))}",
    f"last {percent(round(1 - parameters.UNSETTLED_SINCE, 6))} of the time",
    f"by {parameters.UNSETTLED_LOSS:g} or more",
    f"{order.STOP_SECONDS * 1000:g} ms after `stop`",
    f"{order.FLAG_SECONDS * 1000:g} ms before",
)


@pytest.mark.parametrize("fact", CLOCK)
def test_the_page_of_the_clock_tells_its_constants(fact: str) -> None:
    text = " ".join(page("docs/clock.md").text.split())
    assert fact in text
