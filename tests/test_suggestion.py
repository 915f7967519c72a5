"""What a misspelt name may have meant."""

import pytest

from obscuro.suggestion import did_you_mean

NAMES = ("Max Positions", "Hash", "min_infoset_size", "--games", "obscuro")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("Max_Position", "Max Positions"),
        ("hahs", "Hash"),
        ("min infoset size", "min_infoset_size"),
        ("--gamse", "--games"),
        ("OBSCURO", "obscuro"),
    ],
)
def test_the_most_alike_is_meant(word: str, meant: str) -> None:
    assert did_you_mean(word, NAMES) == f"; did you mean {meant}?"


@pytest.mark.parametrize("word", ["", "xyz", "stockfish"])
def test_nothing_is_meant_by_what_is_like_none(word: str) -> None:
    assert did_you_mean(word, NAMES) == ""
