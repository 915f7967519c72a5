"""The command line's grammar and its help texts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from obscuro import __version__
from obscuro.cli.arena_arguments import add_match, add_show, add_tournament
from obscuro.cli.bridge_defaults import DRAW_MOVES, DRAW_SCORE
from obscuro.cli.common_arguments import (
    Parsers,
    add_command,
    add_movetime,
    add_option,
    add_stalemate,
    whole,
)
from obscuro.cli.web_arguments import add_web
from obscuro.engine.options import OPTIONS
from obscuro.engine.strength import LEVELS, Level, level_numbered
from obscuro.players.roster import PLAYERS

_EXAMPLES = """\
examples:
  obscuro                                   speak UCI, for GUIs and bridges
  obscuro demo                              watch a game
  obscuro play --side black --movetime 2000
  obscuro web                               play in the browser
  obscuro match obscuro random --games 10 --movetime 200 --pgn games.pgn
  obscuro tournament scaling.toml           play a tournament, with a rating list and a report
  obscuro show games.pgn                    write its first game as a page to look at
  obscuro bridge                            play as a bot on pychess.org
  obscuro mistboard                         serve a Mistboard server as an engine
  obscuro uci --log session.log             speak UCI and write everything down
  obscuro replay session.log                play that session again
  obscuro bench                             print the signature of what the engine does
  obscuro bench belief                      measure how fast the belief is on this machine
  obscuro warmup                            compile everything now
  obscuro doctor                            say what is installed and what is missing
"""

_BRIDGE_EXAMPLES = """\
examples:
  OBSCURO_BOT_TOKEN=... obscuro bridge
  OBSCURO_BOT_TOKEN=... obscuro bridge --games 2 --rated casual --log bridge.log
  OBSCURO_BOT_TOKEN=... obscuro bridge --url http://localhost:8123 --option Threads=1

The environment is the only place for the token of the bot account. The first Ctrl-C leaves when the
running games have ended, a second one leaves at once. The next start resumes a game that was left.
"""

_MISTBOARD_EXAMPLES = """\
examples:
  OBSCURO_MISTBOARD_TOKEN=... obscuro mistboard
  OBSCURO_MISTBOARD_TOKEN=... obscuro mistboard --port 7802 --games 2 --option Threads=1

The service listens on this machine only. The token is a secret of yours, which the Mistboard server
must send; the environment is its only place. docs/mistboard.md says how to tell the server.
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the arguments. Raises SystemExit if they are wrong, or ask for help or the version."""
    return build_parser().parse_args(arguments)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="obscuro",
        description="An engine for Fog of War chess. Without a command it speaks UCI.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"obscuro {__version__}")
    parser.add_argument("--log", metavar="FILE", help="UCI: write the whole session to a file")
    parser.set_defaults(command="uci", player="obscuro")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for add in (
        _add_uci,
        _add_play,
        _add_demo,
        add_match,
        add_tournament,
        add_show,
        _add_bridge,
        _add_mistboard,
        add_web,
        _add_replay,
        _add_bench,
        _add_warmup,
        _add_doctor,
    ):
        add(commands)
    return parser


def _add_uci(commands: Parsers) -> None:
    parser = add_command(commands, "uci", "speak UCI on stdin and stdout", _players_text())
    parser.add_argument(
        "--player",
        metavar="NAME",
        choices=tuple(PLAYERS),
        default="obscuro",
        help=f"who plays: {', '.join(PLAYERS)}; default: obscuro",
    )
    # A default would overwrite what `obscuro --log FILE uci` has set.
    parser.add_argument(
        "--log",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="write the whole session to a file",
    )


def _players_text() -> str:
    """Return the list of the players for the help."""
    width = max(map(len, PLAYERS))
    rows = (f"  {kind.name:{width}}  {kind.about}" for kind in PLAYERS.values())
    return "\n".join(("players:", *rows))


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
    _add_engine_options(parser, movetime=1000)


def _add_demo(commands: Parsers) -> None:
    parser = add_command(commands, "demo", "watch the engine play against random moves")
    _add_engine_options(parser, movetime=300)
    parser.add_argument(
        "--seed", type=whole(0), default=0, help="default: 0, another game each time"
    )
    parser.add_argument(
        "--max-moves", type=whole(1), default=100, help="stop after so many moves; default: 100"
    )


def _add_bridge(commands: Parsers) -> None:
    about = "play as a bot account on a server with the lichess bot API"
    parser = add_command(commands, "bridge", about, _BRIDGE_EXAMPLES)
    parser.add_argument(
        "--url", default="https://www.pychess.org", help="the server; default: pychess.org"
    )
    parser.add_argument(
        "--games", type=whole(1), default=1, help="games played at the same time; default: 1"
    )
    parser.add_argument(
        "--leave-after", metavar="N", type=whole(1), help="leave after so many games"
    )
    parser.add_argument(
        "--rated", choices=("any", "rated", "casual"), default="any", help="default: any"
    )
    parser.add_argument(
        "--opponents", choices=("any", "human", "bot"), default="any", help="default: any"
    )
    for name, what, default in (
        ("least-base", "least time on the clock", 30),
        ("most-base", "most time on the clock", 10800),
        ("least-increment", "least time added for each move", 0),
        ("most-increment", "most time added for each move", 180),
    ):
        parser.add_argument(
            f"--{name}",
            metavar="SECONDS",
            type=whole(0),
            default=default,
            help=f"{what}; default: {default}",
        )
    parser.add_argument(
        "--unlimited", action="store_true", help="also play without a clock, and correspondence"
    )
    parser.add_argument(
        "--movetime",
        metavar="MS",
        type=whole(1),
        default=10_000,
        help="milliseconds for each move of a game without a clock; default: 10000",
    )
    parser.add_argument(
        "--draw-score",
        metavar="CP",
        type=centipawns,
        default=DRAW_SCORE,
        help="accept a draw if the engine's score is at most so many centipawns; `never`: accept "
        f"none; default: {DRAW_SCORE}",
    )
    parser.add_argument(
        "--draw-moves",
        metavar="N",
        type=whole(0),
        default=DRAW_MOVES,
        help=f"accept no draw before so many moves; default: {DRAW_MOVES}",
    )
    parser.add_argument(
        "--resign-score",
        metavar="CP",
        type=centipawns,
        default=None,
        help="resign if the score is at most so many centipawns; default: never",
    )
    parser.add_argument(
        "--resign-moves",
        metavar="N",
        type=whole(1),
        default=3,
        help="resign only after so many such moves in a row; default: 3",
    )
    parser.add_argument(
        "--abort-after",
        metavar="SECONDS",
        type=whole(1),
        default=120,
        help="abort a game without a first move after so long; default: 120",
    )
    for name, when in (("greeting", "begins"), ("farewell", "is over")):
        parser.add_argument(
            f"--{name}",
            metavar="TEXT",
            help=f"say this in the chat when a game against a person {when}; default: nothing",
        )
    add_option(parser, "set an option of the engine")
    parser.add_argument(
        "--pgn",
        metavar="PATH",
        help="write each game into this file, or into a file in this folder",
    )
    parser.add_argument(
        "--games-file",
        metavar="FILE",
        help="where to keep the ids of the games that go on; default: in the user's state folder",
    )
    parser.add_argument("--log", metavar="FILE", help="append a detailed log to a file")
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")


def _add_mistboard(commands: Parsers) -> None:
    about = "serve a Mistboard server as an engine, by its engine protocol"
    parser = add_command(commands, "mistboard", about, _MISTBOARD_EXAMPLES)
    parser.add_argument(
        "--port", metavar="N", type=whole(0), default=3010, help="default: 3010; 0: any free one"
    )
    parser.add_argument(
        "--games", type=whole(1), default=1, help="games played at the same time; default: 1"
    )
    add_option(parser, "set an option of the engine")
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")


def _add_replay(commands: Parsers) -> None:
    parser = add_command(
        commands, "replay", "play the log of a session again, and compare the moves"
    )
    parser.add_argument("log", metavar="LOG", help="a file that `obscuro --log FILE` has written")
    parser.add_argument(
        "--session",
        metavar="N",
        type=whole(1),
        help="number of the session in the file; default: the last",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="exit with 1 if a repeatable search came out differently",
    )
    add_option(parser, "set an option to another value than in the log")


def _add_bench(commands: Parsers) -> None:
    parser = add_command(
        commands,
        "bench",
        "print the signature of what the engine does; with a name, measure one part of it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    benchmarks = parser.add_subparsers(title="benchmarks", metavar="NAME", dest="benchmark")
    belief = _add_benchmark(
        benchmarks,
        "belief",
        "updates of the belief, on recorded games",
        "Measure how fast the belief takes in the other side's moves, on recorded games. Takes "
        "some minutes.",
        quick="measure a small part, for a rough answer within seconds",
    )
    _add_repeat(belief, "repeat each update so many times; default: 3, with --quick 1")
    _add_benchmark(
        benchmarks,
        "search",
        "solver, selection, attaching, subgames, and the size of trees",
        "Measure how fast the parts of a search are, on a synthetic tree and on the engine's own "
        "trees, and how large these become in 5 s a move. Takes some minutes.",
        quick="measure a small part, for a rough answer within a minute",
    )
    evaluation = _add_benchmark(
        benchmarks,
        "eval",
        "evaluators: children a second, and how far they agree",
        "Measure how fast Stockfish is, by itself and with the engine reading its answers, how "
        "fast the other evaluators are, and how far they agree. Takes half a minute.",
        quick="measure fewer positions, for a rough answer within seconds",
    )
    _add_repeat(evaluation, "repeat each measurement so many times; default: 15, with --quick 5")


def _add_benchmark(
    benchmarks: Parsers, name: str, about: str, description: str, *, quick: str
) -> argparse.ArgumentParser:
    parser = benchmarks.add_parser(name, help=about, description=description)
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS,  # a default would overwrite that of `obscuro bench --json NAME`
        help="print one JSON object, no table",
    )
    parser.add_argument("--quick", action="store_true", help=quick)
    return parser


def _add_repeat(parser: argparse.ArgumentParser, about: str) -> None:
    parser.add_argument("--repeat", metavar="N", type=whole(1), help=about)


def _add_warmup(commands: Parsers) -> None:
    add_command(commands, "warmup", "compile the kernels now rather than at the first game")


def _add_doctor(commands: Parsers) -> None:
    add_command(commands, "doctor", "say what is installed, what works, and how to mend the rest")


def _add_engine_options(parser: argparse.ArgumentParser, movetime: int) -> None:
    add_movetime(parser, movetime)
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


def centipawns(text: str) -> int | None:
    """Read a score in centipawns; return None for `never`."""
    if text == "never":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor never") from None
