import argparse
import io
import json

import pytest
from rich.console import Console

from obscuro.cli.bench import signature
from obscuro.cli.bench.signature import GAMES, Part, play, total

SHORT = GAMES[3]._replace(plies=3, nodes=800)


def hashed(game: signature.FixedGame) -> list[str]:
    return [text for _, text in play(game, "material")]


def test_a_game_repeats_itself() -> None:
    first = hashed(SHORT)
    assert len(first) == 3
    assert hashed(SHORT) == first


def test_what_is_hashed_shows_another_strategy_tree_or_belief() -> None:
    first = hashed(SHORT)
    assert hashed(SHORT._replace(nodes=4000)) != first
    assert hashed(SHORT._replace(options=(("Search", "unfrozen=false,one_sided=false"),))) != first
    assert hashed(SHORT._replace(moves="b7b8q")) != first


def test_the_total_says_what_it_is_without() -> None:
    whole = total([Part("a", "12", 1, 1.0), Part("b", "34", 1, 1.0)])
    assert "without" not in whole
    assert total([Part("a", "12", 1, 1.0), Part("b", "35", 1, 1.0)]) != whole
    assert total([Part("a", "12", 1, 1.0), Part("b", None, 0, 0.0)]).endswith("(without b)")


def test_it_prints_the_signature_and_a_speed_for_each_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signature, "GAMES", (SHORT,))
    monkeypatch.setattr(signature, "EVALUATORS", ("material",))
    shown: list[str] = []
    for as_json in (False, True):
        output = io.StringIO()
        arguments = argparse.Namespace(json=as_json)
        assert signature.run(arguments, console=Console(file=output, width=200)) == 0
        shown.append(output.getvalue())
    table, numbers = shown[0], json.loads(shown[1])
    assert f"signature  {numbers['signature']}\n" in table
    assert "candidates/s" in table
    assert numbers["beliefs"]["per_second"] > 0
    assert numbers["material"]["signature"] in table
