"""What a centipawn is worth, by the version that Stockfish gives itself."""

import pytest

from obscuro.evaluation.stockfish_units import parse_version, pawns_per_centipawn


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("Stockfish 13", (13, 0)),
        ("Stockfish 14.1", (14, 1)),
        ("Stockfish 15.1", (15, 1)),
        ("Stockfish 16", (16, 0)),
        ("Stockfish 11 64 POPCNT", (11, 0)),
        ("Stockfish 17.1", (17, 1)),
        ("Stockfish dev-20240917-d6043970", None),
        ("Stockfish 181221", None),
        ("Stockfish 20220918", None),
        ("Fruit 2.1", None),
        ("", None),
    ],
)
def test_version_is_read_from_the_name(name: str, version: tuple[int, int] | None) -> None:
    assert parse_version(name) == version


@pytest.mark.parametrize("name", ["Stockfish 13", "Stockfish 14", "Stockfish 14.1", "Stockfish 15"])
def test_until_15_a_centipawn_is_the_hundredth_of_a_pawn(name: str) -> None:
    assert pawns_per_centipawn(name) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("name", "reported"),  # what 1,248 internal units are reported as
    [("Stockfish 15.1", 346), ("Stockfish 16", 380), ("Stockfish 16.1", 351)],
)
def test_six_pawns_as_each_version_reports_them(name: str, reported: int) -> None:
    assert reported * pawns_per_centipawn(name) == pytest.approx(6.0, rel=0.005)


def test_an_unknown_version_counts_as_the_newest() -> None:
    newest = pawns_per_centipawn("Stockfish 17.1")
    assert pawns_per_centipawn("Stockfish dev-20250101-abcdef12") == newest
    assert pawns_per_centipawn("Stockfish 99") == newest
    assert 0.017 < newest < 0.019
