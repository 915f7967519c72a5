"""The grammar of `match`, `tournament` and `show`, with their help texts."""

from __future__ import annotations

import argparse

from obscuro.cli.common_arguments import (
    Parsers,
    add_command,
    add_option,
    add_stalemate,
    whole,
)

_MATCH_EXAMPLES = """\
examples:
  obscuro match obscuro random --games 10 --movetime 200
  obscuro match obscuro greedy --games 100 --log match.jsonl --pgn games.pgn --json result.json
  obscuro match obscuro obscuro --option-b Search=unfrozen=false --sprt elo0=0 elo1=15 --log klss.jsonl
  obscuro match obscuro "/opt/other/engine --uci" --games 20 --tc 180+2

Games come in pairs with the same opening and colours swapped. Ctrl-C ends the match with the result
so far; with --log the same command plays the rest, whatever ended the first one.
"""

_TOURNAMENT_EXAMPLES = """\
examples:
  obscuro tournament scaling.toml           write the results into the directory scaling
  obscuro tournament --report scaling       make the report again, also of a broken-off tournament

a tournament file:
  games = 10                                for each pairing
  movetime = 200
  [[player]]
  player = "obscuro"
  [[player]]
  player = "random"

docs/arena.md says what else can stand in it. Ctrl-C ends the tournament with the results so far; the
same command resumes it.
"""

_SHOW_EXAMPLES = """\
examples:
  obscuro show games.pgn
  obscuro show games.pgn --game 7 --out game7.html
  obscuro show games.pgn --analyse 1000

The page needs no server and no network. Open it in any browser of the last years.
"""


def add_match(commands: Parsers) -> None:
    """Add `obscuro match`."""
    parser = add_command(commands, "match", "play games between two players", _MATCH_EXAMPLES)
    who = "a player of this program such as obscuro or random, or the command line of a UCI engine"
    parser.add_argument("first", metavar="A", help=who)
    parser.add_argument("second", metavar="B", help="the same choices")
    parser.add_argument(
        "--games", type=whole(1), help="default: 10; with --sprt 10000, and then the most"
    )
    parser.add_argument(
        "--sprt",
        nargs="*",
        metavar="NAME=VALUE",
        help="end the match when it is decided; default: elo0=0 elo1=15 alpha=0.05 beta=0.05",
    )
    parser.add_argument(
        "--openings",
        metavar="FILE",
        default="default",
        help="a file of openings, or `default` (a book of ours, the default), or `none`",
    )
    _add_match_times(parser)
    for flag, what in (
        ("log", "keep every finished game; the same command then resumes the match"),
        ("pgn", "write the games; with --log the file holds this match alone, else they are added"),
        ("json", "write the result as JSON"),
    ):
        parser.add_argument(f"--{flag}", metavar="FILE", help=what)
    parser.add_argument(
        "--concurrency",
        type=whole(1),
        help="games played at the same time; default: 1, and with --ray as many as the cluster holds",
    )
    _add_crew(parser)
    parser.add_argument(
        "--seed",
        type=whole(0),
        default=1,
        help="of the order of openings, and of the players' chance; default: 1",
    )
    parser.add_argument(
        "--max-moves",
        type=whole(1),
        default=500,
        help="after so many moves the game is a draw; default: 500",
    )
    add_stalemate(parser)
    parser.add_argument(
        "--coverage",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="ask engines after each move where the true position was in their search",
    )
    for player in "ab":
        add_option(parser, f"set a UCI option of {player.upper()}", f"--option-{player}")


def add_tournament(commands: Parsers) -> None:
    """Add `obscuro tournament`."""
    about = "play a tournament of many players, and rate them"
    parser = add_command(commands, "tournament", about, _TOURNAMENT_EXAMPLES)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the tournament, a TOML file")
    parser.add_argument(
        "--out", metavar="DIR", help="directory for the results; default: FILE without .toml"
    )
    parser.add_argument(
        "--concurrency",
        type=whole(1),
        help="games played at the same time; default: what the file says, else 1, and with --ray as "
        "many as the cluster holds",
    )
    parser.add_argument(
        "--report", metavar="DIR", help="make the report of this directory again, and play nothing"
    )
    _add_crew(parser)


def _add_crew(parser: argparse.ArgumentParser) -> None:
    """Add what a command has that plays on a Ray cluster; see `game_crew.py`."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: `auto` for one that this machine is part of, HOST:PORT, "
        "ray://HOST:PORT, or `local` to try it on this machine alone; needs obscuro[cluster]",
    )
    parser.add_argument(
        "--cores-per-game",
        metavar="N",
        type=whole(1),
        help="with --ray: cores of a node that each game gets; default: the players' largest "
        "number of Threads, or the sum of two if one ponders",
    )


def add_show(commands: Parsers) -> None:
    """Add `obscuro show`."""
    about = "write a game as one HTML page: what each side saw and believed"
    parser = add_command(commands, "show", about, _SHOW_EXAMPLES)
    parser.add_argument("pgn", metavar="GAME.pgn", help="a file of games")
    parser.add_argument(
        "--game", metavar="N", type=whole(1), default=1, help="number of the game; default: 1"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the page to write; default: GAME.html beside the games, or GAME-N.html",
    )
    parser.add_argument(
        "--max-positions",
        metavar="N",
        type=whole(1),
        default=1_000_000,
        help="most positions of a belief; of a larger one it is a sample; default: 1000000",
    )
    parser.add_argument(
        "--analyse",
        metavar="MS",
        type=whole(1),
        help="let the engine search so many milliseconds for each move, with what its side knew: "
        "what it would have played, and which moves lost most",
    )
    add_option(parser, "set a UCI option of the engine that analyses")


def _add_match_times(parser: argparse.ArgumentParser) -> None:
    for suffix, whose in (("", "both"), ("-a", "A"), ("-b", "B")):
        parser.add_argument(
            f"--movetime{suffix}",
            metavar="MS",
            type=whole(1),
            help=f"milliseconds for each move of {whose}" + ("" if suffix else "; default: 1000"),
        )
        parser.add_argument(
            f"--tc{suffix}",
            metavar="S+I",
            help=f"a clock for {whose}: seconds for the game, and added for each move",
        )
