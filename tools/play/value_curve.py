"""What pawns are worth in fog: the results of recorded games by the evaluator's values.

    python -m tools.play.value_curve fast.pgn.gz slow.jsonl --json curve.json --plot curve.png

GAMES are files of `obscuro match --pgn` or `--log`, or folders of PGN files. Games of the engine
against other programs are left out, and games that the rules did not end. Turns are grouped by the
time of their games.

Each turn's true position has a leaf value: what the search gives to a leaf there, with `nnue` the
value after all captures that pay, converted back to pawns. Results, 1, 0 or -1, and pawns are in the
view of the side to move. Curves are fitted by maximum likelihood, to results taken as wins and
losses, a draw as half of each. tanh(pawns / τ) is the logistic curve with a scale of τ / 2 pawns. b
is what is added to the pawns. Errors are standard errors by game. Losses are those of games that the
curve was not fitted to, ten parts in all, in nats a turn.

Turns in which the side to move can capture the king, and those whose leaf value is that of a mate,
are counted apart. A side sees the enemy's king only where it can capture it at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from obscuro.cli.bench.common import progress
from obscuro.evaluation.factory import make_evaluator
from obscuro.evaluation.scale import TAU
from obscuro.matches.journal import JournalError
from obscuro.viewer.game_file import GameFileError
from tools.common import add_evaluator, publish, say, table, tool_parser
from tools.play.curve_figures import ALL, BASE, ENDS, FORMS, Figures, figures_of
from tools.play.recorded_games import FiledGame, load_games, replay_words
from tools.play.turn_values import read_turns
from tools.results.manifest import Loaded

HEADINGS = {
    "pieces": "knights, bishops, rooks and queens of both sides",
    "hidden": "of the enemy's pieces and pawns, unseen by the side to move",
    "covered": "of the mover's pieces and pawns, unseen by the enemy",
    "difference": "who sees more of the other's pieces and pawns",
    "belief": "size of the mover's P",
    "king": "the mover's king",
    "attacked": "the mover's knights, bishops, rooks and queens",
}
_KINDS = {"seen": "what a leaf knows", "known": "with the sizes of both sides' P"}
_WIDTH = 12  # pawns to each side in the picture


# -- tables -----------------------------------------------------------------------------------


def render(figures: Figures) -> Iterator[str]:
    """Yield all tables."""
    parts = (render_counts, render_forms, render_bins, render_classes, render_losses)
    for part in (*parts, render_terms, render_kings, render_ahead):
        yield from part(figures)
        yield ""


def render_counts(figures: Figures) -> Iterator[str]:
    """Yield a row for each time of games: how many, and which turns are left out."""
    headings = ["time", "games", "drawn", "turns", "king can be captured", "mates", "fitted"]
    names = ("games", "drawn", "turns", "takes_king", "decided", "sample")
    cells = [
        [time, *(f"{each['counts'][key]:,}" for key in names)] for time, each in figures.items()
    ]
    yield from table(headings, cells, "l" + "r" * len(names))


def render_games(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the counts of the run of this tool, the last one, and where the others' games are."""
    *matches, (_, curve, _) = loaded
    yield from render_counts(curve.data)
    yield ""
    for run, raw, _ in matches:
        yield f"[PGN](raw/{run.page}/{raw.games}) of {run.label}."


def render_forms(figures: Figures) -> Iterator[str]:
    """Yield the parameters of each form, a column for each time of games."""
    cells = []
    for form in FORMS:
        found = [each["forms"][form.name] for each in figures.values()]
        cells.append([f"`{form.name}`", *map(_parameters, found)])
    cells.append(["τ by the best child", *(_parameters(each["best"]) for each in figures.values())])
    yield from table(["curve", *figures], cells, "l" + "l" * len(figures))


def render_bins(figures: Figures) -> Iterator[str]:
    """Yield the mean result by pawns, beside τ = 6, a column for each time of games."""
    by_time = [{row[0]: row for row in each["bins"]} for each in figures.values()]
    cells = []
    for low, pawns, *_ in figures[ALL]["bins"]:
        found = [_with_error(*each[low][2:4]) if low in each else "-" for each in by_time]
        cells.append([f"{pawns:+.1f}", f"{np.tanh(pawns / TAU):+.2f}", *found])
    yield from table(["pawns", "tanh(p / 6)", *figures], cells, "rr" + "r" * len(figures))


def render_classes(figures: Figures) -> Iterator[str]:
    """Yield τ and b by class of turns, two columns for each time of games."""
    headings = ["turns of class", "turns", *(f"τ, {time}" for time in figures)]
    headings += [f"b, {time}" for time in figures]
    cells: list[list[str]] = []
    for group, title in HEADINGS.items():
        cells.append([f"**{title}**"] + [""] * (len(headings) - 1))
        for name, all_turns in figures[ALL]["classes"][group].items():
            of_class = [each["classes"][group][name] for each in figures.values()]
            line = [name, f"{all_turns['turns']:,}"]
            line += [_parameters(each["tau"]) for each in of_class]
            cells.append(line + [_parameters(each["shift"], "+.2f") for each in of_class])
    yield from table(headings, cells, "l" + "r" * (len(headings) - 1))


def render_losses(figures: Figures) -> Iterator[str]:
    """Yield the losses on held-out games: that of τ = 6, and the others' differences to it."""
    cells = []
    for name in figures[ALL]["held_out"]:
        line = [f"`{name}`" if "tanh" in name else name]
        for each in figures.values():
            loss, more, error = each["held_out"][name]
            line.append(f"{loss:.4f}" if name == BASE else _loss(more, error))
        cells.append(line)
    yield from table(["curve", *figures], cells, "l" + "r" * len(figures))


def render_terms(figures: Figures) -> Iterator[str]:
    """Yield the weights of what fog adds to pawns, without and with both sides' P, by time."""
    headings, cells = ["in pawns", *figures], []
    for kind in figures[ALL]["terms"]:
        of_kind = [each["terms"].get(kind) for each in figures.values()]
        cells.append([f"**{_KINDS[kind]}**"] + [""] * len(figures))
        for name in figures[ALL]["terms"][kind]["weights"]:
            weights = [[] if each is None else [each["weights"][name]] for each in of_kind]
            form = ".2f" if name == "τ" else "+.2f"
            cells.append([name, *(_parameters(each, form) for each in weights)])
        losses = ["-" if each is None else _loss(*each["loss"][1:]) for each in of_kind]
        cells.append([f"loss less that of `{BASE}`", *losses])
    yield from table(headings, cells, "l" + "r" * len(figures))


def render_kings(figures: Figures) -> Iterator[str]:
    """Yield a row for each kind of danger to a king, of all times, and b for each time."""
    headings = ["turns", "number", "result", "leaf value", "result less leaf value"]
    headings += [
        "captures the king",
        "mates",
        "loses its king",
        *(f"b, {time}" for time in figures),
    ]
    cells = []
    for place, row in enumerate(figures[ALL]["kings"]):
        line = [row["name"], f"{row['turns']:,}", _pair(row["result"]), _pair(row["leaf"])]
        line += [_pair(row["excess"])]
        line += [_share(row[key]) for key in ("wins_king", "mates", "loses_king")]
        shifts = [each["kings"][place]["shift"] for each in figures.values()]
        cells.append(line + [_parameters(shift, "+.2f") for shift in shifts])
    yield from table(headings, cells, "l" + "r" * (len(headings) - 1))


def render_ahead(figures: Figures) -> Iterator[str]:
    """Yield how sides ended that were ahead at a turn of theirs, by time and pawns."""
    headings = ["time", "ahead by", "sides", "won", "drawn", "lost", *ENDS.values()]
    cells = []
    for time, each in figures.items():
        for row in each["ahead"]:
            shares = [f"{count / max(row['sides'], 1):.1%}" for count in row["score"]]
            line = [time, f"{row['pawns']:+g}", f"{row['sides']:,}", *shares]
            cells.append([*line, *(str(row["ends"][end]) for end in ENDS)])
    yield from table(headings, cells, "l" + "r" * (len(headings) - 1))


def _parameters(found: Sequence[Sequence[float]], form: str = ".2f") -> str:
    return ", ".join(f"{value:{form}} ± {error:.2f}" for value, error in found) or "-"


def _loss(more: float, error: float) -> str:
    return f"{more:+.4f} ± {error:.4f}"


def _with_error(value: float, error: float | None) -> str:
    return f"{value:+.2f}" + ("" if error is None else f" ± {error:.2f}")


def _pair(found: Sequence[float | None]) -> str:
    value, error = found
    return "-" if value is None else _with_error(value, error)


def _share(found: Sequence[float | None]) -> str:
    value, error = found
    if value is None:
        return "-"
    return f"{value:.1%}" + ("" if not error else f" ± {100 * error:.1f}")


# -- the picture --------------------------------------------------------------------------------


def draw(file: Path, loaded: Loaded, mark: str) -> None:
    """Draw the picture of the page from its raw file."""
    plot(file, loaded.raw.data, mark)


def plot(file: Path, figures: Figures, mark: str = "") -> None:
    """Draw the mean result by pawns for each time of games; and what the side to move sees.

    mark: what the PNG says of its origin. Bars are two standard errors to each side.
    """
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    times = [time for time in figures if time != ALL] or [ALL]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    pawns = np.linspace(-_WIDTH, _WIDTH, 200)
    for axis in (left, right):
        axis.axhline(0, color="lightgray", linewidth=0.8)
        axis.axvline(0, color="lightgray", linewidth=0.8)
    left.plot(pawns, np.tanh(pawns / TAU), color="black", label="tanh(pawns / 6)")
    for place, time in enumerate(times):
        bins = np.array([row[1:4] for row in figures[time]["bins"]], dtype=np.float64)
        near = np.abs(bins[:, 0]) <= _WIDTH
        at, mean, error = bins[near].T
        left.errorbar(at + 0.08 * place, mean, 2 * error, fmt=".", label=time)
        base = np.tanh(at / TAU)
        right.errorbar(
            at + 0.08 * place, mean - base, 2 * error, fmt=".-", linewidth=0.6, label=time
        )
    left.set(xlabel="leaf value, pawns", ylabel="mean result", title="side to move")
    right.set(xlabel="leaf value, pawns", ylabel="mean result less tanh(pawns / 6)")
    left.legend(fontsize="small")
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)


# -- running ----------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the command line."""
    parser = tool_parser("tools.play.value_curve", __doc__, stores=False)
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="GAMES", help="a PGN file, a journal, or a folder"
    )
    parser.add_argument(
        "--least",
        type=int,
        default=100,
        metavar="N",
        help="times with fewer games get no column of their own",
    )
    parser.add_argument(
        "--json", "--raw", dest="raw", type=Path, metavar="FILE", help="store the figures: .json"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE", help="needs matplotlib")
    add_evaluator(parser)
    return parser


def self_play(paths: Sequence[Path]) -> list[FiledGame]:
    """Return the games of files and of folders' PGN files in which one program plays both sides.

    A match of a program with itself calls its sides by the same word, with a letter for each.
    Raises GameFileError or JournalError.
    """
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.pgn*")) if path.is_dir() else [path]
    found = []
    for file in files:
        games = load_games(file)
        mine = [
            game for game in games if len({_program(name) for name in game.names.values()}) == 1
        ]
        say(f"{file}: {len(games)} games, {len(mine)} of one program with itself")
        found += mine
    return found


def _program(name: str) -> str:
    return name.partition(" ")[0]


def main(words: Sequence[str] | None = None) -> int:
    """Fit, and print the tables; returns the exit code."""
    words = replay_words(words)
    parser = make_parser()
    told = parser.parse_args(words)
    try:
        games = [game for game in self_play(told.files) if game.regular and game.moves]
    except (GameFileError, JournalError) as error:
        parser.error(str(error))
    if not games:
        parser.error("no game there that one program played with itself to its end")
    with (
        closing(make_evaluator(told.evaluator, on_warning=say)) as evaluator,
        progress(len(games)) as tell,
    ):
        evaluator.start()
        tell("valuing the games' turns", 0)
        turns = read_turns(games, evaluator, lambda done: tell(None, 1))
    figures: Any = figures_of(games, turns, told.least)
    publish(parser, words, told.raw, figures, render)
    if told.plot is not None:
        plot(told.plot, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
