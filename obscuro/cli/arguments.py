"""The command line: its parser has the commands of `obscuro.cli.grammar`, and `uci`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from obscuro.cli.grammar.flags import Parsers, add_command, add_player, players_text
from obscuro.cli.grammar.game_commands import add_game_commands
from obscuro.cli.grammar.service_commands import add_service_commands
from obscuro.cli.grammar.upkeep_commands import add_upkeep_commands
from obscuro.cli.suggesting_parser import SuggestingParser
from obscuro.version import full_version

_EXAMPLES = """\
examples:
  obscuro                                   speak UCI, for GUIs and bridges
  obscuro demo                              watch a game
  obscuro play --side black --movetime 2000
  obscuro web                               play in the browser
  obscuro match obscuro random --games 10 --movetime 200 --pgn games.pgn
  obscuro tournament scaling.toml           play a tournament, with a rating list and a report
  obscuro show games.pgn                    write its first game as a page to look at
  obscuro analyse                           answer questions about many games, in JSON
  obscuro bridge                            play as a bot on pychess.org
  obscuro mistboard                         serve a Mistboard server as an engine
  obscuro uci --log session.log             speak UCI and write everything down
  obscuro replay session.log                play that session again
  obscuro bench                             print the signature of what the engine does
  obscuro bench belief                      measure how fast the belief is on this machine
  obscuro warmup                            compile everything now
  obscuro doctor                            say what is installed and what is missing
  obscuro completion bash                   print what lets bash complete commands and flags
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments. Raises SystemExit if they are wrong, or ask for help or the version.

    The result has the arguments themselves too, as `words`.
    """
    return build_parser().parse_args(arguments, argparse.Namespace(words=tuple(arguments)))


def build_parser() -> SuggestingParser:
    """Return the parser of the whole command line."""
    parser = SuggestingParser(
        prog="obscuro",
        description="An engine for Fog of War chess. Without a command it speaks UCI.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_ShowVersion, help="say which version this is")
    parser.add_argument("--log", metavar="FILE", help="UCI: write the whole session to a file")
    parser.set_defaults(command="uci", player="obscuro")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_uci(commands)
    add_game_commands(commands)
    add_service_commands(commands)
    add_upkeep_commands(commands)
    return parser


class _ShowVersion(argparse.Action):
    """Prints the version with its commit, and leaves. It asks git only when it is wanted."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **settings)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *_: object
    ) -> None:
        """Print the version and leave."""
        print(f"obscuro {full_version()}")
        parser.exit()


def _add_uci(commands: Parsers) -> None:
    parser = add_command(commands, "uci", "speak UCI on stdin and stdout", players_text())
    add_player(parser)
    # A default would overwrite what `obscuro --log FILE uci` has set.
    parser.add_argument(
        "--log",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="write the whole session to a file",
    )
