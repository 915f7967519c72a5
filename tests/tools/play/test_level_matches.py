"""Matches between levels: the commands, what is read from the games, and the scale of ratings."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from obscuro.cli.arguments import build_parser
from obscuro.engine.strength import LEVELS
from tools.play import level_figures, level_matches
from tools.play.level_figures import Figures
from tools.play.level_matches import FULL, PAIRINGS, Pairing
from tools.results import raw
from tools.results.manifest import load


def even(first: str, second: str, won: int, lost: int) -> dict[str, object]:
    """A match in which White does not matter: pairs of two wins, and pairs of two losses."""
    return {"first": first, "second": second, "scores": [1.0] * 2 * won + [0.0] * 2 * lost}


FIGURES: Figures = {
    "levels": [
        {"number": 1, "name": "low", "nodes": 5, "roots": 2, "positions": 9, "temperature": 70},
        {"number": 2, "name": "high", "nodes": 8, "roots": 4, "positions": 99, "temperature": 0},
    ],
    "matches": [even("level 2", "greedy", 10, 10), even("level 1", "level 2", 5, 15)],
}


def test_each_match_is_a_command_of_the_program(tmp_path: Path) -> None:
    assert len({pairing.stem for pairing in PAIRINGS}) == len(PAIRINGS)
    seeds = set()
    for pairing in PAIRINGS:
        _, *words = level_matches.match_command(pairing, tmp_path)
        told = build_parser().parse_args(words)
        assert told.games % 2 == 0 and told.log.startswith(str(tmp_path))
        seeds.add(told.seed)
        full = pairing.second == FULL
        assert told.movetime_b == (200 if full else level_matches.MOST_MILLISECONDS)
        assert any("UCI_Elo" in option for option in told.option_a + told.option_b)
    assert len(seeds) == len(PAIRINGS)


def test_every_level_meets_its_neighbours() -> None:
    met = {frozenset((pairing.first, pairing.second)) for pairing in PAIRINGS}
    for one, other in itertools.pairwise(LEVELS):
        assert {f"level {one.number}", f"level {other.number}"} in met


def test_the_first_players_points_are_read_from_the_rounds(tmp_path: Path) -> None:
    pair = Pairing("level 1", "greedy", 4)
    rounds = ((2, "1-0"), (1, "1-0"), (4, "1/2-1/2"), (3, "0-1"))
    games = (
        f'[Round "{number}"]\n[Result "{result}"]\n\n{result}\n\n' for number, result in rounds
    )
    (tmp_path / f"{pair.stem}.pgn").write_text("".join(games))
    figures = level_matches.figures_of([pair], tmp_path)
    assert figures["matches"] == [
        {"first": "level 1", "second": "greedy", "scores": [1, 0, 0, 0.5]}
    ]
    assert [level["nodes"] for level in figures["levels"]] == [
        level.strength.nodes for level in LEVELS
    ]


def test_games_are_kept_with_names_and_without_comments(tmp_path: Path) -> None:
    pair = Pairing("level 1", "greedy", 2)
    games = (
        f'[White "{white}"]\n[Round "{number}"]\n[Variant "Fog of War"]\n[Result "1-0"]\n\n'
        "1. e4 { [%eval 0.33] } 1... f5 2. Qh5 a6 3. Qxe8 1-0\n\n"
        for number, white in ((1, "obscuro"), (2, "greedy"))
    )
    (tmp_path / f"{pair.stem}.pgn").write_text("".join(games))
    first, second = level_matches.games_of(pair, tmp_path)
    assert '[White "level 1"]' in first and '[Black "greedy"]' in first
    assert '[White "greedy"]' in second and '[Black "level 1"]' in second
    assert "1. e4 f5 2. Qh5 a6 3. Qxe8# 1-0" in first and "{" not in first


def test_the_scale_stands_on_its_anchor_and_gives_each_match_its_score() -> None:
    ratings = level_figures.ratings_of(FIGURES["matches"])
    assert ratings.elo("greedy").value == pytest.approx(1000)
    assert ratings.elo("greedy").error == 0
    assert ratings.difference("level 2", "greedy").value == pytest.approx(0, abs=1)
    assert ratings.difference("level 2", "level 1").value == pytest.approx(190.8, abs=5)
    assert level_figures.measured_elo(FIGURES) == {1: 810, 2: 1000}


def test_the_tables_say_who_is_how_strong() -> None:
    text = "\n".join(level_figures.render(FIGURES))
    assert "| 1 | low | 8" in text and "| 5 | 2 | 9 | 70 |" in text
    assert "| 2 | high | 1000 |" in text and "| none |" in text
    assert "| greedy | 1000 | fixed | 20 of 40 |" in text
    assert "| level 1 against level 2 | 40 | 10 / 0 / 30 | 25.0 % |" in text


def test_the_levels_have_the_elo_and_the_limits_that_were_measured() -> None:
    manifest = load()
    figures = raw.load(manifest.raw_file(manifest.pages["levels"].runs["matches"])).data
    assert {level.number: level.elo for level in LEVELS} == level_figures.measured_elo(figures)
    assert figures["levels"] == level_matches.limits()
