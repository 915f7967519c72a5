"""Play the engine against random moves and write down what it did: docs/results/first_light.md.

    python -m tools.play.first_light

Plays 40 games, half with each colour, at 200 ms a move, with the real process that a GUI starts.
Before each of its moves the true position is looked for in the engine's belief (where that is exact
and not too large to be listed); --in-process does so after every ply, with the engine in this
process. Writes a table of the games and their PGN; Ctrl-C writes what there is.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import chess
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from obscuro import __version__
from obscuro.arena.game_record import Contestant, GameRecord, PlayedPly
from obscuro.arena.match import MatchResult, play_match
from obscuro.arena.pgn import write_pgn
from obscuro.arena.players import InProcessPlayer, RandomPlayer, UciPlayer
from obscuro.arena.statistics import QUANTITIES, Statistics, number
from obscuro.arena.time_control import TimeControl
from obscuro.arena.uci_process import EngineError
from obscuro.engine.options import OPTIONS, Options
from obscuro.evaluation.stockfish.process import StockfishError, StockfishProcess, stockfish_path
from obscuro.fog.board import FogOfWarBoard

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "engine_bin" / "obscuro"
REPORT = ROOT / "docs" / "results" / "first_light.md"
MAX_PLIES = 1000

COLUMNS = ("belief", "nodes", "infosets", "carried", "iterations", "depth")
"""What the table of games shows, each a mean over the engine's moves."""


def main() -> int:
    """Play, and write the report; returns the exit code."""
    arguments = parse_arguments()
    warnings: list[str] = []
    result = MatchResult("obscuro", "random", TimeControl(arguments.movetime))
    console = Console(highlight=False, markup=False)
    arguments.report.parent.mkdir(parents=True, exist_ok=True)
    games_file = arguments.report.with_suffix(".pgn")
    code = 0

    with games_file.open("w", encoding="utf-8") as pgn, progress_bar(console) as progress:
        task = progress.add_task("starting", total=arguments.games)

        def one_ply(board: FogOfWarBoard, ply: PlayedPly) -> None:
            progress.update(task, description=f"ply {len(board.move_stack)}")

        def one_game(index: int, game: GameRecord) -> None:
            write_pgn(pgn, game, event="First light", round_=index + 1)
            progress.update(task, advance=1)
            console.print(" | ".join(game_row(result, index, game)), soft_wrap=True)

        def warn(text: str) -> None:
            if text not in warnings:
                warnings.append(text)
                console.print(text, soft_wrap=True)

        def engine() -> Contestant:
            return make_engine(arguments, warn)

        try:
            play_match(
                engine,
                RandomPlayer,
                games=arguments.games,
                movetime=arguments.movetime,
                seed=arguments.seed,
                max_plies=MAX_PLIES,
                on_game=one_game,
                on_ply=one_ply,
                result=result,
            )
        except KeyboardInterrupt:
            code = 130
        except EngineError as error:
            console.print(f"first_light: {error}", soft_wrap=True)
            code = 1

    lines = list(report(result, arguments, warnings))
    arguments.report.write_text("\n".join(lines) + "\n", encoding="utf-8")
    console.print(f"\n{arguments.report} and {games_file.name} are written.", soft_wrap=True)
    return code


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    evaluator = next(option for option in OPTIONS if option.name == "Evaluator")
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--movetime", type=int, default=200, help="milliseconds a move")
    parser.add_argument("--evaluator", choices=evaluator.choices, default=evaluator.default)
    parser.add_argument("--in-process", action="store_true", help="run the engine in this process")
    parser.add_argument(
        "--check-belief",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="look for the true position in the belief",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random moves")
    parser.add_argument("--report", type=Path, default=REPORT, metavar="FILE")
    return parser.parse_args()


def make_engine(arguments: argparse.Namespace, warn: Callable[[str], None]) -> Contestant:
    """Make the engine as a process, or in this one."""
    if not arguments.in_process:
        return UciPlayer(
            [str(ENGINE)],
            name="obscuro",
            options={"Evaluator": arguments.evaluator},
            check_belief=arguments.check_belief,
            on_warning=warn,
        )
    from obscuro.engine.player import Player  # noqa: PLC0415 - loads numba

    options = Options()
    options.set("Evaluator", arguments.evaluator)
    player = Player(options, warn)
    player.prepare()
    return InProcessPlayer(player, check_belief=arguments.check_belief)


def progress_bar(console: Console) -> Progress:
    """Games done, time, and where the game stands."""
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("games"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


# -- the report -----------------------------------------------------------------------------


def report(
    result: MatchResult, arguments: argparse.Namespace, warnings: list[str]
) -> Iterator[str]:
    """Yield the lines of the report, in Markdown."""
    color_games = [result.tally(color).games for color in (chess.WHITE, chess.BLACK)]
    yield "# First light"
    yield ""
    yield (
        f"Obscuro {__version__} against a player that makes random moves: {len(result.games)} games "
        f"({color_games[0]} as White, {color_games[1]} as Black), {arguments.movetime} ms a move, "
        f"values of positions by `{arguments.evaluator}`, "
        + (
            "engine in the referee's process."
            if arguments.in_process
            else "the real engine process."
        )
    )
    if len(result.games) < arguments.games:
        yield ""
        yield f"Broken off: {len(result.games)} of {arguments.games} games were played."
    yield ""
    yield from ("Made by", "", "```", command_line(), "```", "")
    yield from (f"- {fact}" for fact in machine())
    yield ""
    games_file = arguments.report.with_suffix(".pgn").name
    yield f"The games are in [{games_file}]({games_file})."
    yield ""
    yield "## Summary"
    yield ""
    yield from summary(result)
    if warnings:
        yield from ("", "Said by the engine:", "")
        yield from (f"- {warning}" for warning in warnings)
    yield ""
    yield "## Games"
    yield ""
    yield (
        "Numbers are means over the engine's moves; overrun is the most by which a move took longer "
        "than it may, from sending the position to reading the move (negative: none did)."
    )
    yield ""
    headings = [QUANTITIES[column] for column in COLUMNS]
    yield from table_head(["game", "colour", "result", "ending", "moves", *headings, "overrun, ms"])
    for index, game in sorted(result.games.items()):
        yield f"| {' | '.join(game_row(result, index, game))} |".replace("|P|", "\\|P\\|")


def table_head(headings: list[str]) -> Iterator[str]:
    """Yield the first two lines of a table in Markdown."""
    yield f"| {' | '.join(heading.replace('|', chr(92) + '|') for heading in headings)} |"
    yield f"|{'---|' * len(headings)}"


def game_row(result: MatchResult, index: int, game: GameRecord) -> list[str]:
    """One game as the cells of a table."""
    color = result.first_color(index)
    statistics = Statistics.of(game.turns(color), game.control.movetime)
    means = [number(statistics.means[c], 1 if c == "depth" else 0) for c in COLUMNS]
    outcome = {1.0: "won", 0.5: "drawn", 0.0: "lost"}[game.score(color)]
    return [
        str(index + 1),
        chess.COLOR_NAMES[color],
        outcome,
        game.ending,
        str((len(game.plies) + 1) // 2),
        *means,
        number(statistics.overrun),
    ]


def summary(result: MatchResult) -> Iterator[str]:
    """Yield a table of the whole match."""
    statistics = result.statistics(True)
    games = list(result.games.values())
    turns = [
        t for index, game in result.games.items() for t in game.turns(result.first_color(index))
    ]
    late = sum(turn.seconds * 1000 > (result.control.movetime or 0) for turn in turns)
    captures = sum(
        game.ending == "king captured" and game.score(result.first_color(index)) == 1
        for index, game in result.games.items()
    )
    plies = sum(len(game.plies) for game in games)
    yield from table_head(["", ""])
    rows = [
        ("won / drawn / lost", str(result.tally()).replace("/", " / ")),
        ("won by capturing the king", str(captures)),
        ("games not ended by the rules", str(len(result.irregular()))),
        ("plies a game", number(plies / len(games) if games else None, 1)),
        ("the engine's moves", number(statistics.moves)),
    ]
    for quantity, heading in QUANTITIES.items():
        digits = 1 if quantity == "depth" else 0
        rows.append((f"{heading} a move", number(statistics.means[quantity], digits)))
    rows += [
        ("largest |P|", number(statistics.largest_belief)),
        ("moves with a cut belief", number(statistics.inexact)),
        ("true position looked for in P, and found", f"{number(statistics.belief_checks)} times"),
        ("seconds a move", number(statistics.seconds, 3)),
        ("largest overrun, ms", number(statistics.overrun)),
        ("moves that overran", number(late)),
    ]
    for name, value in rows:
        yield f"| {name} | {value} |".replace("|P|", "\\|P\\|")


def command_line() -> str:
    """Return the command that was given, as from the root of the repository."""
    return " ".join(["python", "-m", "tools.play.first_light", *sys.argv[1:]])


def machine() -> Iterator[str]:
    """Yield what the numbers depend on: when, on what, with which programs."""
    yield f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}, commit {commit()}"
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield f"{processor()}, {len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB"
    yield f"Python {platform.python_version()}, numba {version('numba')}, {stockfish_name()}"


def commit() -> str:
    """Return the commit that was run, and whether the program was changed beside it."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "obscuro", "engine_bin", "pyproject.toml")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("-dirty" if changed else "")


def processor() -> str:
    """Return the model of the CPU."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def stockfish_name() -> str:
    """Return what the Stockfish that the engine finds calls itself."""
    path = stockfish_path()
    if path is None:
        return "no Stockfish"
    try:
        process = StockfishProcess(path)
    except StockfishError as error:
        return f"no Stockfish that runs ({error})"
    process.close()
    return process.name


if __name__ == "__main__":
    sys.exit(main())
