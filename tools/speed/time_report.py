"""The time used in recorded games: losses on time, overruns, clocks; and a plot of one game.

    obscuro match obscuro obscuro --games 60 --tc 10+0.1 --pgn blitz.pgn
    python -m tools.speed.time_report blitz.pgn --plot clock.png --game 1

Reads what `obscuro match --pgn` writes: the referee's time for each move, to the millisecond, from
when it sent `go` until it had read `bestmove`. Both players' moves count. Prints one row for each
file; exits with 1 if a game was lost on time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chess
import chess.pgn
import numpy as np
import numpy.typing as npt

from obscuro.engine.options import Options
from obscuro.matches.pgn import read_comment
from obscuro.matches.time_control import MILLISECONDS, TimeControl
from obscuro.rules.board import FogOfWarBoard
from tools.common import given, table, tool_parser
from tools.results.manifest import Loaded
from tools.results.raw import open_text

LOST_ON_TIME = "lost on time"
COLOURS = {chess.WHITE: "tab:orange", chess.BLACK: "tab:blue"}


class Game(NamedTuple):
    """What is known of one game's time.

    seconds: of each ply in order, NaN where the player said nothing (a random mover).
    """

    white: str
    black: str
    result: str
    control: TimeControl
    seconds: npt.NDArray[np.float64]
    lost_on_time: bool

    def remaining(self, color: chess.Color) -> npt.NDArray[np.float64]:
        """Seconds left on the clock of *color* when each of its moves was made, before the increment."""
        used = self.seconds[color == chess.BLACK :: 2]
        gained = self.control.increment * np.arange(len(used))
        return (self.control.base + gained) / MILLISECONDS - np.nancumsum(used)


def read_games(path: Path) -> Iterator[Game]:
    """The games of a PGN file. Raises ValueError for one without a time control."""
    with open_text(path) as stream:
        while (game := chess.pgn.read_game(stream)) is not None:
            headers = game.headers
            if game.errors or not isinstance(game.board(), FogOfWarBoard):
                raise ValueError(f"{path}: a game that is not one of Fog of War chess")
            if "MoveTime" in headers:
                control = TimeControl(int(headers["MoveTime"].split()[0]))
            elif "TimeControl" in headers:
                control = TimeControl.parse(headers["TimeControl"])
            else:
                raise ValueError(f"{path}: a game has neither MoveTime nor TimeControl")
            notes = [read_comment(node.comment, not node.turn()) for node in game.mainline()]
            yield Game(
                headers["White"],
                headers["Black"],
                headers["Result"],
                control,
                np.array([np.nan if n.seconds is None else n.seconds for n in notes]),
                headers.get("Termination", "").endswith(LOST_ON_TIME),
            )


def row(title: str, games: Sequence[Game], overhead: int) -> list[str]:
    """A table's row. overhead: the engines' `Move Overhead`, in milliseconds."""
    control = games[0].control
    seconds = np.concatenate([game.seconds for game in games])
    seconds = seconds[~np.isnan(seconds)]
    cells = [
        title,
        str(control),
        str(len(games)),
        str(len(seconds)),
        str(sum(game.lost_on_time for game in games)),
    ]
    if control.movetime is None:
        least = min(
            (
                left.min()
                for game in games
                for color in chess.COLORS
                if len(left := game.remaining(color))
            ),
            default=float("nan"),
        )
        return [*cells, *["-"] * 5, f"{least:.2f} s"]
    over = MILLISECONDS * seconds - control.movetime
    quantiles = [f"{value:+.0f}" for value in np.quantile(over, (0.5, 0.99, 0.999))]
    in_time = [f"{(over <= limit).mean():.2%}" for limit in (0, overhead)]
    return [*cells, *quantiles, f"{over.max():+.0f}", " / ".join(in_time), "-"]


HEADINGS = (
    "games of", "time", "games", "moves", "lost on time", "overrun, ms: median", "99 %", "99.9 %",
    "largest", "within 0 / overhead", "least left on a clock",
)  # fmt: skip


def render_runs(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield a table with a row for each match whose games were kept."""
    overhead = Options().integer("Move Overhead")
    rows = []
    for each in loaded:
        if each.raw.games is None:
            raise ValueError(f"{each.run.name}: the games were not kept")
        games = list(read_games(each.folder / each.raw.games))
        rows.append(row(each.run.title, games, overhead))
    yield from table(HEADINGS, rows)


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the first game of a match; *mark* is what the PNG says of its origin."""
    if loaded.raw.games is None:
        raise ValueError(f"{loaded.run.name}: the games were not kept")
    plot(file, next(read_games(loaded.folder / loaded.raw.games)), mark)


def plot(file: Path, game: Game, mark: str = "") -> None:
    """Draw what each move took and what was left on the clocks."""
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    clocked = game.control.movetime is None
    figure, axes = pyplot.subplots(
        1 + clocked,
        1,
        figsize=(9, 3 + 3 * clocked),
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    upper, lower = axes[0][0], axes[-1][0]
    for color, name in ((chess.WHITE, game.white), (chess.BLACK, game.black)):
        used = game.seconds[color == chess.BLACK :: 2]
        moves = np.arange(1, len(used) + 1)
        label = f"{chess.COLOR_NAMES[color]}: {name}"
        shift = 0.2 if color == chess.BLACK else -0.2
        upper.bar(moves + shift, used, width=0.4, color=COLOURS[color], label=label)
        if clocked:
            lower.plot(moves, game.remaining(color), color=COLOURS[color], label=label)
            lower.set(ylabel="seconds left on the clock", ylim=(0, None))
    upper.set(ylabel="seconds for the move", title=f"{game.control}, {game.result}")
    upper.legend(fontsize="small")
    lower.set(xlabel="move")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.speed.time_report", __doc__, stores=False)
    parser.add_argument("files", nargs="+", type=Path, metavar="PGN", help="may be compressed")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="needs matplotlib")
    parser.add_argument(
        "--game", type=int, default=1, help="that is plotted, of the first file; default: 1"
    )
    parser.add_argument(
        "--overhead",
        type=int,
        default=Options().integer("Move Overhead"),
        help="in milliseconds",
    )
    return parser


def main(words: Sequence[str] | None = None) -> int:
    """Print the table, draw the plot; returns the exit code."""
    parser = make_parser()
    told = parser.parse_args(given(words))
    try:
        files = {path: list(read_games(path)) for path in told.files}
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if empty := [str(path) for path, games in files.items() if not games]:
        parser.error(f"no game in {', '.join(empty)}")
    rows = [row(path.stem, games, told.overhead) for path, games in files.items()]
    print("\n".join(table(HEADINGS, rows)))
    if told.plot is not None:
        first = files[told.files[0]]
        if not 1 <= told.game <= len(first):
            parser.error(f"--game: {told.files[0]} has games 1 to {len(first)}")
        plot(told.plot, first[told.game - 1])
    return int(any(game.lost_on_time for games in files.values() for game in games))


if __name__ == "__main__":
    sys.exit(main())
