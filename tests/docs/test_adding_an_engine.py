"""The engine of docs/adding_an_engine.md plays matches exactly as it stands on the page."""

from __future__ import annotations

import sys

import chess
import pytest

from obscuro.matches.builtin_players import check_entrant, make_contestant
from obscuro.matches.event import Entrant
from obscuro.matches.game_record import OWN_OBSERVATIONS, GameRecord
from obscuro.matches.referee import play_game
from obscuro.rules.board import FogOfWarBoard
from tests.docs.pages import page
from tests.uci.games import FENS


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Entrant:
    """The engine of the page, as its own file."""
    (block,) = [
        block for block in page("docs/adding_an_engine.md").blocks if block.language == "python"
    ]
    path = tmp_path_factory.mktemp("engine") / "my_engine.py"
    path.write_text(block.text, encoding="utf-8")
    return Entrant("example", f"{sys.executable} {path}")


def matched(example: Entrant, other: Entrant, starts: list[str], plies: int) -> list[GameRecord]:
    """Play two games from each start, with colours swapped."""
    warnings: list[str] = []
    players = [make_contestant(each, warnings.append, True) for each in (example, other)]
    try:
        records = [
            play_game(*pair, control=20, seed=seed, max_plies=plies, board=FogOfWarBoard(start))
            for seed, start in enumerate(starts)
            for pair in (players, players[::-1])
        ]
    finally:
        for player in players:
            player.close()
    assert warnings == []
    return records


def test_it_plays_whole_games_by_the_rules_and_wins(example: Entrant) -> None:
    check_entrant(example)
    records = matched(example, Entrant("random", "random"), FENS, 150)
    for record in records:
        assert record.told == dict.fromkeys(chess.COLORS, OWN_OBSERVATIONS)
        assert "forfeits" not in record.ending and "illegal" not in record.ending, record.ending
    points = sum(record.score(record.white == "example") for record in records)
    assert points >= 0.6 * len(records)
    assert sum(len(record.plies) for record in records) > 100


def test_it_meets_the_engine_which_tells_its_coverage(example: Entrant) -> None:
    options = {"Evaluator": "material", "Threads": "1", "Hash": "16", "Seed": "1"}
    records = matched(example, Entrant("engine", "obscuro", options), [chess.STARTING_FEN], 6)
    for record in records:
        engine = record.white == "engine"
        turns = record.turns(engine)
        assert len(turns) == 3
        assert record.told == dict.fromkeys(chess.COLORS, OWN_OBSERVATIONS)
        assert all(turn.coverage is not None and turn.coverage.in_belief for turn in turns)
        assert all(turn.belief_checks == 1 for turn in turns)
        assert all(turn.coverage is None for turn in record.turns(not engine))
