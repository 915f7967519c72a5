"""The commands that play games, and `obscuro show`, which reads them."""

from __future__ import annotations

import argparse

from obscuro.cli.grammar.flags import (
    Parsers,
    add_command,
    add_number,
    add_option,
    add_stalemate,
    players_text,
    whole_number,
)
from obscuro.engine.options import OPTIONS
from obscuro.engine.strength import LEVELS, Level, level_numbered

PLAY_MOVETIME = 1000
"""Milliseconds for each move of the engine in `obscuro play`, without a clock."""

_MATCH_EXAMPLES = """\
examples:
  obscuro match obscuro random --games 10 --movetime 200
  obscuro match obscuro greedy --games 100 --log match.jsonl --pgn games.pgn --json result.json
  obscuro match obscuro obscuro --option-b Search=unfrozen=false --sprt elo0=0 elo1=15 --log k.jsonl
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
ANALYSIS_NODES = 2000
"""The size of a search when `--nodes` of `obscuro show` has no number."""

_SHOW_EXAMPLES = """\
examples:
  obscuro show games.pgn
  obscuro show games.pgn --game 7 --out game7.html
  obscuro show games.pgn --analyse 1000
  obscuro show games.pgn.gz --report games.html
  obscuro show games.pgn --report games.html --nodes
  obscuro show games.pgn more_games/ --explorer openings.html

The page needs no server and no network. Open it in any browser of the last years.
"""


def add_game_commands(commands: Parsers) -> None:
    """Add `play`, `demo`, `match`, `tournament` and `show`."""
    for add in (_add_play, _add_demo, _add_match, _add_tournament, _add_show):
        add(commands)


def _add_play(commands: Parsers) -> None:
    parser = add_command(commands, "play", "play against the engine in the terminal, in the fog")
    parser.add_argument(
        "--side", choices=("white", "black", "random"), default="white", help="default: white"
    )
    add_stalemate(parser)
    parser.add_argument(
        "--level",
        metavar="N",
        type=_level,
        help=f"the engine's strength, from 1 to {len(LEVELS)}; default: full",
    )
    _add_engine_options(parser, movetime=None)
    parser.add_argument(
        "--tc",
        metavar="S+I",
        help="a clock for you and the engine: seconds, and added for each move",
    )
    parser.add_argument(
        "--fen", help="the position to begin with, which both sides know; default: the usual one"
    )
    add_option(parser, "set an option of the engine")


def _add_demo(commands: Parsers) -> None:
    parser = add_command(commands, "demo", "watch the engine play against random moves")
    _add_engine_options(parser, movetime=300)
    parser.add_argument(
        "--seed", type=whole_number(0), default=0, help="default: 0, another game each time"
    )
    add_number(parser, "--max-moves", "stop after N moves", default=100)


def _add_engine_options(parser: argparse.ArgumentParser, movetime: int | None) -> None:
    about = "milliseconds for each move"
    if movetime is None:
        about += f" of the engine; default: {PLAY_MOVETIME}"
    add_number(parser, "--movetime", about, metavar="MS", default=movetime)
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser.add_argument(
        "--evaluator",
        choices=evaluator.choices,
        default=evaluator.default,
        help=f"evaluator of positions; default: {evaluator.default}",
    )


def _level(text: str) -> Level:
    try:
        return level_numbered(int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a level from 1 to {len(LEVELS)}"
        ) from None


def _add_match(commands: Parsers) -> None:
    epilog = f"{players_text()}\n\n{_MATCH_EXAMPLES}"
    parser = add_command(commands, "match", "play games between two players", epilog)
    who = "a player of this program such as obscuro or random, or the command line of a UCI engine"
    parser.add_argument("first", metavar="A", help=who)
    parser.add_argument("second", metavar="B", help="the same choices")
    add_number(parser, "--games", "default: 10; with --sprt 10000, and then the most")
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
        help="a file of openings, or `default` (a book of ours, the default), `none`, `chess960`, or "
        "`draft`: starts of Chess960 of which each side knows its own half",
    )
    _add_match_times(parser)
    for flag, what in (
        ("log", "keep every finished game; the same command then resumes the match"),
        ("pgn", "write the games; with --log the file holds this match alone, else they are added"),
        ("json", "write the result as JSON"),
    ):
        parser.add_argument(f"--{flag}", metavar="FILE", help=what)
    about = "games played at the same time; default: 1, and with --ray as many as the cluster holds"
    add_number(parser, "--concurrency", about)
    _add_crew(parser)
    about = "of the order of openings, and of the players' chance"
    add_number(parser, "--seed", about, least=0, default=1)
    add_number(parser, "--max-moves", "after N moves the game is a draw", default=500)
    about = (
        "a side wins once both players see it N pawns ahead at three moves each in a row; 0: never"
    )
    add_number(parser, "--resign", about, least=0, default=0)
    add_stalemate(parser)
    parser.add_argument(
        "--coverage",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="ask engines after each move where the true position was in their search",
    )
    for player in "ab":
        add_option(parser, f"set a UCI option of {player.upper()}", f"--option-{player}")


def _add_tournament(commands: Parsers) -> None:
    about = "play a tournament of many players, and rate them"
    parser = add_command(commands, "tournament", about, _TOURNAMENT_EXAMPLES)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the tournament, a TOML file")
    parser.add_argument(
        "--out", metavar="DIR", help="directory for the results; default: FILE without .toml"
    )
    add_number(
        parser,
        "--concurrency",
        "games played at the same time; default: what the file says, else 1, and with --ray as "
        "many as the cluster holds",
    )
    parser.add_argument(
        "--report", metavar="DIR", help="make the report of this directory again, and play nothing"
    )
    _add_crew(parser)


def _add_match_times(parser: argparse.ArgumentParser) -> None:
    for suffix, whose in (("", "both"), ("-a", "A"), ("-b", "B")):
        about = f"milliseconds for each move of {whose}" + ("" if suffix else "; default: 1000")
        add_number(parser, f"--movetime{suffix}", about, metavar="MS")
        parser.add_argument(
            f"--tc{suffix}",
            metavar="S+I",
            help=f"a clock for {whose}: seconds for the game, and added for each move",
        )
        about = f"nodes of each search of {whose}, in place of a time"
        add_number(parser, f"--nodes{suffix}", about)


def _add_crew(parser: argparse.ArgumentParser) -> None:
    """Add what a command has that plays on a Ray cluster."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: `auto` for one that this machine is part of, HOST:PORT, "
        "ray://HOST:PORT, or `local` to try it on this machine alone; needs the extra cluster",
    )
    add_number(
        parser,
        "--cores-per-game",
        "with --ray: cores of a node that each game gets; default: the players' largest number of "
        "Threads, or the sum of two if one ponders",
    )


def _add_show(commands: Parsers) -> None:
    about = "write a game as one HTML page: what each side saw and believed"
    parser = add_command(commands, "show", about, _SHOW_EXAMPLES)
    parser.add_argument(
        "pgn",
        metavar="GAMES",
        nargs="+",
        help="a file of games: PGN, JSON, JSON lines or a journal, or packed; for --explorer also "
        "several, and folders",
    )
    add_number(parser, "--game", "number of the game; default: 1")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the page to write; default: GAME.html beside the games, or GAME-N.html; a name that "
        "ends in .json gets the page's data alone",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a page about all games of the file: pieces and kings lost to attackers that "
        "nobody saw, scouting, openings; with --nodes or --analyse, mistakes too",
    )
    parser.add_argument(
        "--explorer",
        metavar="FILE",
        help="write a page of all openings: what was played, what each side had seen, how it went",
    )
    about = "most positions of a belief; of a larger one it is a sample"
    add_number(parser, "--max-positions", about, default=1_000_000)
    add_number(
        parser,
        "--analyse",
        "let the engine search MS milliseconds for each move, with what its side knew: what "
        "it would have played, which moves lost most, and why",
        metavar="MS",
    )
    parser.add_argument(
        "--nodes",
        metavar="N",
        nargs="?",
        const=ANALYSIS_NODES,
        type=whole_number(1),
        help="let the engine search N nodes for each move, in place of a time or at most; default: "
        f"{ANALYSIS_NODES}",
    )
    add_option(parser, "set a UCI option of the engine that analyses")
