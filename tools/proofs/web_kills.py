"""Kills the web server again and again while people play, and looks for moves that got lost.

    python -m tools.proofs.web_kills --people 20 --seconds 300 --every 10

A move is confirmed when the server's state that the player gets has it. After each start, every
player compares what the server has of the game with the moves that were confirmed; at the end, all
games of all players are compared once more. The server is the real one, but its engines are random
movers in its process. Exits with 1 if a move is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools.common import given, publish, say, table, tool_parser
from tools.proofs.web_people import Person, ServerUnderTest, playing

THINKS = (0.05, 0.4)
"""Seconds for a move: a kill should meet many moves."""


async def measure(people: int, seconds: float, every: float) -> dict[str, Any]:
    """Return the figures. every: seconds from one kill to the next, a start included."""
    with tempfile.TemporaryDirectory() as folder:
        server = ServerUnderTest(Path(folder) / "data", games=people)
        players = [Person(server.url, f"127.2.0.{i + 1}", i, THINKS) for i in range(people)]
        kills = 0
        starts: list[float] = []
        end = time.monotonic() + seconds
        try:
            async with playing(players):
                while time.monotonic() < end:
                    since = starts[-1] if starts else 0.0
                    await asyncio.sleep(max(every - since, every / 4))
                    await asyncio.to_thread(server.kill)
                    kills += 1
                    begin = time.monotonic()
                    await asyncio.to_thread(server.start)
                    starts.append(time.monotonic() - begin)
                    say(f"{kills} kills, {_moves(players)} moves")
                await asyncio.sleep(every)
            await asyncio.gather(*(player.check() for player in players))
        finally:
            server.kill()
    return {
        "people": people,
        "seconds": seconds,
        "kills": kills,
        "starts": starts,
        "games": sum(len(player.confirmed) for player in players),
        "moves": _moves(players),
        "broken": sum(sum(player.faults.values()) for player in players),
        "lost": [text for player in players for text in player.lost],
    }


def _moves(players: Sequence[Person]) -> int:
    return sum(len(moves) for player in players for moves in player.confirmed.values())


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the table."""
    starts = sorted(figures["starts"])
    yield from table(
        ["people", "seconds", "kills", "a start, median, s", "games", "confirmed moves", "lost"],
        [
            [
                figures["people"],
                f"{figures['seconds']:.0f}",
                figures["kills"],
                f"{starts[len(starts) // 2]:.1f}" if starts else "-",
                figures["games"],
                figures["moves"],
                len(figures["lost"]),
            ]
        ],
        "rrrrrrr",
    )
    for text in figures["lost"]:
        yield f"- {text}"


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.web_kills", __doc__)
    parser.add_argument("--people", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--every", type=float, default=10.0)
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    figures = asyncio.run(measure(told.people, told.seconds, told.every))
    publish(parser, words, told.raw, figures, render)
    return 1 if figures["lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
