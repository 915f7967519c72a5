"""Plays the real lichess-bot, unchanged, against the tests' server, and our bridge beside it.

    python -m tools.proofs.lichess_bot --lichess-bot ../lichess-bot
    python -m tools.proofs.lichess_bot --lichess-bot ../lichess-bot --only takeback --clients lichess-bot

Each scenario is a game, or a challenge, in which something happens. It passes if the game goes on
to its end. lichess-bot is a checkout that git calls unchanged. The program runs in a copy, with
docs/examples/lichess_bot. Its interpreter is .venv/bin/python in the checkout unless --python says
otherwise. Exits with 1 if lichess-bot fails in a scenario that docs/lichess_bot.md promises.
"""

from __future__ import annotations

import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.bots.lichess_server import lichess_serving
from tools.common import given, publish, say, table, tool_parser
from tools.proofs.bot_scenarios import (
    SCENARIOS,
    BotClient,
    BridgeClient,
    CheckoutError,
    ClientScenario,
    ClientStage,
    LichessBotClient,
    StageError,
)
from tools.results.manifest import Loaded

TOKEN_ROW = "token"
CLIENTS = (LichessBotClient.name, BridgeClient.name)


def make_parser() -> ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.proofs.lichess_bot", __doc__)
    names = [scenario.name for scenario in SCENARIOS]
    parser.add_argument(
        "--lichess-bot", type=Path, metavar="CHECKOUT", required=True, help="an unchanged checkout"
    )
    parser.add_argument(
        "--python",
        type=Path,
        metavar="INTERPRETER",
        help="one with lichess-bot's requirements; default: .venv/bin/python of the checkout",
    )
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--clients", nargs="+", choices=CLIENTS, default=CLIENTS, help="default: both"
    )
    return parser


def run_all(client: BotClient, scenarios: Sequence[ClientScenario]) -> Iterator[dict[str, Any]]:
    """Play the scenarios in turn; yield the name, what the client did, and whether it passed."""
    with lichess_serving() as server:
        stage = ClientStage(server, client)
        try:
            stage.start()
            for scenario in scenarios:
                begin = time.monotonic()
                try:
                    said, passed = scenario.run(stage), True
                except StageError as error:
                    said, passed = str(error), False
                    stage.clear()
                say(f"{client.name}, {scenario.name}: {said} ({time.monotonic() - begin:.0f} s)")
                yield {"name": scenario.name, "passed": passed, "said": said}
            shows = client.shows_token()
            yield {"name": TOKEN_ROW, "passed": not shows, "said": "yes" if shows else "no"}
        finally:
            client.kill()


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield a table with a row for each scenario, and a column for each client."""
    clients: dict[str, list[dict[str, Any]]] = figures["clients"]
    what = {each.name: each.what for each in SCENARIOS}
    what[TOKEN_ROW] = "the token is in a log, a game or a command line"
    results = {(client, each["name"]): each for client in clients for each in clients[client]}
    rows = [
        [text, *(_cell(results.get((client, name))) for client in clients)]
        for name, text in what.items()
        if any((client, name) in results for client in clients)
    ]
    yield f"lichess-bot {figures['version']}, unchanged but for its file of handlers."
    yield ""
    yield from table(["what happens", *clients], rows, "l" * (1 + len(clients)))


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the table of `render` for the clients of several runs together."""
    clients = {name: rows for each in loaded for name, rows in each.raw.data["clients"].items()}
    yield from render({"version": loaded[0].raw.data["version"], "clients": clients})


def _cell(result: dict[str, Any] | None) -> str:
    if result is None:
        return ""
    return result["said"] if result["passed"] else f"**{result['said']}**"


def main(words: Sequence[str] | None = None) -> int:
    """Play with both clients; returns the exit code."""
    words = given(words)
    parser = make_parser()
    chosen = parser.parse_args(words)
    python = chosen.python or chosen.lichess_bot / ".venv" / "bin" / "python"
    scenarios = [each for each in SCENARIOS if chosen.only is None or each.name in chosen.only]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            first = LichessBotClient(folder / "lichess-bot", chosen.lichess_bot, python)
            version = first.version()
        except CheckoutError as error:
            parser.error(str(error))
        clients = [first, BridgeClient(folder / "bridge")]
        results = {
            client.name: list(run_all(client, scenarios))
            for client in clients
            if client.name in chosen.clients
        }
    figures = {"version": version, "clients": results}
    publish(parser, words, chosen.raw, figures, render)
    promised = {scenario.name for scenario in SCENARIOS if scenario.promised} | {TOKEN_ROW}
    failed = [
        each["name"]
        for each in results.get(first.name, ())
        if each["name"] in promised and not each["passed"]
    ]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
