"""Answers to `coverage`."""

from __future__ import annotations

import pytest

from obscuro.client.move_report import read_coverage
from obscuro.engine.report import Coverage
from obscuro.uci.printing import coverage_line


@pytest.mark.parametrize(
    "coverage",
    [Coverage(True, True, False, 0.25), Coverage(False, False, False, 0.0), Coverage(True)],
)
def test_what_the_engine_prints_is_read(coverage: Coverage) -> None:
    assert read_coverage(coverage_line(coverage)) == coverage


@pytest.mark.parametrize(
    ("line", "coverage"),
    [
        ("info string coverage belief false", Coverage(False)),
        ("info string coverage belief true weight x", Coverage(True)),
        ("info string coverage belief true later 7 infoset true", Coverage(True, True)),
        ("info string coverage belief maybe", None),
        ("info string coverage", None),
        ("info string belief 7 exact true", None),
        ("", None),
    ],
)
def test_what_other_engines_print_is_read_as_far_as_it_can_be(
    line: str, coverage: Coverage | None
) -> None:
    assert read_coverage(line) == coverage
