"""The plots of a report as SVG. Colours and fonts come from the page's style sheet.

All lengths are in units of the drawing, which is `WIDTH` wide. That is about the width of a phone,
so that texts stay readable there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from obscuro.matches.markup import Element, element
from obscuro.matches.time_scaling import time_text

WIDTH = 440.0
_ROW = 40.0
_MARGIN = 22.0
_LEFT = 46.0  # room for the numbers of a vertical axis
_BOTTOM = 40.0
_HEIGHT = 280.0
_MOST_TICKS = 6
_LONGEST_NAME = 40
_LEAST_GAP = 44.0  # between two labels of a horizontal axis


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


@dataclass(frozen=True, slots=True)
class Curve:
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
    """Return round numbers, at most *most* or so, that span the range from *low* to *high*."""
    span = max(high - low, 1e-9)
    raw = span / max(1, most - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def rating_plot(bars: Sequence[Bar]) -> Element:
    """Draw ratings with error bars, a row for each player. Infinite errors fill the row."""
    finite = [bar for bar in bars if math.isfinite(bar.error)] or [Bar("", 0, 100)]
    marks = ticks(
        min(bar.value - bar.error for bar in finite), max(bar.value + bar.error for bar in finite)
    )
    scale = _scale((marks[0], marks[-1]), (_MARGIN, WIDTH - _MARGIN))
    height = _ROW * len(bars) + _BOTTOM
    drawing = _drawing(height, "Ratings with 95 % intervals")
    for mark in marks:
        x = scale(mark)
        drawing.append(element("line", x1=x, x2=x, y1=4, y2=height - 32, class_=_grid(mark)))
        drawing.append(_label(x, height - 16, f"{mark:+.0f}" if mark else "0", "middle"))
    for row, bar in enumerate(bars):
        top = row * _ROW
        middle = top + 28
        name, value = _short(bar.name), _value(bar)
        drawing.append(_label(_MARGIN, top + 15, name, "start", "name"))
        drawing.append(_label(WIDTH - _MARGIN, top + 15, value, "end", "value"))
        reach = bar.error if math.isfinite(bar.error) else marks[-1] - marks[0]
        left = scale(max(marks[0], bar.value - reach))
        right = scale(min(marks[-1], bar.value + reach))
        drawing.append(
            element(
                "g",
                element("title", f"{bar.name}: {value}"),
                element("line", x1=left, x2=right, y1=middle, y2=middle, class_="error c0"),
                *(
                    element("line", x1=x, x2=x, y1=middle - 4, y2=middle + 4, class_="error c0")
                    for x in (left, right)
                ),
                element("circle", cx=scale(bar.value), cy=middle, r=4.5, class_="dot c0"),
            )
        )
    return drawing


def scaling_plot(curves: Sequence[Curve]) -> Element:
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
    drawing = _drawing(_HEIGHT, "Rating against time for a move")
    for mark in marks:
        y = y_of(mark)
        drawing.append(
            element("line", x1=_LEFT, x2=WIDTH - _MARGIN, y1=y, y2=y, class_=_grid(mark))
        )
        drawing.append(_label(_LEFT - 6, y + 4, f"{mark:+.0f}" if mark else "0", "end"))
    for seconds in _shown_times({point.seconds for point in points}, x_of):
        x = x_of(math.log2(seconds))
        drawing.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        drawing.append(_label(x, bottom + 16, time_text(seconds), "middle"))
    drawing.append(_label((_LEFT + WIDTH) / 2, _HEIGHT - 6, "time for a move", "middle"))
    for number, curve in enumerate(curves):
        color = f"c{number % 4}"
        if len(curves) > 1:
            y = 14.0 + 18 * number
            drawing.append(element("circle", cx=_LEFT + 8, cy=y - 4, r=4.5, class_=f"dot {color}"))
            drawing.append(_label(_LEFT + 18, y, _short(curve.name), "start", "name"))
        for part in _curve(curve, color, x_of, y_of):
            drawing.append(part)
    return drawing


def _curve(
    curve: Curve, color: str, x_of: Callable[[float], float], y_of: Callable[[float], float]
) -> list[Element]:
    """Return the fitted line of a family, and its points with their error bars."""
    times = [math.log2(point.seconds) for point in curve.points]
    ends = [
        (time, curve.level + curve.slope * (time - curve.middle)) for time in (times[0], times[-1])
    ]
    parts = [
        element(
            "line",
            x1=x_of(ends[0][0]),
            y1=y_of(ends[0][1]),
            x2=x_of(ends[1][0]),
            y2=y_of(ends[1][1]),
            class_=f"fit {color}",
        )
    ]
    for time, point in zip(times, curve.points, strict=True):
        x, high, low = x_of(time), y_of(point.elo + point.error), y_of(point.elo - point.error)
        parts.append(
            element(
                "g",
                element("title", f"{point.name}: {point.elo:+.0f} ± {point.error:.0f}"),
                element("line", x1=x, x2=x, y1=high, y2=low, class_=f"error {color}"),
                *(
                    element("line", x1=x - 4, x2=x + 4, y1=y, y2=y, class_=f"error {color}")
                    for y in (high, low)
                ),
                element("circle", cx=x, cy=y_of(point.elo), r=4.5, class_=f"dot {color}"),
            )
        )
    return parts


def length_plot(lengths: Sequence[tuple[int, str]]) -> Element:
    """Draw how long games were: bars of numbers of games by plies, parted by result.

    lengths: the plies and the result, `1-0`, `1/2-1/2` or `0-1`, of each game.
    """
    longest = max((plies for plies, _ in lengths), default=1)
    width = max(2, math.ceil(ticks(0, max(longest, 1), 16)[1]))
    counts = [dict.fromkeys(RESULT_NAMES, 0) for _ in range(longest // width + 1)]
    for plies, result in lengths:
        counts[plies // width][result] += 1
    marks = [mark for mark in ticks(0, max(sum(one.values()) for one in counts)) if mark % 1 == 0]
    top, bottom = 30.0, _HEIGHT - _BOTTOM
    x_of = _scale((0, len(counts) * width), (_LEFT, WIDTH - _MARGIN))
    y_of = _scale((0, marks[-1]), (bottom, top))
    drawing = _drawing(_HEIGHT, "Lengths of games")
    for mark in marks:
        y = y_of(mark)
        drawing.append(
            element("line", x1=_LEFT, x2=WIDTH - _MARGIN, y1=y, y2=y, class_=_grid(mark))
        )
        drawing.append(_label(_LEFT - 6, y + 4, f"{mark:.0f}", "end"))
    for number, one in enumerate(counts):
        base = 0
        for result, (kind, name) in RESULT_NAMES.items():
            if one[result]:
                low, high = y_of(base), y_of(base + one[result])
                left, right = x_of(number * width) + 0.75, x_of((number + 1) * width) - 0.75
                what = f"{number * width} to {(number + 1) * width - 1} plies"
                drawing.append(
                    element(
                        "rect",
                        element("title", f"{what}: {name} {one[result]}"),
                        x=left,
                        y=high,
                        width=max(0.5, right - left),
                        height=low - high,
                        class_=kind,
                    )
                )
            base += one[result]
    for mark in ticks(0, len(counts) * width, 7):
        if mark <= len(counts) * width:
            drawing.append(_label(x_of(mark), bottom + 16, f"{mark:.0f}", "middle"))
    drawing.append(_label((_LEFT + WIDTH) / 2, _HEIGHT - 6, "plies", "middle"))
    for number, (kind, name) in enumerate(RESULT_NAMES.values()):
        x = _LEFT + 130 * number
        drawing.append(element("rect", x=x, y=6, width=11, height=11, class_=kind))
        drawing.append(_label(x + 16, 16, name, "start"))
    return drawing


RESULT_NAMES = {
    "1-0": ("white-wins", "White wins"),
    "1/2-1/2": ("draws", "drawn"),
    "0-1": ("black-wins", "Black wins"),
}
"""Results to their class in the style sheet and their name."""


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


def _drawing(height: float, title: str) -> Element:
    return element(
        "svg",
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        role="img",
        aria_label=title,
        xmlns="http://www.w3.org/2000/svg",
    )


def _label(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> Element:
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=kind)


def _grid(mark: float) -> str:
    return "grid" if mark else "grid zero"


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _value(bar: Bar) -> str:
    if not math.isfinite(bar.error):
        return "unknown"
    return f"{bar.value:+.0f} ± {bar.error:.0f}" if bar.error else f"{bar.value:+.0f}"
