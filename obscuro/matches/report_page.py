"""The report of a tournament: one HTML file that needs no server, no network and no script.

`report.html.jinja` has the page; here are its numbers as texts, and the drawings in it. All lengths
of a drawing are in units of which it is `WIDTH` wide. That is about the width of a phone, so that
texts stay readable there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import NamedTuple

import jinja2

from obscuro import __version__
from obscuro.matches.coverage_table import coverage_tables
from obscuro.matches.elo import Elo
from obscuro.matches.game_record import OWN_OBSERVATIONS
from obscuro.matches.rating import Estimate
from obscuro.matches.standings import QUANTITIES, Standings, TimeFamily, number
from obscuro.matches.time_control import time_text

_STATED = {"belief": 0, "nodes": 0, "depth": 1}
"""The quantities of a player's moves in the report, with their decimals."""
RESULT_NAMES = {
    "1-0": ("white-wins", "White wins"),
    "1/2-1/2": ("draws", "drawn"),
    "0-1": ("black-wins", "Black wins"),
}
"""Results to their class in the style sheet and their name."""


def report_html(standings: Standings, state: str, *, complete: bool) -> str:
    """Return the whole page as text.

    state: how far the tournament has come, in a sentence; it is marked unless *complete*.
    """
    event, games = standings.event, standings.seated()
    times = {str(event.control_of(player)) for player in range(len(event.entrants))}
    started = sorted(game.record.started[:10] for game in games if game.record.started)
    facts = [
        f"{len(event.entrants)} players",
        f"{len(games)} of {len(event.tasks)} games",
        times.pop() if len(times) == 1 else "each player has its own time",
    ]
    if started:
        facts.append(" to ".join(dict.fromkeys((started[0], started[-1]))))
    page: str = _template().render(
        standings=standings,
        games=games,
        style=page_style(),
        facts=facts,
        state=state,
        complete=complete,
        version=__version__,
        coverage=_coverage_rows(standings) if games else [],
    )
    return page.lstrip()


@cache
def page_environment(folder: str = "matches") -> jinja2.Environment:
    """Return what renders pages with tables and drawings, from templates of a folder of the package.

    A template imports `drawing` and `table` from `drawing.html.jinja`, and has the style sheet of
    `page_style`.
    """
    folders = dict.fromkeys((folder, "matches"))
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader("obscuro", each) for each in folders]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(points=points_text, number=number, place=place_text)
    environment.globals.update(WIDTH=WIDTH, percent=percent_text)
    return environment


def page_style() -> str:
    """Return the style sheet of these pages."""
    return resources.files("obscuro.matches").joinpath("report.css").read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = page_environment()
    environment.filters.update(estimate=estimate_text, elo=elo_text)
    environment.globals.update(
        QUANTITIES=QUANTITIES,
        STATED=_STATED,
        RESULTS=[kind for kind, _ in RESULT_NAMES.values()],
        rating_rows=_rating_rows,
        notes=notes,
        setting=_setting,
        step_rows=_step_rows,
        rating_plot=lambda standings: rating_plot(
            [
                Bar(standings.entrants[one.player].name, one.elo, one.error)
                for one in standings.ratings.ratings
            ]
        ),
        scaling_plot=lambda standings: scaling_plot(
            [_curve(standings, family) for family in standings.families]
        ),
        length_plot=lambda games: length_plot(
            [(len(game.record.plies), game.record.result) for game in games]
        ),
    )
    return environment.get_template("report.html.jinja")


# -- texts --------------------------------------------------------------------------------------


def points_text(points: float) -> str:
    """Write points as people do: `12½`."""
    whole = int(points)
    half = "½" if points - whole else ""
    return f"{whole or ''}{half}" or "0"


def percent_text(part: float, whole: float) -> str:
    """Write a share as `12.5%`; `-` for a share of nothing."""
    return f"{part / whole:.1%}" if whole else "-"


def error_text(error: float) -> str:
    """Write half an interval; an error of 0 is that of the anchor."""
    if not math.isfinite(error):
        return "unknown"
    return f"± {error:.0f}" if error else "anchor"


def estimate_text(estimate: Estimate) -> str:
    """Write a value with its error in whole points."""
    return f"{estimate.value:+.0f} ± {estimate.error:.0f}"


def elo_text(elo: Elo) -> str:
    """Write a difference in few letters: `+35 ± 20`, `+191, > -68`, `> +190`."""
    if math.isfinite(elo.low) and math.isfinite(elo.high):
        return f"{elo.difference:+.0f} ± {(elo.high - elo.low) / 2:.0f}"
    parts = [f"{elo.difference:+.0f}"] if math.isfinite(elo.difference) else []
    parts += [f"> {elo.low:+.0f}"] if math.isfinite(elo.low) else []
    parts += [f"< {elo.high:+.0f}"] if math.isfinite(elo.high) else []
    return ", ".join(parts)


def place_text(value: float) -> str:
    """Write a length with at most two decimals."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # + 0.0: no minus zero


def _rating_rows(standings: Standings) -> list[list[str]]:
    found, rows = standings.ratings, []
    for rank, rating in enumerate(found.ratings):
        following = found.ratings[rank + 1 : rank + 2]
        superior = found.superiority(rating.player, following[0].player) if following else math.nan
        tally = standings.tally(rating.player)
        rows.append(
            [
                str(rank + 1),
                standings.entrants[rating.player].name,
                f"{rating.elo:+.0f}" + ("*" if rating.loose else ""),
                error_text(rating.error),
                f"{points_text(tally.points)} / {tally.games}",
                percent_text(tally.points, tally.games),
                percent_text(tally.draws, tally.games),
                "" if math.isnan(superior) else f"{superior:.1%}",
            ]
        )
    return rows


def notes(standings: Standings) -> list[str]:
    """Return the sentences that a reader of the ratings needs."""
    found = standings.ratings
    anchor = standings.anchor
    zero = (
        f"The mean of the ratings is {anchor.elo:g}."
        if anchor.player is None
        else f"{standings.entrants[anchor.player].name} has the rating {anchor.elo:g}; "
        "errors are those of the difference from it."
    )
    texts = [
        "One model rates all players by all games: Bradley and Terry's, with an advantage for "
        "White, where a draw is half a point. The bars are 95 % intervals, in which a pair of games "
        "(same opening, colours swapped) is one sample. " + zero,
        f"White's advantage: {found.white_advantage} Elo. Between equal players the model expects "
        f"{found.draw_rate:.0%} draws.",
        "“Better than next” is the likelihood that a player is stronger than the one below it.",
    ]
    if any(rating.loose for rating in found.ratings):
        texts.append(
            "* took no point from the main field, or gave it none. Only a weak prior keeps the "
            "distance finite, so read it as a bound."
        )
    if found.groups > 1:
        texts.append(
            f"The players form {found.groups} groups that never met. Ratings of different groups "
            "can't be compared."
        )
    return texts


def _step_rows(standings: Standings, family: TimeFamily) -> list[list[str]]:
    """Return what each doubling of the time is worth between two members next to each other."""
    texts = [time_text(seconds) for seconds in family.seconds]
    steps = family.steps(standings.ratings)
    return [
        [shorter, longer, estimate_text(step)]
        for shorter, longer, step in zip(texts, texts[1:], steps, strict=False)
    ]


def _setting(standings: Standings, player: int) -> str:
    """Describe what a player is, its time and its options."""
    entrant = standings.entrants[player]
    parts = [entrant.player, str(standings.event.control_of(player))]
    parts += [f"{name}={value}" for name, value in entrant.options.items()]
    if standings.told(player) != OWN_OBSERVATIONS:
        parts.append(f"was told {standings.told(player)}")
    return ", ".join(parts)


def _coverage_rows(standings: Standings) -> list[list[str]]:
    """Return where the true position was in the players' searches; empty if no player told it."""
    found = coverage_tables(game.record for game in standings.seated())

    def share_text(share: float | None) -> str:
        return "-" if share is None else f"{share:.1%}"

    return [
        [
            standings.entrants[player].name,
            row.size,
            number(row.turns),
            *(share_text(share) for share in (row.in_belief, row.in_infoset, row.expanded)),
            "-" if row.weight is None else f"{row.weight:.4f}",
        ]
        for player in standings.order
        for row in found.get(standings.entrants[player].name, [])
    ]


# -- drawings -----------------------------------------------------------------------------------

WIDTH = 440.0
_ROW = 40.0
_MARGIN = 22.0
_LEFT = 46.0  # room for the numbers of a vertical axis
_BOTTOM = 40.0
_HEIGHT = 280.0
_MOST_TICKS = 6
_LONGEST_NAME = 40
_LEAST_GAP = 44.0  # between two labels of a horizontal axis


class Line(NamedTuple):
    """A line with its classes in the style sheet."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


class Dot(NamedTuple):
    """A dot with its classes in the style sheet."""

    x: float
    y: float
    kind: str


class Label(NamedTuple):
    """Words beside, above or below a place. anchor: `start`, `middle` or `end`."""

    x: float
    y: float
    words: str
    anchor: str
    kind: str = "tick"


class Box(NamedTuple):
    """A filled rectangle with its class in the style sheet."""

    x: float
    y: float
    width: float
    height: float
    kind: str


Shape = Line | Dot | Label | Box


@dataclass
class Drawing:
    """A drawing, `WIDTH` wide. groups: shapes, and what a reader learns who points at them."""

    title: str
    height: float
    groups: list[tuple[str, list[Shape]]] = field(default_factory=list)

    def add(self, *shapes: Shape, title: str = "") -> None:
        """Draw shapes over what there is."""
        self.groups.append((title, list(shapes)))

    def add_levels(self, marks: Iterable[float], y_of: Callable[[float], float], form: str) -> None:
        """Draw a vertical axis with horizontal lines."""
        for mark in marks:
            y = y_of(mark)
            label = format(mark, form) if mark else "0"
            self.add(
                Line(_LEFT, y, WIDTH - _MARGIN, y, _grid(mark)),
                Label(_LEFT - 6, y + 4, label, "end"),
            )


class Bar(NamedTuple):
    """A value with an error: the name of what it belongs to, the value, half the interval."""

    name: str
    value: float
    error: float


class TimedPoint(NamedTuple):
    """A player's time for a move in seconds, its rating, and half the interval to draw."""

    seconds: float
    elo: float
    error: float
    name: str


class Curve(NamedTuple):
    """A family of players that differ only in time.

    points: by time, the shortest first. slope: Elo points for each doubling of the time; the line is
    drawn through (`middle`, `level`), the first in log2 of seconds.
    """

    name: str
    points: tuple[TimedPoint, ...]
    slope: float
    middle: float
    level: float


def ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Return round numbers, at most *most* or a few more, that span the range from *low* to *high*."""
    span = max(high - low, 1e-9)
    raw = span / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def rating_plot(bars: Sequence[Bar]) -> Drawing:
    """Draw ratings with error bars, a row for each player. Infinite errors fill the row."""
    finite = [bar for bar in bars if math.isfinite(bar.error)] or [Bar("", 0, 100)]
    marks = ticks(
        min(bar.value - bar.error for bar in finite), max(bar.value + bar.error for bar in finite)
    )
    scale = _scale((marks[0], marks[-1]), (_MARGIN, WIDTH - _MARGIN))
    drawing = Drawing("Ratings with 95 % intervals", _ROW * len(bars) + _BOTTOM)
    for mark in marks:
        x, label = scale(mark), f"{mark:+.0f}" if mark else "0"
        drawing.add(
            Line(x, 4, x, drawing.height - 32, _grid(mark)),
            Label(x, drawing.height - 16, label, "middle"),
        )
    for row, bar in enumerate(bars):
        top, y = row * _ROW, row * _ROW + 28
        value = error_text(bar.error) if math.isinf(bar.error) else f"{bar.value:+.0f}"
        if bar.error and math.isfinite(bar.error):
            value += f" {error_text(bar.error)}"
        reach = bar.error if math.isfinite(bar.error) else marks[-1] - marks[0]
        left = scale(max(marks[0], bar.value - reach))
        right = scale(min(marks[-1], bar.value + reach))
        drawing.add(
            Label(_MARGIN, top + 15, _short(bar.name), "start", "name"),
            Label(WIDTH - _MARGIN, top + 15, value, "end", "value"),
        )
        drawing.add(
            Line(left, y, right, y, "error c0"),
            Line(left, y - 4, left, y + 4, "error c0"),
            Line(right, y - 4, right, y + 4, "error c0"),
            Dot(scale(bar.value), y, "dot c0"),
            title=f"{bar.name}: {value}",
        )
    return drawing


def scaling_plot(curves: Sequence[Curve]) -> Drawing:
    """Draw ratings against the time for a move, on a logarithmic axis, with error bars."""
    points = [point for curve in curves for point in curve.points]
    times = [math.log2(point.seconds) for point in points]
    marks = ticks(
        min(point.elo - point.error for point in points),
        max(point.elo + point.error for point in points),
    )
    top = 12.0 + 18 * (len(curves) if len(curves) > 1 else 0)
    bottom = _HEIGHT - _BOTTOM
    pad = 0.04 * (max(times) - min(times)) or 0.5
    x_of = _scale((min(times) - pad, max(times) + pad), (_LEFT, WIDTH - _MARGIN))
    y_of = _scale((marks[0], marks[-1]), (bottom, top))
    drawing = Drawing("Rating against time for a move", _HEIGHT)
    drawing.add_levels(marks, y_of, "+.0f")
    for seconds in _shown_times({point.seconds for point in points}, x_of):
        x = x_of(math.log2(seconds))
        drawing.add(
            Line(x, top, x, bottom, "grid"), Label(x, bottom + 16, time_text(seconds), "middle")
        )
    drawing.add(Label((_LEFT + WIDTH) / 2, _HEIGHT - 6, "time for a move", "middle"))
    for number_, curve in enumerate(curves):
        color = f"c{number_ % 4}"
        if len(curves) > 1:
            y = 14.0 + 18 * number_
            drawing.add(
                Dot(_LEFT + 8, y - 4, f"dot {color}"),
                Label(_LEFT + 18, y, _short(curve.name), "start", "name"),
            )
        _draw_curve(drawing, curve, color, x_of, y_of)
    return drawing


def _draw_curve(
    drawing: Drawing,
    curve: Curve,
    color: str,
    x_of: Callable[[float], float],
    y_of: Callable[[float], float],
) -> None:
    """Draw the fitted line of a family, and its points with their error bars."""
    times = [math.log2(point.seconds) for point in curve.points]
    begin, end = (
        (x_of(time), y_of(curve.level + curve.slope * (time - curve.middle)))
        for time in (times[0], times[-1])
    )
    drawing.add(Line(*begin, *end, f"fit {color}"))
    for time, point in zip(times, curve.points, strict=True):
        x, high, low = x_of(time), y_of(point.elo + point.error), y_of(point.elo - point.error)
        drawing.add(
            Line(x, high, x, low, f"error {color}"),
            Line(x - 4, high, x + 4, high, f"error {color}"),
            Line(x - 4, low, x + 4, low, f"error {color}"),
            Dot(x, y_of(point.elo), f"dot {color}"),
            title=f"{point.name}: {point.elo:+.0f} ± {point.error:.0f}",
        )


def length_plot(lengths: Sequence[tuple[int, str]]) -> Drawing:
    """Draw how long games were: bars of numbers of games by plies, parted by result.

    lengths: the plies and the result, `1-0`, `1/2-1/2` or `0-1`, of each game.
    """
    return stacked_plot("Lengths of games", "plies", lengths, RESULT_NAMES)


def stacked_plot(
    title: str,
    unit: str,
    values: Sequence[tuple[int, str]],
    kinds: Mapping[str, tuple[str, str]],
    least_width: int = 2,
) -> Drawing:
    """Draw how often values occur: stacked bars of numbers by value, parted by kind.

    unit: of the values, which are at least 0. values: with their kinds. kinds: each kind's class in
    the style sheet, and its name. least_width: of a bar, in values.
    """
    longest = max((value for value, _ in values), default=1)
    width = max(least_width, math.ceil(ticks(0, max(longest, 1), 16)[1]))
    counts = [dict.fromkeys(kinds, 0) for _ in range(longest // width + 1)]
    for value, kind in values:
        counts[value // width][kind] += 1
    most = max(1, *(sum(one.values()) for one in counts))
    marks = [mark for mark in ticks(0, most) if mark % 1 == 0]
    top, bottom = 30.0, _HEIGHT - _BOTTOM
    x_of = _scale((0, len(counts) * width), (_LEFT, WIDTH - _MARGIN))
    y_of = _scale((0, marks[-1]), (bottom, top))
    drawing = Drawing(title, _HEIGHT)
    drawing.add_levels(marks, y_of, ".0f")
    for index, one in enumerate(counts):
        base, left = 0, x_of(index * width) + 0.75
        breadth = max(0.5, x_of((index + 1) * width) - 0.75 - left)
        for kind, (style, name) in kinds.items():
            if one[kind]:
                low, high = y_of(base), y_of(base + one[kind])
                drawing.add(
                    Box(left, high, breadth, low - high, style),
                    title=f"{index * width} to {(index + 1) * width - 1} {unit}: {name} {one[kind]}",
                )
            base += one[kind]
    for mark in ticks(0, len(counts) * width, 7):
        if mark <= len(counts) * width:
            drawing.add(Label(x_of(mark), bottom + 16, f"{mark:.0f}", "middle"))
    drawing.add(Label((_LEFT + WIDTH) / 2, _HEIGHT - 6, unit, "middle"))
    for index, (style, name) in enumerate(kinds.values()):
        x = _LEFT + 130 * index
        drawing.add(Box(x, 6, 11, 11, style), Label(x + 16, 16, name, "start"))
    return drawing


def _curve(standings: Standings, family: TimeFamily) -> Curve:
    points = []
    for player, seconds, error in zip(family.members, family.seconds, family.errors, strict=True):
        name, rating = standings.entrants[player].name, standings.ratings.of(player)
        points.append(TimedPoint(seconds, rating.elo, error, name))
    slope = family.per_doubling.value
    return Curve(family.name, tuple(points), slope, family.middle, family.level)


def _shown_times(times: Iterable[float], x_of: Callable[[float], float]) -> list[float]:
    """Return the times that get a label: from the longest down, as long as there is room."""
    shown: list[float] = []
    for seconds in sorted(times, reverse=True):
        if not shown or x_of(math.log2(shown[-1])) - x_of(math.log2(seconds)) >= _LEAST_GAP:
            shown.append(seconds)
    return shown


def _scale(values: tuple[float, float], places: tuple[float, float]) -> Callable[[float], float]:
    """Return the linear function that takes two values to two places."""
    factor = (places[1] - places[0]) / (values[1] - values[0])
    return lambda value: places[0] + (value - values[0]) * factor


def _grid(mark: float) -> str:
    return "grid" if mark else "grid zero"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
