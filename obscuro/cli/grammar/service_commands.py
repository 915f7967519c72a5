"""The commands that serve others: programs, servers of games, browsers."""

from __future__ import annotations

import argparse

from obscuro.cli.grammar.flags import (
    Parsers,
    add_command,
    add_list,
    add_number,
    add_option,
    add_quiet,
    whole_number,
)
from obscuro.web.web_limits import WebLimits

ANALYSIS_QUEUE = 1000
"""Queries that `obscuro analyse` holds at most."""
DRAW_SCORE, DRAW_MOVES = -100, 20
"""`obscuro bridge` takes a draw at this score in centipawns or less, after this many moves."""

_ANALYSE_EXAMPLES = """\
examples:
  obscuro analyse < queries.jsonl > answers.jsonl
  obscuro analyse --workers 4 --option Search=posterior_draw=0.7
  obscuro analyse --schema                  print the JSON Schema of the messages

Each line of the input is a query; docs/analyse.md describes it. At the end of the input the program
answers what is left, then it ends. SIGTERM and Ctrl-C end it at once.
"""

_BRIDGE_EXAMPLES = """\
examples:
  OBSCURO_BOT_TOKEN=... obscuro bridge
  OBSCURO_BOT_TOKEN=... obscuro bridge --games 2 --rated casual --log bridge.log
  OBSCURO_BOT_TOKEN=... obscuro bridge --url http://localhost:8123 --option Threads=1
  obscuro bridge --write-config             write bridge.toml, which shows every option
  obscuro bridge --config bridge.toml

The token of the bot account comes from the environment or from --token-file, never from the command
line. The first Ctrl-C leaves when the running games have ended, a second one leaves at once. The
next start resumes a game that was left.
"""

_MISTBOARD_EXAMPLES = """\
examples:
  OBSCURO_MISTBOARD_TOKEN=... obscuro mistboard
  OBSCURO_MISTBOARD_TOKEN=... obscuro mistboard --port 7802 --games 2 --option Threads=1

The service listens on this machine only. The token is a secret of yours, which the Mistboard server
must send; the environment is its only place. docs/mistboard.md says how to tell the server.
"""

_WEB_EXAMPLES = """\
examples:
  obscuro web
  obscuro web --port 8080 --no-browser --data games
  obscuro web --host 0.0.0.0 --allowed-host chess.example.org
  obscuro web --allowed-host chess.example.org --proxy 127.0.0.1 --root-path /fog

Ctrl-C ends it. Unfinished games go on at the next start.
"""


def add_service_commands(commands: Parsers) -> None:
    """Add `analyse`, `bridge`, `mistboard` and `web`."""
    for add in (_add_analyse, _add_bridge, _add_mistboard, _add_web):
        add(commands)


def _add_analyse(commands: Parsers) -> None:
    about = "answer questions about many games: lines of JSON in, lines of JSON out"
    parser = add_command(commands, "analyse", about, _ANALYSE_EXAMPLES)
    add_number(
        parser, "--workers", "engines that work at the same time; default: one for each core"
    )
    add_number(parser, "--queue", "most queries that have not ended", default=ANALYSIS_QUEUE)
    add_option(parser, "set an option of all engines")
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of the messages, and leave"
    )


def _add_bridge(commands: Parsers) -> None:
    about = "play as a bot account on a server with the lichess bot API"
    parser = add_command(commands, "bridge", about, _BRIDGE_EXAMPLES)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="take the options from this file; those of the command line come first",
    )
    parser.add_argument(
        "--write-config",
        metavar="FILE",
        nargs="?",
        const="bridge.toml",
        help="write a file for --config that shows every option, and leave; default: bridge.toml",
    )
    add_bridge_options(parser)


def add_bridge_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that a file for `obscuro bridge --config` may set too."""
    parser.add_argument(
        "--url", default="https://www.pychess.org", help="the server; default: pychess.org"
    )
    add_number(parser, "--games", "games played at the same time", default=1)
    add_number(parser, "--leave-after", "leave after N games")
    _add_challenges(parser)
    _add_conduct(parser)
    add_option(parser, "set an option of the engine")
    for flag, metavar, what in (
        ("pgn", "PATH", "write each game into this file, or into a file in this folder"),
        (
            "games-file",
            "FILE",
            "where to keep the ids of the games that go on; default: in the user's state folder",
        ),
        ("log", "FILE", "append a detailed log to a file"),
        ("token-file", "FILE", "read the token from a file, where the environment has none"),
    ):
        parser.add_argument(f"--{flag}", metavar=metavar, help=what)
    add_quiet(parser)


def _add_challenges(parser: argparse.ArgumentParser) -> None:
    """Add what says which challenges the bridge accepts."""
    for flag, choices in (("rated", ("rated", "casual")), ("opponents", ("human", "bot"))):
        parser.add_argument(
            f"--{flag}", choices=("any", *choices), default="any", help="default: any"
        )
    for flag, what, default in (
        ("least-base", "least time on the clock", 30),
        ("most-base", "most time on the clock", 1800),
        ("least-increment", "least time added for each move", 0),
        ("most-increment", "most time added for each move", 30),
    ):
        add_number(parser, f"--{flag}", what, metavar="SECONDS", least=0, default=default)
    parser.add_argument(
        "--unlimited", action="store_true", help="also play without a clock, and correspondence"
    )
    parser.add_argument(
        "--chess960", action="store_true", help="also play from the starts of Chess960"
    )
    add_list(parser, "--block", "play no game with this opponent", metavar="NAME")
    add_number(parser, "--opponent-games", "games with one opponent within a day", default=50)


def _add_conduct(parser: argparse.ArgumentParser) -> None:
    """Add what says how the bridge behaves in a game."""
    about = "milliseconds for each move of a game without a clock"
    add_number(parser, "--movetime", about, metavar="MS", default=10_000)
    parser.add_argument(
        "--draw-score",
        metavar="CP",
        type=_centipawns,
        default=DRAW_SCORE,
        help="accept a draw if the engine's score is at most CP centipawns; `never`: accept "
        f"none; default: {DRAW_SCORE}",
    )
    about = "accept no draw before N moves"
    add_number(parser, "--draw-moves", about, least=0, default=DRAW_MOVES)
    parser.add_argument(
        "--resign-score",
        metavar="CP",
        type=_centipawns,
        help="resign if the score is at most CP centipawns; default: never",
    )
    add_number(parser, "--resign-moves", "resign only after N such moves in a row", default=3)
    parser.add_argument(
        "--en-passant",
        choices=("shown", "hidden"),
        help="what the engine sees of a pawn that it can take en passant: always shown, or hidden "
        "as the server of pychess.org hides it from players; default: as the server does",
    )
    about = "abort a game without a first move after SECONDS"
    add_number(parser, "--abort-after", about, metavar="SECONDS", default=120)
    for flag, when in (("greeting", "begins"), ("farewell", "is over")):
        parser.add_argument(
            f"--{flag}",
            metavar="TEXT",
            help=f"say this in the chat when a game against a person {when}; default: nothing",
        )


def _add_mistboard(commands: Parsers) -> None:
    about = "serve a Mistboard server as an engine, by its engine protocol"
    parser = add_command(commands, "mistboard", about, _MISTBOARD_EXAMPLES)
    _add_port(parser, 3010)
    add_number(parser, "--games", "games played at the same time", default=1)
    add_option(parser, "set an option of the engine")
    add_quiet(parser)


def _add_port(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole_number(0),
        default=default,
        help=f"default: {default}; 0: any free one",
    )


def _add_web(commands: Parsers) -> None:
    about = "play the engine on a board in the browser, and watch two engines play"
    parser = add_command(commands, "web", about, _WEB_EXAMPLES)
    host = "127.0.0.1"
    parser.add_argument(
        "--host",
        default=host,
        help=f"the address to listen at; default: {host}, this machine only",
    )
    _add_port(parser, 8000)
    about = "a name in browsers' addresses that leads here"
    add_list(parser, "--allowed-host", about, metavar="NAME")
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--data", metavar="DIR", help="where games are kept; default: in the user's data folder"
    )
    about = "engines, one for each game of a person, two for a game of two engines"
    add_number(parser, "--max-games", about, default=WebLimits().games)
    parser.add_argument("--no-matches", action="store_true", help="no games of two engines")
    parser.add_argument(
        "--proxy",
        metavar="ADDRESS",
        help="the address of a reverse proxy, whose header X-Forwarded-For is believed",
    )
    parser.add_argument(
        "--root-path",
        metavar="PATH",
        default="",
        help="what all paths begin with, such as /fog, behind a reverse proxy",
    )
    add_option(parser, "set an option of the engine")
    add_quiet(parser)


def _centipawns(text: str) -> int | None:
    """Read a score in centipawns; return None for `never`."""
    if text == "never":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor never") from None
