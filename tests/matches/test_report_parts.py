"""Tables and numbers as people write them."""

import math

import pytest

from obscuro.matches.elo import Elo
from obscuro.matches.report_page import elo_text, error_text, percent_text, points_text, table


def test_points_are_written_with_halves() -> None:
    assert [points_text(one) for one in (0, 0.5, 1, 12.5)] == ["0", "½", "1", "12½"]


@pytest.mark.parametrize(
    ("elo", "text"),
    [
        (Elo(35.2, 15, 56), "+35 ± 20"),
        (Elo(191.0, -68, math.inf), "+191, > -68"),
        (Elo(-191.0, -math.inf, 68), "-191, < +68"),
        (Elo(math.inf, 190, math.inf), "> +190"),
        (Elo(0.0, -math.inf, math.inf), "+0"),
        (Elo(math.nan, -math.inf, math.inf), ""),
    ],
)
def test_a_difference_shows_what_is_finite(elo: Elo, text: str) -> None:
    assert elo_text(elo) == text


def test_shares_and_errors() -> None:
    assert (percent_text(1, 8), percent_text(0, 0)) == ("12.5%", "-")
    assert [error_text(one) for one in (0.0, 12.6, math.inf)] == ["anchor", "± 13", "unknown"]


def test_a_table_has_a_cell_for_each_heading() -> None:
    made = table(["name", "points"], [["a", "1"], ["b", "2"]], ["name"])
    assert [cell.text for cell in made.iter("td")] == ["a", "1", "b", "2"]
    assert [cell.attrib["class"] for cell in made.iter("td")] == ["name", "", "name", ""]
    with pytest.raises(ValueError, match="zip"):
        table(["name", "points"], [["a"]])
