"""The grammar of `obscuro web`."""

from __future__ import annotations

from obscuro.cli.common_arguments import Parsers, add_command, add_option, whole
from obscuro.web.web_limits import WebLimits

HOST, PORT, MAX_GAMES = "127.0.0.1", 8000, WebLimits().games
_EXAMPLES = """\
examples:
  obscuro web
  obscuro web --port 8080 --no-browser --data games
  obscuro web --host 0.0.0.0 --allowed-host chess.example.org

Ctrl-C ends it. Unfinished games go on at the next start.
"""


def add_web(commands: Parsers) -> None:
    """Add `obscuro web`."""
    about = "play the engine on a board in the browser, and watch two engines play"
    parser = add_command(commands, "web", about, _EXAMPLES)
    parser.add_argument(
        "--host",
        default=HOST,
        help=f"the address to listen at; default: {HOST}, this machine only",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole(0),
        default=PORT,
        help=f"default: {PORT}; 0: any free one",
    )
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name in browsers' addresses that leads here; may be given several times",
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--data",
        metavar="DIR",
        help="where games are kept; default: in the user's data folder",
    )
    parser.add_argument(
        "--max-games",
        metavar="N",
        type=whole(1),
        default=MAX_GAMES,
        help=f"games that go on at the same time; default: {MAX_GAMES}",
    )
    add_option(parser, "set an option of the engine")
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")
