"""Play the engine against random moves, and look for the true position in its belief.

    python -m tools.play.first_light --evaluator stockfish

Plays 40 games, half with each colour, at 200 ms a move, with the real process that a GUI starts.
Before each of its moves the tool looks for the true position in the engine's belief (where that is
exact and not too large to be listed). --in-process does so after every ply, with the engine in this
process. Prints a table of the games. With --raw FILE the games themselves go beside that file, as
PGN. Ctrl-C shows what there is.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import chess

from obscuro.cli.bench.common import progress
from obscuro.client.move_report import Report
from obscuro.matches.builtin_players import Warn
from obscuro.matches.event import Entrant, Event, GameTask, match_games
from obscuro.matches.game_record import BeliefError, Contestant, GameRecord, PlayedPly, Turn
from obscuro.matches.game_workers import LocalWorkers
from obscuro.matches.openings import PLAIN
from obscuro.matches.pgn import write_pgn
from obscuro.matches.play_event import play_event
from obscuro.matches.players import InProcessPlayer, RandomPlayer
from obscuro.matches.standings import QUANTITIES, MatchResult, Statistics, number
from obscuro.matches.time_control import MILLISECONDS, TimeControl
from obscuro.matches.uci_player import UciPlayer
from obscuro.rules.board import FogOfWarBoard
from tools.common import (
    INTERRUPTED,
    ROOT,
    add_evaluator,
    engine_options,
    given,
    publish,
    say,
    table,
    tool_parser,
)
from tools.results.raw import write_bytes

ENGINE = ROOT / "engine_bin" / "obscuro"
MAX_PLIES = 1000

COLUMNS = ("belief", "nodes", "infosets", "carried", "iterations", "depth")
"""What the table of games shows, each a mean over the engine's moves."""


# -- playing --------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.first_light", __doc__)
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--movetime", type=int, default=200, help="milliseconds a move")
    add_evaluator(parser)
    parser.add_argument("--in-process", action="store_true", help="run the engine in this process")
    parser.add_argument(
        "--check-belief",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="look for the true position in the belief",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the random moves")
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Play, and print the report; returns the exit code."""
    words = given(words)
    parser = make_parser()
    told = parser.parse_args(words)
    warnings: list[str] = []
    event = Event(
        name="First light",
        entrants=(Entrant("obscuro", str(ENGINE)), Entrant("random", "random")),
        tasks=match_games(told.games, [PLAIN], told.seed),
        control=TimeControl(told.movetime),
        max_plies=MAX_PLIES,
    )
    code = 0

    def warn(text: str) -> None:
        if text not in warnings:
            warnings.append(text)
            say(text)

    with tempfile.TemporaryDirectory() as folder, progress(told.games) as tell:
        games_file = Path(folder) / "games.pgn"
        with games_file.open("w", encoding="utf-8") as pgn:

            def one_ply(board: FogOfWarBoard, ply: PlayedPly) -> None:
                tell(None, 0)

            def one_game(task: GameTask, game: GameRecord) -> None:
                write_pgn(pgn, game, event=event.name, round_=task.number + 1)
                text = f"game {task.number + 1} of {told.games}: {game.result}, {game.ending}"
                tell(text, 1)

            def make(entrant: Entrant, warn: Warn, coverage: bool) -> Contestant:
                return RandomPlayer() if entrant.name == "random" else make_engine(told, warn)

            ended = play_event(
                event, LocalWorkers(1, warn, make=make, on_ply=one_ply), on_game=one_game
            )
        if isinstance(ended.failure, KeyboardInterrupt):
            code = INTERRUPTED
        elif isinstance(ended.failure, BeliefError):
            raise ended.failure
        elif ended.failure is not None:
            say(f"first_light: {ended.failure}")
            code = 1
        games: str | None = None
        if told.raw is not None:
            games = told.raw.name.partition(".")[0] + ".pgn.gz"
            told.raw.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(told.raw.parent / games, games_file.read_bytes())
    figures = {"warnings": warnings, "games": to_figures(MatchResult(event, ended.games))}
    publish(parser, words, told.raw, figures, render, games=games)
    return code


def make_engine(told: argparse.Namespace, warn: Callable[[str], None]) -> Contestant:
    """Make the engine as a process, or in this one."""
    if not told.in_process:
        return UciPlayer(
            [str(ENGINE)],
            name="obscuro",
            options={"Evaluator": told.evaluator},
            coverage=told.check_belief,
            on_warning=warn,
        )
    from obscuro.engine.player import Player  # noqa: PLC0415 - loads numba

    player = Player(engine_options(Evaluator=told.evaluator), warn)
    player.prepare()
    return InProcessPlayer(player, check_belief=told.check_belief)


# -- the report -----------------------------------------------------------------------------


def to_figures(result: MatchResult) -> list[dict[str, Any]]:
    """Return each game as it is stored: how it ended, and what the engine said in each move."""
    figures = []
    for index, game in sorted(result.games.items()):
        color = result.first_color(index)
        figures.append(
            {
                "game": index + 1,
                "colour": chess.COLOR_NAMES[color],
                "score": game.score(color),
                "ending": game.ending,
                "regular": game.regular,
                "plies": len(game.plies),
                "movetime": game.controls[color].movetime,
                "moves": [to_move(turn) for turn in game.turns(color)],
            }
        )
    return figures


def to_move(turn: Turn) -> dict[str, Any]:
    """Return one of the engine's moves as it is stored."""
    said = {} if turn.report is None else asdict(turn.report)
    return {"uci": turn.uci, "seconds": turn.seconds, "checks": turn.belief_checks, "report": said}


def statistics_of(games: Sequence[dict[str, Any]]) -> Statistics:
    """Return means over the engine's moves of some games."""
    turns = [
        Turn(
            move["uci"],
            move["seconds"],
            Report(**move["report"]) if move["report"] else None,
            move["checks"],
        )
        for game in games
        for move in game["moves"]
    ]
    return Statistics.of(turns, games[0]["movetime"] if games else None)


def render(figures: dict[str, Any]) -> Iterator[str]:
    """Yield both tables, and what the engine warned of."""
    yield from render_summary(figures)
    for warning in figures["warnings"]:
        yield from ("", f"The engine said: {warning}")
    yield ""
    yield from render_games(figures)


def render_games(figures: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the games."""
    rows = []
    for game in figures["games"]:
        statistics = statistics_of([game])
        means = [number(statistics.means[c], 1 if c == "depth" else 0) for c in COLUMNS]
        outcome = {1.0: "won", 0.5: "drawn", 0.0: "lost"}[game["score"]]
        cells = [game["game"], game["colour"], outcome, game["ending"], (game["plies"] + 1) // 2]
        rows.append([*cells, *means, number(statistics.overrun)])
    headings = ["game", "colour", "result", "ending", "moves"]
    headings += [QUANTITIES[column] for column in COLUMNS]
    yield from table([*headings, "overrun, ms"], rows)


def render_summary(figures: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the whole match."""
    games = figures["games"]
    statistics = statistics_of(games)
    scores = [game["score"] for game in games]
    late = sum(
        MILLISECONDS * move["seconds"] > game["movetime"]
        for game in games
        for move in game["moves"]
    )
    captures = sum(game["ending"] == "king captured" and game["score"] == 1 for game in games)
    plies = sum(game["plies"] for game in games)
    rows = [
        ("won / drawn / lost", " / ".join(str(scores.count(score)) for score in (1.0, 0.5, 0.0))),
        ("won by capturing the king", str(captures)),
        ("games not ended by the rules", str(sum(not game["regular"] for game in games))),
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
    yield from table(["", ""], rows)


if __name__ == "__main__":
    sys.exit(main())
