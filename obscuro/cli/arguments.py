"""The command line's grammar and its help texts."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from obscuro.cli.suggesting_parser import SuggestingParser
from obscuro.engine.options import OPTIONS
from obscuro.engine.strength import LEVELS, Level, level_numbered
from obscuro.players.roster import PLAYERS
from obscuro.rules.stalemate import LOSS, STALEMATES
from obscuro.version import full_version
from obscuro.web.web_limits import WebLimits

Parsers: TypeAlias = "argparse._SubParsersAction[SuggestingParser]"
SHELLS = ("bash", "zsh", "fish")
"""The shells that `obscuro completion` knows. bash was tried."""
ANALYSIS_QUEUE = 1000
"""Queries that `obscuro analyse` holds at most."""
PLAY_MOVETIME = 1000
"""Milliseconds for each move of the engine in `obscuro play`, without a clock."""
DRAW_SCORE, DRAW_MOVES = -100, 20
"""`obscuro bridge` takes a draw at this score in centipawns or less, after this many moves."""

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


_COMPLETION_EXAMPLES = """\
examples:
  obscuro completion bash > ~/.local/share/bash-completion/completions/obscuro
  obscuro completion zsh > ~/.zfunc/_obscuro
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
    for add in (
        _add_uci,
        _add_play,
        _add_demo,
        _add_match,
        _add_tournament,
        _add_show,
        _add_analyse,
        _add_bridge,
        _add_mistboard,
        _add_web,
        _add_replay,
        _add_bench,
        _add_warmup,
        _add_doctor,
        _add_completion,
    ):
        add(commands)
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
    parser = _add_command(commands, "uci", "speak UCI on stdin and stdout", _players_text())
    _add_player(parser)
    # A default would overwrite what `obscuro --log FILE uci` has set.
    parser.add_argument(
        "--log",
        metavar="FILE",
        default=argparse.SUPPRESS,
        help="write the whole session to a file",
    )


def _add_player(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--player",
        metavar="NAME",
        choices=tuple(PLAYERS),
        default="obscuro",
        help=f"who plays: {', '.join(PLAYERS)}; default: obscuro",
    )


def _players_text() -> str:
    """Return the list of the players for the help."""
    width = max(map(len, PLAYERS))
    rows = (f"  {kind.name:{width}}  {kind.about}" for kind in PLAYERS.values())
    return "\n".join(("players:", *rows))


# -- games in the terminal ----------------------------------------------------------------------


def _add_play(commands: Parsers) -> None:
    parser = _add_command(commands, "play", "play against the engine in the terminal, in the fog")
    parser.add_argument(
        "--side", choices=("white", "black", "random"), default="white", help="default: white"
    )
    _add_stalemate(parser)
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
    _add_option(parser, "set an option of the engine")


def _add_demo(commands: Parsers) -> None:
    parser = _add_command(commands, "demo", "watch the engine play against random moves")
    _add_engine_options(parser, movetime=300)
    parser.add_argument(
        "--seed", type=_whole(0), default=0, help="default: 0, another game each time"
    )
    _add_number(parser, "--max-moves", "stop after N moves", default=100)


def _add_engine_options(parser: argparse.ArgumentParser, movetime: int | None) -> None:
    about = "milliseconds for each move"
    if movetime is None:
        about += f" of the engine; default: {PLAY_MOVETIME}"
    _add_number(parser, "--movetime", about, metavar="MS", default=movetime)
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


# -- matches, tournaments, recorded games -------------------------------------------------------


def _add_match(commands: Parsers) -> None:
    epilog = f"{_players_text()}\n\n{_MATCH_EXAMPLES}"
    parser = _add_command(commands, "match", "play games between two players", epilog)
    who = "a player of this program such as obscuro or random, or the command line of a UCI engine"
    parser.add_argument("first", metavar="A", help=who)
    parser.add_argument("second", metavar="B", help="the same choices")
    _add_number(parser, "--games", "default: 10; with --sprt 10000, and then the most")
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
    _add_number(parser, "--concurrency", about)
    _add_crew(parser)
    about = "of the order of openings, and of the players' chance"
    _add_number(parser, "--seed", about, least=0, default=1)
    _add_number(parser, "--max-moves", "after N moves the game is a draw", default=500)
    about = (
        "a side wins once both players see it N pawns ahead at three moves each in a row; 0: never"
    )
    _add_number(parser, "--resign", about, least=0, default=0)
    _add_stalemate(parser)
    parser.add_argument(
        "--coverage",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="ask engines after each move where the true position was in their search",
    )
    for player in "ab":
        _add_option(parser, f"set a UCI option of {player.upper()}", f"--option-{player}")


def _add_tournament(commands: Parsers) -> None:
    about = "play a tournament of many players, and rate them"
    parser = _add_command(commands, "tournament", about, _TOURNAMENT_EXAMPLES)
    parser.add_argument("file", metavar="FILE", nargs="?", help="the tournament, a TOML file")
    parser.add_argument(
        "--out", metavar="DIR", help="directory for the results; default: FILE without .toml"
    )
    _add_number(
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
        _add_number(parser, f"--movetime{suffix}", about, metavar="MS")
        parser.add_argument(
            f"--tc{suffix}",
            metavar="S+I",
            help=f"a clock for {whose}: seconds for the game, and added for each move",
        )
        about = f"nodes of each search of {whose}, in place of a time"
        _add_number(parser, f"--nodes{suffix}", about)


def _add_crew(parser: argparse.ArgumentParser) -> None:
    """Add what a command has that plays on a Ray cluster."""
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="play on a Ray cluster: `auto` for one that this machine is part of, HOST:PORT, "
        "ray://HOST:PORT, or `local` to try it on this machine alone; needs the extra cluster",
    )
    _add_number(
        parser,
        "--cores-per-game",
        "with --ray: cores of a node that each game gets; default: the players' largest number of "
        "Threads, or the sum of two if one ponders",
    )


def _add_show(commands: Parsers) -> None:
    about = "write a game as one HTML page: what each side saw and believed"
    parser = _add_command(commands, "show", about, _SHOW_EXAMPLES)
    parser.add_argument(
        "pgn",
        metavar="GAMES",
        nargs="+",
        help="a file of games: PGN, JSON, JSON lines or a journal, or packed; for --explorer also "
        "several, and folders",
    )
    _add_number(parser, "--game", "number of the game; default: 1")
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
    _add_number(parser, "--max-positions", about, default=1_000_000)
    _add_number(
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
        type=_whole(1),
        help="let the engine search N nodes for each move, in place of a time or at most; default: "
        f"{ANALYSIS_NODES}",
    )
    _add_option(parser, "set a UCI option of the engine that analyses")


# -- servers ------------------------------------------------------------------------------------


def _add_analyse(commands: Parsers) -> None:
    about = "answer questions about many games: lines of JSON in, lines of JSON out"
    parser = _add_command(commands, "analyse", about, _ANALYSE_EXAMPLES)
    _add_number(
        parser, "--workers", "engines that work at the same time; default: one for each core"
    )
    _add_number(parser, "--queue", "most queries that have not ended", default=ANALYSIS_QUEUE)
    _add_option(parser, "set an option of all engines")
    parser.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of the messages, and leave"
    )


def _add_bridge(commands: Parsers) -> None:
    about = "play as a bot account on a server with the lichess bot API"
    parser = _add_command(commands, "bridge", about, _BRIDGE_EXAMPLES)
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
    _add_number(parser, "--games", "games played at the same time", default=1)
    _add_number(parser, "--leave-after", "leave after N games")
    _add_challenges(parser)
    _add_conduct(parser)
    _add_option(parser, "set an option of the engine")
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
    _add_quiet(parser)


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
        _add_number(parser, f"--{flag}", what, metavar="SECONDS", least=0, default=default)
    parser.add_argument(
        "--unlimited", action="store_true", help="also play without a clock, and correspondence"
    )
    parser.add_argument(
        "--chess960", action="store_true", help="also play from the starts of Chess960"
    )
    parser.add_argument(
        "--block",
        metavar="NAME",
        action="append",
        default=[],
        help="play no game with this opponent; may be given several times",
    )
    _add_number(parser, "--opponent-games", "games with one opponent within a day", default=50)


def _add_conduct(parser: argparse.ArgumentParser) -> None:
    """Add what says how the bridge behaves in a game."""
    about = "milliseconds for each move of a game without a clock"
    _add_number(parser, "--movetime", about, metavar="MS", default=10_000)
    parser.add_argument(
        "--draw-score",
        metavar="CP",
        type=centipawns,
        default=DRAW_SCORE,
        help="accept a draw if the engine's score is at most CP centipawns; `never`: accept "
        f"none; default: {DRAW_SCORE}",
    )
    about = "accept no draw before N moves"
    _add_number(parser, "--draw-moves", about, least=0, default=DRAW_MOVES)
    parser.add_argument(
        "--resign-score",
        metavar="CP",
        type=centipawns,
        help="resign if the score is at most CP centipawns; default: never",
    )
    _add_number(parser, "--resign-moves", "resign only after N such moves in a row", default=3)
    parser.add_argument(
        "--en-passant",
        choices=("shown", "hidden"),
        help="what the engine sees of a pawn that it can take en passant: always shown, or hidden "
        "as the server of pychess.org hides it from players; default: as the server does",
    )
    about = "abort a game without a first move after SECONDS"
    _add_number(parser, "--abort-after", about, metavar="SECONDS", default=120)
    for flag, when in (("greeting", "begins"), ("farewell", "is over")):
        parser.add_argument(
            f"--{flag}",
            metavar="TEXT",
            help=f"say this in the chat when a game against a person {when}; default: nothing",
        )


def _add_mistboard(commands: Parsers) -> None:
    about = "serve a Mistboard server as an engine, by its engine protocol"
    parser = _add_command(commands, "mistboard", about, _MISTBOARD_EXAMPLES)
    _add_port(parser, 3010)
    _add_number(parser, "--games", "games played at the same time", default=1)
    _add_option(parser, "set an option of the engine")
    _add_quiet(parser)


def _add_port(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument(
        "--port",
        metavar="N",
        type=_whole(0),
        default=default,
        help=f"default: {default}; 0: any free one",
    )


def _add_web(commands: Parsers) -> None:
    about = "play the engine on a board in the browser, and watch two engines play"
    parser = _add_command(commands, "web", about, _WEB_EXAMPLES)
    host = "127.0.0.1"
    parser.add_argument(
        "--host",
        default=host,
        help=f"the address to listen at; default: {host}, this machine only",
    )
    _add_port(parser, 8000)
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a name in browsers' addresses that leads here; may be given several times",
    )
    parser.add_argument("--no-browser", action="store_true", help="open no browser")
    parser.add_argument(
        "--data", metavar="DIR", help="where games are kept; default: in the user's data folder"
    )
    about = "engines, one for each game of a person, two for a game of two engines"
    _add_number(parser, "--max-games", about, default=WebLimits().games)
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
    _add_option(parser, "set an option of the engine")
    _add_quiet(parser)


# -- looking after the engine ------------------------------------------------------------------


def _add_replay(commands: Parsers) -> None:
    parser = _add_command(
        commands, "replay", "play the log of a session again, and compare the moves"
    )
    parser.add_argument("log", metavar="LOG", help="a file that `obscuro --log FILE` has written")
    _add_number(parser, "--session", "number of the session in the file; default: the last")
    parser.add_argument(
        "--compare",
        action="store_true",
        help="exit with 1 if a repeatable search came out differently",
    )
    _add_option(parser, "set an option to another value than in the log")


def _add_bench(commands: Parsers) -> None:
    parser = _add_command(
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
    _add_number(belief, "--repeat", "repeat each update N times; default: 3, with --quick 1")
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
    about = "repeat each measurement N times; default: 15, with --quick 5"
    _add_number(evaluation, "--repeat", about)


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


def _add_warmup(commands: Parsers) -> None:
    about = "compile the kernels now rather than at the first game"
    parser = _add_command(commands, "warmup", about, _players_text())
    _add_player(parser)


def _add_doctor(commands: Parsers) -> None:
    about = "say what is installed, what works, and how to mend the rest"
    parser = _add_command(commands, "doctor", about)
    parser.add_argument(
        "--tune", action="store_true", help="measure which Threads and Hash suit this machine"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object, for a bug report"
    )
    parser.add_argument(
        "--bridge",
        metavar="FILE",
        help="also ask the server of a file for `obscuro bridge --config` who we are there",
    )


def _add_completion(commands: Parsers) -> None:
    epilog = _COMPLETION_EXAMPLES
    parser = _add_command(
        commands, "completion", "print what a shell needs to complete words", epilog
    )
    parser.add_argument("shell", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def centipawns(text: str) -> int | None:
    """Read a score in centipawns; return None for `never`."""
    if text == "never":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor never") from None


# -- what the commands share --------------------------------------------------------------------


def _add_command(commands: Parsers, name: str, about: str, epilog: str = "") -> SuggestingParser:
    """Add a command and return its parser. about: one line, without a capital or a full stop."""
    parser: SuggestingParser = commands.add_parser(
        name,
        help=about,
        description=about[0].upper() + about[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=name)
    return parser


def _add_number(
    parser: argparse.ArgumentParser,
    flag: str,
    about: str,
    *,
    metavar: str = "N",
    least: int = 1,
    default: int | None = None,
) -> None:
    """Add a flag with a whole number. default: is named in the help unless it is None."""
    text = about if default is None else f"{about}; default: {default}"
    parser.add_argument(flag, metavar=metavar, type=_whole(least), default=default, help=text)


def _add_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="print warnings and errors only")


def _add_option(parser: argparse.ArgumentParser, about: str, flag: str = "--option") -> None:
    """Add `--option NAME=VALUE`, or another flag of that kind, which makes a list of texts."""
    parser.add_argument(
        flag,
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help=f"{about}; may be given several times",
    )


def _add_stalemate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stalemate",
        choices=STALEMATES,
        default=LOSS,
        help=f"what a side without a move gets; pychess: draw; default: {LOSS}",
    )


def _whole(least: int) -> Callable[[str], int]:
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
