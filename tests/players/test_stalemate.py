"""What a side without a move gets, in the play of all players with a belief: both rules."""

from __future__ import annotations

import time
from threading import Event

import pytest

from obscuro.engine.options import Options
from obscuro.engine.player_kind import AnyPlayer
from obscuro.engine.report import Choice, GoLimits
from obscuro.players.roster import PLAYERS

ONLY_STALEMATE_SAVES = "8/8/8/8/8/p1p5/ppPpK3/kn6 w - -"
"""After Kd1 Black has no move. After any other move of White, Black queens or takes the king."""
QUEENS_WIN = "6QQ/8/8/8/8/p1p5/ppPpK3/kn6 w - -"
"""The same with two queens for White: Kd1 is not needed to win."""
BASE = {"Threads": 1, "Evaluator": "material", "Hash": 16, "Seed": 1, "Max Positions": 1000}


def player(name: str, stalemate: str) -> AnyPlayer:
    kind = PLAYERS[name]
    if kind.lack is not None:
        pytest.skip(kind.lack)
    options = Options(kind.options)
    for option, value in {**BASE, "Stalemate": stalemate}.items():
        if option in options:
            options.set(option, str(value))
    return kind.make(options, pytest.fail)


def choice(made: AnyPlayer, fen: str) -> Choice:
    made.new_game_from_fen(0, fen)
    return made.search(GoLimits(time.monotonic(), nodes=600), Event(), lambda info: None)


@pytest.mark.parametrize("name", ["obscuro", "depth1", "zs21"])
def test_a_stalemating_move_is_worth_what_the_rule_says(name: str) -> None:
    for stalemate, worth in (("loss", 1.0), ("draw", 0.0)):
        made = player(name, stalemate)
        chosen = choice(made, ONLY_STALEMATE_SAVES)
        made.close()
        assert chosen.move == "e2d1" and chosen.info is not None
        assert chosen.info.value == pytest.approx(worth, abs=1e-6)


@pytest.mark.parametrize("name", ["obscuro", "depth1", "zs21"])
def test_who_is_ahead_does_not_stalemate_where_that_is_a_draw(name: str) -> None:
    made = player(name, "loss")
    assert choice(made, QUEENS_WIN).move == "e2d1"
    options = Options(PLAYERS[name].options)
    for option, value in {**BASE, "Stalemate": "draw"}.items():
        if option in options:
            options.set(option, str(value))
    made.set_options(options)  # the same player, in its next game
    chosen = choice(made, QUEENS_WIN)
    made.close()
    assert chosen.move != "e2d1" and chosen.info is not None and chosen.info.value > 0.5
