"""The command line's grammar and its help texts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TypeAlias

from obscuro import __version__
from obscuro.engine.options import OPTIONS
from obscuro.opponents.roster import PLAYERS

_EXAMPLES = """\
examples:
  obscuro                                   speak UCI, for GUIs and bridges
  obscuro demo                              watch a game
  obscuro play --side black --movetime 2000
  obscuro match obscuro random --games 10 --movetime 200 --pgn games.pgn
  obscuro tournament scaling.toml           play a tournament, with a rating list and a report
  obscuro show games.pgn                    write its first game as a page to look at
  obscuro bridge                            play as a bot on pychess.org
  obscuro uci --log session.log             speak UCI and write everything down
  obscuro replay session.log                play that session again
  obscuro bench                             print the signature of what the engine does
  obscuro bench belief                      measure how fast the belief is on this machine
  obscuro warmup                            compile everything now
  obscuro doctor                            say what is installed and what is missing
"""

_MATCH_EXAMPLES = """\
examples:
  obscuro match obscuro random --games 10 --movetime 200
  obscuro match obscuro greedy --games 100 --log match.jsonl --pgn games.pgn --json result.json
  obscuro match obscuro obscuro --option-b Unfrozen=false --sprt elo0=0 elo1=15 --log klss.jsonl
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

The page needs no server and no network. Open it in any browser of the last years.
"""

_BRIDGE_EXAMPLES = """\
examples:
  OBSCURO_BOT_TOKEN=... obscuro bridge
  OBSCURO_BOT_TOKEN=... obscuro bridge --games 2 --rated casual --log bridge.log
  OBSCURO_BOT_TOKEN=... obscuro bridge --url http://localhost:8123 --option Threads=1

The environment is the only place for the token of the bot account. The first Ctrl-C leaves when the
running games have ended, a second one leaves at once. The next start resumes a game that was left.
"""

_Parsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


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
        _add_match,
        _add_tournament,
        _add_show,
        _add_bridge,
        _add_replay,
        _add_bench,
        _add_warmup,
        _add_doctor,
    ):
        add(commands)
    return parser


def _add(commands: _Parsers, name: str, about: str, epilog: str = "") -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=about[0].upper() + about[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=name)
    return parser


def _add_uci(commands: _Parsers) -> None:
    parser = _add(commands, "uci", "speak UCI on stdin and stdout", _players_text())
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


def _add_play(commands: _Parsers) -> None:
    parser = _add(commands, "play", "play against the engine in the terminal, in the fog")
    parser.add_argument(
        "--side", choices=("white", "black", "random"), default="white", help="default: white"
    )
    _add_engine_options(parser, movetime=1000)


def _add_demo(commands: _Parsers) -> None:
    parser = _add(commands, "demo", "watch the engine play against random moves")
    _add_engine_options(parser, movetime=300)
    parser.add_argument(
        "--seed", type=whole(0), default=0, help="default: 0, another game each time"
    )
    parser.add_argument(
        "--max-moves", type=whole(1), default=100, help="stop after so many moves; default: 100"
    )


def _add_match(commands: _Parsers) -> None:
    parser = _add(commands, "match", "play games between two players", _MATCH_EXAMPLES)
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
    parser.add_argument(
        "--coverage",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="ask engines after each move where the true position was in their search",
    )
    for player in "ab":
        parser.add_argument(
            f"--option-{player}",
            metavar="NAME=VALUE",
            action="append",
            default=[],
            help=f"set a UCI option of {player.upper()}; may be given several times",
        )


def _add_tournament(commands: _Parsers) -> None:
    about = "play a tournament of many players, and rate them"
    parser = _add(commands, "tournament", about, _TOURNAMENT_EXAMPLES)
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


def _add_show(commands: _Parsers) -> None:
    about = "write a game as one HTML page: what each side saw and believed"
    parser = _add(commands, "show", about, _SHOW_EXAMPLES)
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


def _add_bridge(commands: _Parsers) -> None:
    about = "play as a bot account on a server with the lichess bot API"
    parser = _add(commands, "bridge", about, _BRIDGE_EXAMPLES)
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
        default=-100,
        help="accept a draw if the engine's score is at most so many centipawns; `never`: accept "
        "none; default: -100",
    )
    parser.add_argument(
        "--draw-moves",
        metavar="N",
        type=whole(0),
        default=20,
        help="accept no draw before so many moves; default: 20",
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
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set an option of the engine; may be given several times",
    )
    parser.add_argument("--log", metavar="FILE", help="append a detailed log to a file")
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")


def _add_replay(commands: _Parsers) -> None:
    parser = _add(commands, "replay", "play the log of a session again, and compare the moves")
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
    parser.add_argument(
        "--option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="set an option to another value than in the log; may be given several times",
    )


def _add_bench(commands: _Parsers) -> None:
    parser = _add(
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
    benchmarks: _Parsers, name: str, about: str, description: str, *, quick: str
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


def _add_warmup(commands: _Parsers) -> None:
    _add(commands, "warmup", "compile the kernels now rather than at the first game")


def _add_doctor(commands: _Parsers) -> None:
    _add(commands, "doctor", "say what is installed, what works, and how to mend the rest")


def _add_engine_options(parser: argparse.ArgumentParser, movetime: int) -> None:
    _add_movetime(parser, movetime)
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser.add_argument(
        "--evaluator",
        choices=evaluator.choices,
        default=evaluator.default,
        help=f"evaluator of positions; default: {evaluator.default}",
    )


def _add_movetime(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--movetime",
        metavar="MS",
        type=whole(1),
        default=default,
        help=f"milliseconds for each move; default: {default}",
    )


def whole(least: int) -> Callable[[str], int]:
    """Return a function that reads a whole number and refuses one below *least*."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        return number

    return read


def centipawns(text: str) -> int | None:
    """Read a score in centipawns; return None for `never`."""
    if text == "never":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor never") from None
