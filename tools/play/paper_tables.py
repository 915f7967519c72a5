"""The tables and the curve of docs/results/paper.md: the paper's matches beside ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import chess

from obscuro.matches.elo import Elo, Tally, trinomial
from tools.common import table
from tools.play import first_moves
from tools.play.first_moves import PAPER
from tools.play.paper_experiments import (
    ABLATION,
    BEYOND,
    CORES,
    EXPERIMENTS,
    FIRST_MOVES,
    OTHERS,
    SCALING,
    SELF_PLAY,
    Experiment,
    percent,
)
from tools.results.manifest import Loaded
from tools.results.matches import MatchRow, match_of_games
from tools.results.render import origins, wrap
from tools.speed import search_scale

NOT_PLAYED = "not yet played"
USUAL_WORDS = 4
"""Of a command without --movetime and --threads."""
HEADINGS = (
    *("match", "paper", "its Elo, 95 %", "ours", "Elo, 95 %", "won / drawn / lost", "games"),
    "time",
)


class Played(NamedTuple):
    """What our games of an experiment say.

    pgn: where they are, from the page. usual: whether the time and the threads are the usual ones.
    """

    row: MatchRow
    pgn: str
    usual: bool

    @property
    def games(self) -> str:
        """The number of games, with a link to them."""
        return f"[{self.row.tally.games}]({self.pgn})"


def all_played(loaded: Sequence[Loaded]) -> dict[str, list[Played]]:
    """Return the results by the names of the experiments, those at the usual time first."""
    found: dict[str, list[Played]] = {}
    for each in loaded:
        assert each.raw.games is not None
        row = match_of_games(each.folder / each.raw.games)
        usual = len(each.run.words) == USUAL_WORDS
        result = Played(row, f"raw/{each.run.page}/{each.raw.games}", usual)
        found.setdefault(name_of(each), []).append(result)
    return {name: sorted(each, key=lambda one: not one.usual) for name, each in found.items()}


def played(loaded: Sequence[Loaded]) -> dict[str, Played]:
    """Return the results at the usual time and with the usual threads."""
    return {name: each[0] for name, each in all_played(loaded).items() if each[0].usual}


def name_of(loaded: Loaded) -> str:
    """Return the name of the experiment that a run plays."""
    return loaded.run.words[3]


def of_group(*groups: str) -> list[Experiment]:
    """Return the experiments of some groups, in their order."""
    return [each for each in EXPERIMENTS.values() if each.group in groups]


# -- the tables ---------------------------------------------------------------------------------


def render_ablations(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the ablations: what the engine scores against itself without a technique."""
    yield from _matches(loaded, of_group(ABLATION))


def render_opponents(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the matches against other players."""
    yield from _matches(loaded, of_group(OTHERS))


def render_beyond(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the matches that the paper has not."""
    yield from _matches(loaded, of_group(BEYOND, CORES))


def render_scaling(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the matches of twice the time against once."""
    yield from _matches(loaded, of_group(SCALING))


def render_first_moves(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what Black scores with each first move, when White does not know it."""
    found = played(loaded)
    shares = PAPER[chess.BLACK]
    rows = []
    for experiment in of_group(FIRST_MOVES):
        share = shares.get(experiment.label)
        cells = [f"1...{experiment.label}", "" if share is None else f"{share} %"]
        ours = found.get(experiment.name)
        if ours is None:
            rows.append([*cells, NOT_PLAYED, "", "", ""])
            continue
        white = ours.row.white_tally()
        black = Tally(white.losses, white.draws, white.wins)
        elo = str(trinomial(black))
        rows.append([*cells, percent(black), elo, counts(black), ours.games])
    headings = ["first move", "paper's share", "Black's score", "Elo, 95 %", "won / drawn / lost"]
    yield from table([*headings, "games"], rows, "lrrrrr")
    yield from ("", *origin(loaded))


def render_self_play(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield what White scores against Black in the engine's games against itself."""
    found = played(loaded)
    rows = []
    for experiment in of_group(SELF_PLAY):
        paper, ours = experiment.paper, found.get(experiment.name)
        assert paper is not None
        cells = [experiment.label, percent(paper), str(trinomial(paper))]
        if ours is None:
            rows.append([*cells, NOT_PLAYED, "", "", "", ""])
            continue
        white = ours.row.white_tally()
        elo = str(trinomial(white))
        rows.append([*cells, percent(white), elo, counts(white), ours.games, ours.row.time])
    yield from table(HEADINGS, rows, "lrrrrrrl")
    yield from ("", *origin(loaded))


def render_searches(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the first moves that were searched, White's and Black's."""
    if not loaded:
        yield "No search has been made yet."
    for each in loaded:
        yield from first_moves.render(each.raw.data)
    yield from made_by(loaded)


def render_scale(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the sizes of searches in whole games, beside Appendix D."""
    if not loaded:
        yield "No game has been played yet."
    for each in loaded:
        yield from (*search_scale.render(each.raw.data), "")
    yield from made_by(loaded)


def made_by(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield the commands of tools, and when and on what they ran."""
    if loaded:
        yield from origins(loaded)


def _matches(loaded: Sequence[Loaded], experiments: Sequence[Experiment]) -> Iterator[str]:
    found = all_played(loaded)
    rows = []
    for experiment in experiments:
        paper = experiment.paper
        cells = [experiment.label]
        cells += ["", ""] if paper is None else [percent(paper), str(trinomial(paper))]
        if experiment.name not in found:
            rows.append([*cells, NOT_PLAYED, "", "", "", ""])
        for ours in found.get(experiment.name, []):
            tally, row = ours.row.tally, ours.row
            rows.append([*cells, percent(tally), row.elo, counts(tally), ours.games, row.time])
    yield from table(HEADINGS, rows, "lrrrrrrl")
    yield from ("", *origin(loaded))


def counts(tally: Tally) -> str:
    """Return wins, draws and losses for a cell."""
    return str(tally).replace("/", " / ")


def origin(loaded: Sequence[Loaded]) -> Iterator[str]:
    """Yield when, at which commits and on what the games were played."""
    blocks = [block for each in loaded for block in each.raw.data["blocks"]]
    if not blocks:
        yield "No game of this table has been played yet."
        return
    dates = sorted({block["date"] for block in blocks})
    commits = ", ".join(dict.fromkeys(block["commit"] for block in blocks))
    machines = "; ".join(dict.fromkeys(each.raw.machine_line() for each in loaded))
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    at_once = sorted({block["concurrency"] for block in blocks})
    yield from wrap(
        f"Played {days} at {' or '.join(map(str, at_once))} games a time, commits {commits}; "
        f"{machines}."
    )


# -- the curve ----------------------------------------------------------------------------------


class Step(NamedTuple):
    """What twice the time gains. seconds: of the quicker player; elo, error: of the slower one."""

    seconds: float
    elo: float
    error: float


def steps(results: Mapping[float, Elo]) -> list[Step]:
    """Return the steps whose Elo is finite, by the seconds of the quicker player."""
    return [
        Step(seconds, elo.difference, (elo.high - elo.low) / 2)
        for seconds, elo in sorted(results.items())
        if math.isfinite(elo.low) and math.isfinite(elo.high)
    ]


def curve(found: Sequence[Step], start: float = 0.0) -> list[Step]:
    """Return the strength at each time: steps that follow each other, added up.

    start: the strength at the first time. The error of a sum is that of independent matches. A step
    that is missing ends the curve.
    """
    points = [Step(found[0].seconds, start, 0.0)] if found else []
    for step in found:
        last = points[-1]
        if not math.isclose(step.seconds, last.seconds):
            break
        error = math.hypot(last.error, step.error)
        points.append(Step(2 * step.seconds, last.elo + step.elo, error))
    return points


def draw_scaling(file: Path, loaded: Sequence[Loaded], mark: str) -> None:
    """Draw both curves of strength against time. mark: goes into the PNG."""
    import matplotlib  # noqa: PLC0415  an optional dependency

    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    paper, ours, found = {}, {}, played(loaded)
    for experiment in of_group(SCALING):
        assert experiment.paper is not None
        seconds = float(experiment.name.partition("-")[2])
        paper[seconds] = trinomial(experiment.paper)
        if experiment.name in found:
            ours[seconds] = found[experiment.name].row.interval()
    figure, axes = pyplot.subplots(figsize=(8, 4.8), layout="constrained")
    theirs, found_steps = curve(steps(paper)), steps(ours)
    # If our first steps are missing, our curve begins on the paper's.
    at_first = {each.seconds: each.elo for each in theirs}
    start = at_first[found_steps[0].seconds] if found_steps else 0.0
    mine = curve(found_steps, start)
    for name, points in (("paper, 5 cores", theirs), ("ours, 1 core", mine)):
        if points:
            times = [point.seconds for point in points]
            errors = [point.error for point in points]
            values = [point.elo for point in points]
            axes.errorbar(times, values, errors, fmt="o-", markersize=4, capsize=3, label=name)
    axes.set_xscale("log", base=2)
    ticks = sorted({*paper, *(2 * seconds for seconds in paper)})
    names = [str(Fraction(seconds)) for seconds in ticks]
    axes.set_xticks(ticks, names)
    axes.set(xlabel="seconds a move", ylabel="Elo above 1/16 s a move")
    axes.grid(color="0.9")
    axes.legend()
    figure.savefig(file, dpi=90, metadata={"Software": None, "Description": mark})
    pyplot.close(figure)
