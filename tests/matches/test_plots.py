"""Plots: what is drawn lies where the numbers say, and inside the drawing."""

import math
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obscuro.matches.report_page import (
    WIDTH,
    Bar,
    Curve,
    Element,
    TimedPoint,
    length_plot,
    rating_plot,
    scaling_plot,
    ticks,
)


def places(drawing: Element) -> Iterator[tuple[float, float]]:
    for part in drawing.iter():
        for x, y in (("x", "y"), ("x1", "y1"), ("x2", "y2"), ("cx", "cy")):
            if x in part.attrib:
                yield float(part.attrib[x]), float(part.attrib[y])


def all_inside(drawing: Element) -> bool:
    _, _, width, height = (float(word) for word in drawing.attrib["viewBox"].split())
    return width == WIDTH and all(0 <= x <= width and 0 <= y <= height for x, y in places(drawing))


def dots(drawing: Element) -> list[tuple[float, float]]:
    circles = [part for part in drawing.iter("circle") if part.attrib["r"] == "4.5"]
    return [(float(one.attrib["cx"]), float(one.attrib["cy"])) for one in circles]


@given(st.floats(-1e5, 1e5), st.floats(1e-3, 1e5), st.integers(2, 12))
def test_ticks_are_few_even_and_span_the_range(low: float, span: float, most: int) -> None:
    found = ticks(low, low + span, most)
    assert found[0] <= low + 1e-6 * span and found[-1] >= low + span * (1 - 1e-6)
    assert 2 <= len(found) <= most + 2
    steps = [after - before for before, after in pairwise(found)]
    assert max(steps) == pytest.approx(min(steps))
    digits = steps[0] / 10 ** math.floor(math.log10(steps[0]) + 1e-9)
    assert min(abs(digits - one) for one in (1, 2, 5, 10)) < 1e-6


def test_ratings_are_drawn_to_scale() -> None:
    drawing = rating_plot([Bar("a", 100, 20), Bar("b", 0, 20), Bar("c", -50, 20)])
    xs = [x for x, _ in dots(drawing)]
    assert (xs[0] - xs[1]) / (xs[1] - xs[2]) == pytest.approx(2, abs=0.01)
    assert all_inside(drawing)


@pytest.mark.parametrize("error", [0.0, math.inf])
def test_a_lone_player_can_be_drawn(error: float) -> None:
    drawing = rating_plot([Bar("only", 0, error)])
    assert all_inside(drawing)
    assert len(dots(drawing)) == 1
    assert ("unknown" in "".join(drawing.itertext())) == (error == math.inf)


def test_a_long_name_is_cut_but_stands_in_the_title() -> None:
    name = "x" * 200
    texts = [part.text or "" for part in rating_plot([Bar(name, 0, 1)]).iter("text")]
    assert max(len(one) for one in texts) < 50
    assert any(name in (part.text or "") for part in rating_plot([Bar(name, 0, 1)]).iter("title"))


def family(name: str, times: list[float], shift: float = 0.0) -> Curve:
    points = tuple(
        TimedPoint(time, 50 * math.log2(time) + shift, 25, f"{name} {time}") for time in times
    )
    middle = sum(math.log2(time) for time in times) / len(times)
    return Curve(name, points, 50.0, middle, 50 * middle + shift)


def test_doublings_of_time_have_equal_distances() -> None:
    drawing = scaling_plot([family("engine", [0.0625, 0.125, 0.25, 1, 4])])
    xs, ys = zip(*dots(drawing), strict=True)
    step = xs[1] - xs[0]
    assert xs[2] - xs[1] == pytest.approx(step, abs=0.02)
    assert xs[4] - xs[3] == pytest.approx(2 * step, abs=0.02)
    assert list(ys) == sorted(ys, reverse=True)  # up is better
    assert all_inside(drawing)
    words = [part.text for part in drawing.iter("text")]
    assert [one for one in words if one and one.endswith("s")] == [
        "4 s", "1 s", "250 ms", "125 ms", "62.5 ms",
    ]  # fmt: skip


def test_times_too_close_for_labels_have_none() -> None:
    drawing = scaling_plot([family("engine", [0.1, 0.11, 4.0])])
    words = [part.text or "" for part in drawing.iter("text")]
    assert "110 ms" in words and "100 ms" not in words


def test_the_fitted_line_passes_through_points_on_a_line() -> None:
    drawing = scaling_plot([family("engine", [0.5, 1, 2])])
    line = next(part for part in drawing.iter("line") if "fit" in part.attrib["class"])
    first, *_, last = dots(drawing)
    ends = [(float(line.attrib[f"x{n}"]), float(line.attrib[f"y{n}"])) for n in (1, 2)]
    assert ends[0] == pytest.approx(first) and ends[1] == pytest.approx(last)


def test_several_families_have_a_legend() -> None:
    one = scaling_plot([family("one", [1, 2, 4])])
    two = scaling_plot([family("one", [1, 2, 4]), family("other", [1, 2, 4], 30)])
    assert "other" in "".join(two.itertext())
    assert len(dots(one)) == 3 and len(dots(two)) == 6 + 2
    assert all_inside(two)


def test_every_game_has_its_share_of_the_bars() -> None:
    lengths = [(10, "1-0")] * 3 + [(10, "1/2-1/2")] + [(95, "0-1")] * 2
    drawing = length_plot(lengths)
    bars = [part for part in drawing.iter("rect") if len(part)]
    heights = {
        (part.attrib["class"], part.find("title").text): float(part.attrib["height"])  # type: ignore[union-attr]
        for part in bars
    }
    assert sum(heights.values()) == pytest.approx(6 * min(heights.values()), abs=0.1)
    assert [kind for kind, _ in heights] == ["white-wins", "draws", "black-wins"]
    assert all_inside(drawing)


def test_games_without_moves_can_be_drawn() -> None:
    assert all_inside(length_plot([(0, "1-0")]))
